"""A conversation as text: its turns, and the answer that is being written."""

import msgspec

from ..backends.events import Finished, RequestTaken, Token
from ..backends.text import Piece, TextStream


class Turn(msgspec.Struct):
    """One prompt and what came of it."""

    prompt: str
    answer: str | None = None
    """The answer without reasoning; None while there is none."""


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
        self._answer: list[str] = []
        self._reasoning: list[str] = []
        self.begun = False
        """Whether a token came."""
        self.apart = False
        """Whether anything other than the answer came: reasoning, or text in another channel."""

    @property
    def answer(self) -> str:
        """Without the reasoning."""
        return "".join(self._answer)

    @property
    def text(self) -> str:
        """The answer; the reasoning when there is nothing else."""
        return self.answer or "".join(self._reasoning)

    def feed(self, token: Token) -> list[Piece]:
        """Take the next token; return what became readable."""
        self.begun = True
        return self._readable(self._stream.feed(token))

    def finish(self, end: Finished | None) -> list[Piece]:
        """Return the rest; None: the end was no regular one."""
        return self._readable(self._stream.flush() if end is None else self._stream.finish(end))

    def _readable(self, pieces: list[Piece]) -> list[Piece]:
        shown = readable(pieces)
        for piece in shown:
            if piece.kind == "answer":
                self._answer.append(piece.text)
            else:
                self.apart = True
            if piece.kind == "reasoning":
                self._reasoning.append(piece.text)
        return shown


def readable(pieces: list[Piece]) -> list[Piece]:
    """Return the pieces without tags and headers."""
    return [piece for piece in pieces if piece.kind != "control"]
