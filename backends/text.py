"""Text from outside: bytes joined to characters, and characters made safe to draw.

Model output, GGUF metadata, file names and native messages all pass through ``visible`` before they reach a terminal.
"""

import codecs
import re
from collections.abc import Iterable

from .events import Event, Finished, Token

_REPLACEMENT = "\ufffd"


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


class TextStream:
    """Joins the pieces of one generation into text.

    A piece may hold half a character and may turn out to be the beginning of a stop string, so text appears later than
    its token: each fragment is returned with the index of the token that completed it.
    """

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._pending: list[tuple[int, bytes]] = []
        self._last_index = 0

    def feed(self, token: Token) -> list[tuple[int, str]]:
        """Return what may be shown now, as (token index, text) in order; no text is empty."""
        if not token.control:
            self._pending.append((token.index, token.piece))
        self._last_index = token.index
        return self._release(token.held)

    def finish(self, finished: Finished) -> list[tuple[int, str]]:
        """Return the rest; a character that never became complete is U+FFFD."""
        return self.flush(finished.held)

    def flush(self, held: int = 0) -> list[tuple[int, str]]:
        """End the stream without a ``Finished`` event, as after a failure."""
        fragments = self._release(held)
        self._pending.clear()
        if rest := self._decoder.decode(b"", final=True):
            fragments.append((self._last_index, rest))
        return fragments

    def _release(self, held: int) -> list[tuple[int, str]]:
        fragments: list[tuple[int, str]] = []
        available = sum(len(piece) for _, piece in self._pending) - held
        while self._pending and available > 0:
            index, piece = self._pending[0]
            if len(piece) > available:
                self._pending[0] = (index, piece[available:])
                piece = piece[:available]
            else:
                self._pending.pop(0)
            available -= len(piece)
            if text := self._decoder.decode(piece):
                fragments.append((index, text))
        # A piece without bytes shows nothing and need not wait.
        while self._pending and not self._pending[0][1]:
            self._pending.pop(0)
        return fragments


def answer_text(events: Iterable[Event]) -> str:
    """Return the text of one generation, as far as its events go."""
    stream = TextStream()
    parts: list[tuple[int, str]] = []
    for event in events:
        if isinstance(event, Token):
            parts += stream.feed(event)
        elif isinstance(event, Finished):
            parts += stream.finish(event)
    return "".join(text for _, text in [*parts, *stream.flush()])
