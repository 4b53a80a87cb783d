"""Pieces of text that are wrapped one by one."""

from array import array
from dataclasses import dataclass

from .graphemes import ZERO_WIDTH_JOINER, has_clusters
from .turns import Turn

# A block ends after the first line break from here on, or the first space, or anywhere.
_AT_LINE = 4096
_AT_SPACE = 8192
ANYWHERE = 12288
"""Characters after which a block ends wherever it may."""


class Block:
    """A piece of one turn's text, with the offsets where its rows begin once it is laid out."""

    __slots__ = ("gap", "offset", "rows", "starts", "text", "turn")

    def __init__(self, turn: Turn, offset: int, gap: int) -> None:
        self.turn = turn
        self.offset = offset
        """Where the block begins in its turn's text."""
        self.gap = gap
        """Empty rows above."""
        self.text = ""
        self.starts: array[int] | None = None
        self.rows = gap + 1
        """Rows with the gap; an estimate while ``starts`` is ``None``."""

    @property
    def folded_rows(self) -> int:
        """Rows while the turn is folded: one for the whole turn."""
        return self.gap + 1 if self.offset == 0 else 0


@dataclass(frozen=True, slots=True)
class Line:
    """One row of text: ``block.text[start:end]``, without the line break."""

    block: Block
    start: int
    end: int
    first: bool
    """Whether the turn begins here."""
    wrapped: bool
    """Whether the text goes on in the next row without a line break."""
    folded: bool = False
    """Whether the row stands for the whole turn."""


@dataclass(frozen=True, slots=True)
class Place:
    """A position that a new width leaves in place: a character, or the gap above a block."""

    block: int
    offset: int
    """In the block's text; -1 in the gap."""


def block_end(text: str, known: int) -> int | None:
    """Return where a block that begins with ``text`` ends, if it does before the end of ``text``.

    No end was found in the first ``known`` characters.
    """
    last = len(text) - 1
    found = []
    newline = text.find("\n", max(_AT_LINE - 1, known - 1), last)
    if newline >= 0:
        found.append(newline + 1)
    space = max(_AT_SPACE, known - 1)
    while (space := text.find(" ", space, last)) >= 0:
        space += 1
        if _may_end(text, space):
            found.append(space)
            break
    for end in range(max(ANYWHERE, known), last + 1):
        if _may_end(text, end):
            found.append(end)
            break
    return min(found, default=None)


def _may_end(text: str, end: int) -> bool:
    """Whether nothing that belongs together is torn apart at ``end``."""
    before, after = text[end - 1], text[end]
    return before not in ("\r", ZERO_WIDTH_JOINER) and after != "\n" and not has_clusters(before + after)
