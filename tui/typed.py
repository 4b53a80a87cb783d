"""What a terminal sends, before it is taken for keys: what is not UTF-8 is replaced, and what is pasted is text."""

from codecs import getincrementaldecoder

_BEGIN, _END = "\x1b[200~", "\x1b[201~"
"""Of a bracketed paste."""
_PICTURES = {0x00: "␀", 0x1B: "␛"}
"""Textual drops the one, and takes the other for the end of the paste and the beginning of a key."""


class Typed:
    """Takes bytes as they come, cut anywhere."""

    def __init__(self) -> None:
        self._decode = getincrementaldecoder("utf-8")("replace").decode
        self._pasting = False
        self._rest = ""
        """In a paste what may be the beginning of its end, and is held back; else the last that was given back."""

    def feed(self, data: bytes) -> str:
        """Return what came, in a paste without control sequences; bytes that are not UTF-8 are U+FFFD."""
        text = self._decode(data)
        given = []
        while text:
            known = self._rest + text
            if self._pasting:
                pasted, mark, text = known.partition(_END)
                held = "" if mark else _beginning_at_the_end(known, _END)
                given.append(pasted.removesuffix(held).translate(_PICTURES) + mark)
                self._rest = held
            else:
                keys, mark, after = known.partition(_BEGIN)
                given.append((keys + mark).removeprefix(self._rest))
                self._rest, text = ("" if mark else known[1 - len(_BEGIN) :]), after
            self._pasting ^= bool(mark)
        return "".join(given)


def _beginning_at_the_end(text: str, mark: str) -> str:
    """Return the longest end of ``text`` with which ``mark`` may begin."""
    return next((mark[:length] for length in range(len(mark) - 1, 0, -1) if text.endswith(mark[:length])), "")
