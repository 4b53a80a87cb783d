"""Text from outside: bytes joined to characters, and characters made safe to draw.

Model output, GGUF metadata, file names and native messages all pass through ``visible`` before they reach a terminal.
"""

import codecs
import re
from collections import deque
from collections.abc import Iterable
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from .events import Event, Finished, Token
from .reasoning_marks import TAGS
from .token_facts import Kind, Part

_REPLACEMENT = "\ufffd"
_TAGS = frozenset(tag.encode() for tags in TAGS for tag in tags[:2])


def _control_pictures() -> dict[int, str]:
    table = {code: chr(0x2400 + code) for code in range(0x20)}
    table[0x7F] = "\u2421"
    # C1 controls have no pictures of their own: terminals that decode them act on them, so all become one visible sign.
    table.update(dict.fromkeys(range(128, 160), _REPLACEMENT))
    # Bidirectional overrides and isolates reorder what stands around them; line and paragraph separators break lines.
    table.update(dict.fromkeys((*range(8234, 8239), *range(8294, 8298), 8232, 8233), _REPLACEMENT))
    # Lone surrogates cannot be encoded.
    table.update(dict.fromkeys(range(55296, 57344), _REPLACEMENT))
    return table


_MARKUP = re.compile(r"[\\`*\[\]<>|&~]|(?<![^\W_])_|_(?![^\W_])")
"""What would be markup in a line of Markdown; an underscore within a word is none."""

_PICTURES = _control_pictures()
_PICTURES_KEEPING_LINES = {code: sign for code, sign in _PICTURES.items() if code not in (0x09, 0x0A)}


def visible(text: str, *, keep_lines: bool = False) -> str:
    """Return ``text`` with every character that could command a terminal drawn as a visible sign.

    C0 controls and DEL become their Unicode control pictures, C1 controls, bidirectional overrides and lone surrogates
    U+FFFD. With ``keep_lines``, tab and newline stay.
    """
    return text.translate(_PICTURES_KEEPING_LINES if keep_lines else _PICTURES)


def well_formed(text: str) -> str:
    """Return ``text`` as valid Unicode: surrogate pairs joined, lone surrogates replaced by U+FFFD.

    Such text comes from terminals and file names whose bytes are not UTF-8; neither JSON nor a tokenizer takes it.
    """
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def markdown(text: str) -> str:
    """Return ``text`` as Markdown that shows it, in a cell of a table too; for text without line breaks."""
    return _MARKUP.sub(r"\\\g<0>", text)


class Piece(msgspec.Struct, frozen=True):
    """Text that one token completed."""

    index: int
    """The token's, from 1."""
    text: str
    kind: Kind = "answer"
    name: str = ""
    """The name of a channel."""


class TextStream:
    """Joins the pieces of one generation into text, and classifies it.

    A piece may hold half a character and may turn out to be the beginning of a tag or of a stop string, so text appears
    later than its token: each fragment is returned with the index of the token that completed it.
    """

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._pending: deque[tuple[int, bytes]] = deque()
        self._size = 0
        """Bytes that are not returned yet."""
        self._parts: deque[tuple[Kind, str, int]] = deque()
        """(kind, name, bytes) of the first of them."""
        self._known = 0
        """Bytes in these parts."""
        self._last = Piece(0, "")

    def feed(self, token: Token) -> list[Piece]:
        """Return what may be shown now, in order; no text is empty."""
        if token.parts is None and not token.held and not self._pending:
            return [] if token.control else self._at_once(token)
        if not token.control:
            self._pending.append((token.index, token.piece))
            self._size += len(token.piece)
        self._last = replace(self._last, index=token.index)
        if token.parts is not None:
            self._learn(token.parts)
        elif not token.control:
            self._know(_kind(token), "", self._size - self._known)
        return self._release(token.held)

    def _at_once(self, token: Token) -> list[Piece]:
        """The same for a token with nothing pending, as nearly all are."""
        text = self._decoder.decode(token.piece)
        self._last = Piece(token.index, text, _kind(token))
        return [self._last] if text else []

    def finish(self, finished: Finished) -> list[Piece]:
        """Return the rest; a character that never became complete is U+FFFD."""
        self._learn(finished.parts or ())
        return self.flush(finished.held)

    def flush(self, held: int = 0) -> list[Piece]:
        """End the stream without a ``Finished`` event, as after a failure: a possible tag then is text."""
        kind = "answer" if self._last.kind == "control" else self._last.kind
        self._know(kind, self._last.name, self._size - self._known)
        fragments = self._release(held)
        self._pending.clear()
        self._parts.clear()
        self._size = self._known = 0
        if rest := self._decoder.decode(b"", final=True):
            fragments.append(replace(self._last, text=rest))
        return fragments

    def _learn(self, parts: Iterable[Part]) -> None:
        for part in parts:
            self._know(part.kind, part.name, part.size)

    def _know(self, kind: Kind, name: str, size: int) -> None:
        size = min(size, self._size - self._known)
        if size > 0:
            self._parts.append((kind, name, size))
            self._known += size

    def _release(self, held: int) -> list[Piece]:
        fragments: list[Piece] = []
        available = min(self._size - held, self._known)
        while self._pending and available > 0:
            index, piece = self._pending[0]
            kind, name, size = self._parts[0] if self._parts else ("answer", "", 0)
            taken = min(len(piece), size, available)
            if taken < len(piece):
                self._pending[0] = (index, piece[taken:])
                piece = piece[:taken]
            else:
                self._pending.popleft()
            if piece:
                if taken < size:
                    self._parts[0] = (kind, name, size - taken)
                else:
                    self._parts.popleft()
            available -= taken
            self._size -= taken
            self._known -= taken
            self._last = Piece(self._last.index, "", kind, name) if piece else self._last
            if text := self._decoder.decode(piece):
                fragments.append(Piece(index, text, kind, name))
        # A piece without bytes shows nothing and need not wait.
        while self._pending and not self._pending[0][1]:
            self._pending.popleft()
        return fragments


def _kind(token: Token) -> Kind:
    if not token.thinking:
        return "answer"
    # Older recordings do not tell the tags from the text between them.
    return "control" if token.piece.strip() in _TAGS else "reasoning"


class Written(NamedTuple):
    """One generation as text."""

    text: str
    """All of it, the tags around the reasoning included."""
    answer: str
    reasoning: str | None
    """``None``: there is none."""
    channels: list[tuple[str, str]]
    """Name and text of messages to other recipients, in order."""


def written(pieces: Iterable[Piece]) -> Written:
    """Return the text of one generation, divided by kind.

    Blocks of reasoning are joined by an empty line. So are parts of the whole text of different kinds without a tag
    between them.
    """
    text: list[str] = []
    answer: list[str] = []
    reasoning: list[list[str]] = []
    channels: list[tuple[str, list[str]]] = []
    before: Piece | None = None
    for piece in pieces:
        same = before is not None and (piece.kind, piece.name) == (before.kind, before.name)
        if before is not None and not same and "control" not in (piece.kind, before.kind):
            text.append("\n\n")
        text.append(piece.text)
        if piece.kind == "answer":
            answer.append(piece.text)
        elif piece.kind == "reasoning":
            if not same:
                reasoning.append([])
            reasoning[-1].append(piece.text)
        elif piece.kind == "channel":
            if not same:
                channels.append((piece.name, []))
            channels[-1][1].append(piece.text)
        before = piece
    blocks = ["".join(block) for block in reasoning]
    return Written(
        "".join(text),
        "".join(answer),
        "\n\n".join(blocks) if blocks else None,
        [(name, "".join(parts)) for name, parts in channels],
    )


def written_by(events: Iterable[Event]) -> Written:
    """Return the text of one generation, as far as its events go."""
    stream = TextStream()
    fragments: list[Piece] = []
    for event in events:
        if isinstance(event, Token):
            fragments += stream.feed(event)
        elif isinstance(event, Finished):
            fragments += stream.finish(event)
    return written([*fragments, *stream.flush()])
