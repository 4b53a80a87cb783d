"""A conversation as text: its turns, and the answer that is being written."""

import msgspec

from ..backends.events import Finished, RequestTaken, Token
from ..backends.text import TextStream


class Turn(msgspec.Struct):
    """One prompt and what came of it."""

    prompt: str
    answer: str | None = None
    """The answer without reasoning; None while there is none."""


class Piece(msgspec.Struct, frozen=True):
    """Text that became readable."""

    index: int
    """The token that it belongs to, from 1."""
    text: str
    thinking: bool


def turns_of(taken: RequestTaken) -> list[Turn]:
    """Return the conversation that a request holds; its last turn has no answer yet."""
    turns: list[Turn] = []
    for message in taken.messages:
        if message.role == "user":
            turns.append(Turn(message.content))
        elif message.role == "assistant" and turns:
            turns[-1].answer = message.content
    return turns or [Turn(taken.prompt)]


class AnswerText:
    """Joins the tokens of one answer into text, the reasoning apart."""

    def __init__(self) -> None:
        self._stream = TextStream()
        self._thinking = bytearray()
        self._answer: list[str] = []
        self._thoughts: list[str] = []

    @property
    def begun(self) -> bool:
        """Whether a token came."""
        return bool(self._thinking)

    @property
    def answer(self) -> str:
        """Without the reasoning."""
        return "".join(self._answer)

    @property
    def text(self) -> str:
        """The answer; the reasoning when there is nothing else."""
        return self.answer or "".join(self._thoughts)

    def feed(self, token: Token) -> list[Piece]:
        """Take the next token; return what became readable."""
        self._thinking.append(token.thinking)
        return self._pieces(self._stream.feed(token))

    def finish(self, end: Finished | None) -> list[Piece]:
        """Return the rest; None: the end was no regular one."""
        return self._pieces(self._stream.flush() if end is None else self._stream.finish(end))

    def _pieces(self, fragments: list[tuple[int, str]]) -> list[Piece]:
        pieces: list[Piece] = []
        for index, text in fragments:
            at = min(index, len(self._thinking)) - 1
            thinking = bool(self._thinking[at]) if at >= 0 else False
            (self._thoughts if thinking else self._answer).append(text)
            pieces.append(Piece(index, text, thinking))
        return pieces
