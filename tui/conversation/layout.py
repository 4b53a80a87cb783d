"""The conversation laid out in rows of cells.

Text is kept in blocks of a few thousand characters. A block is wrapped by itself, and only when somebody looks: until
then its rows are estimated. So appending costs what is new, and a new width costs what is in view; the rest follows in
slices (``lay_out_more``). Where a block ends depends on its text alone, never on the width or on how the text came.
"""

from array import array
from bisect import bisect_right
from dataclasses import dataclass
from itertools import accumulate

from .graphemes import ZERO_WIDTH_JOINER, has_clusters
from .turns import Speaker, Turn
from .wrap import wrap

# A block ends after the first line break from here on, or the first space, or anywhere.
_BLOCK_AT_LINE = 4096
_BLOCK_AT_SPACE = 8192
_BLOCK_ANYWHERE = 12288


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


@dataclass(frozen=True, slots=True)
class Place:
    """A position that a new width leaves in place: a character, or the gap above a block."""

    block: int
    offset: int
    """In the block's text; -1 in the gap."""


class Document:
    """All turns in rows of ``width`` cells."""

    def __init__(self, width: int) -> None:
        self._width = max(1, width)
        self._blocks: list[Block] = []
        self._tops: list[int] = []
        self._unlaid = 0
        self.lines_laid_out = 0
        """How many rows were computed so far, for measuring the cost."""

    @property
    def width(self) -> int:
        """Cells in a row."""
        return self._width

    @property
    def height(self) -> int:
        """Rows; an estimate unless ``settled``."""
        return self._top(len(self._blocks) - 1) + self._blocks[-1].rows if self._blocks else 0

    @property
    def settled(self) -> bool:
        """Whether every block is laid out."""
        return self._unlaid == 0

    @property
    def turns(self) -> list[Turn]:
        """The turns in order."""
        return list(dict.fromkeys(block.turn for block in self._blocks))

    def text_of(self, turn: Turn) -> str:
        """Return the text of a turn as it came."""
        return "".join(block.text for block in self._blocks if block.turn is turn)

    def begin(self, speaker: Speaker) -> Turn:
        """Begin a turn, which holds one empty row until text comes."""
        turn = Turn(speaker)
        gap = 1 if self._blocks and speaker is not Speaker.NOTE else 0
        self._add_block(turn, gap)
        return turn

    def extend(self, text: str) -> int:
        """Add text to the last turn; return the first row that may look different."""
        if not text:
            return self.height
        last = len(self._blocks) - 1
        block = self._blocks[last]
        self._lay_out(last)
        changed = self._top(last) + block.rows - 1
        for start in range(0, len(text), _BLOCK_ANYWHERE):
            self._extend(text[start : start + _BLOCK_ANYWHERE])
        return changed

    def _extend(self, text: str) -> None:
        while text:
            block = self._blocks[-1]
            before = len(block.text)
            block.turn.length += len(text)
            block.text += text
            end = _block_end(block.text, before)
            if end is None:
                self._wrap_tail(block, closed=False)
                break
            text = block.text[end:]
            block.text = block.text[:end]
            block.turn.length -= len(text)
            self._wrap_tail(block, closed=True)
            self._add_block(block.turn, 0)

    def drop_from(self, turn: Turn) -> None:
        """Take away a turn and all that follow."""
        first = next(number for number, block in enumerate(self._blocks) if block.turn is turn)
        self._unlaid -= sum(block.starts is None for block in self._blocks[first:])
        del self._blocks[first:]
        del self._tops[first:]

    def set_width(self, width: int) -> None:
        """Change the width; everything is to be laid out again."""
        width = max(1, width)
        if width == self._width:
            return
        self._width = width
        for block in self._blocks:
            block.starts = None
            block.rows = block.gap + block.text.count("\n") + 1 + len(block.text) // width
        self._unlaid = len(self._blocks)
        self._tops.clear()

    def lay_out_rows(self, top: int, count: int) -> None:
        """Lay out what stands in rows ``top``…``top + count``; rows below ``top`` may move, ``top`` itself stays."""
        if not self._blocks:
            return
        number = self._block_at(top)
        while number < len(self._blocks) and self._top(number) < top + count:
            self._lay_out(number)
            number += 1

    def lay_out_end(self, count: int) -> None:
        """Lay out the last ``count`` rows."""
        rows, number = 0, len(self._blocks) - 1
        while number >= 0 and rows < count:
            self._lay_out(number)
            rows += self._blocks[number].rows
            number -= 1

    def lay_out_from(self, place: Place, count: int) -> None:
        """Lay out ``count`` rows from a place on."""
        self._lay_out(place.block)
        self.lay_out_rows(self.row_of(place), count)

    def lay_out_more(self, characters: int) -> None:
        """Lay out about so many characters more, from the end backwards."""
        for number in range(len(self._blocks) - 1, -1, -1):
            if self._unlaid == 0 or characters <= 0:
                return
            if self._blocks[number].starts is None:
                self._lay_out(number)
                characters -= max(64, len(self._blocks[number].text))

    def place_at(self, row: int) -> Place | None:
        """Return what stands in a row; ``None`` in an empty document."""
        if not self._blocks:
            return None
        row = min(max(row, 0), self.height - 1)
        number = self._block_at(row)
        block = self._blocks[number]
        inside = row - self._top(number) - block.gap
        if inside < 0:
            return Place(number, -1)
        if block.starts is None:
            return Place(number, len(block.text) * inside // max(1, block.rows - block.gap))
        return Place(number, block.starts[inside])

    def row_of(self, place: Place) -> int:
        """Return the row of a place."""
        block = self._blocks[place.block]
        top = self._top(place.block)
        if place.offset < 0:
            return top
        if block.starts is None:
            return top + block.gap + place.offset * (block.rows - block.gap) // max(1, len(block.text))
        return top + block.gap + bisect_right(block.starts, place.offset) - 1

    def line(self, row: int) -> Line | None:
        """Return the text of a row, laying its block out where that has not been done; ``None`` for an empty row."""
        if not 0 <= row < self.height:
            return None
        number = self._block_at(row)
        block = self._blocks[number]
        starts = self._lay_out(number)
        inside = row - self._top(number) - block.gap
        if not 0 <= inside < len(starts):
            return None
        start = starts[inside]
        last = inside + 1 == len(starts)
        end = len(block.text) if last else starts[inside + 1]
        wrapped = not last
        if end > start and block.text[end - 1] == "\n":
            end -= 1
            wrapped = False
        elif last:
            wrapped = number + 1 < len(self._blocks) and self._blocks[number + 1].turn is block.turn
        if not wrapped and end > start and block.text[end - 1] == "\r":
            end -= 1
        return Line(block, start, end, first=block.offset == 0 and inside == 0, wrapped=wrapped)

    def _add_block(self, turn: Turn, gap: int) -> None:
        block = Block(turn, turn.length, gap)
        block.starts = array("I", [0])
        self._blocks.append(block)

    def _lay_out(self, number: int) -> "array[int]":
        block = self._blocks[number]
        if block.starts is None:
            self._unlaid -= 1
            rows = block.rows
            block.starts = array("I", [0])
            following = self._blocks[number + 1].turn if number + 1 < len(self._blocks) else None
            self._wrap_tail(block, closed=following is block.turn)
            if block.rows != rows:
                del self._tops[number + 1 :]
        return block.starts

    def _wrap_tail(self, block: Block, *, closed: bool) -> None:
        """Wrap a laid out block again from its last row on; ``closed``: another block of the same turn follows."""
        starts = block.starts
        assert starts is not None
        rows = wrap(block.text, starts.pop(), self._width)
        # The empty row after a line break is the next block's.
        if closed and len(rows) > 1 and rows[-1] == len(block.text):
            rows.pop()
        starts.extend(rows)
        self.lines_laid_out += len(rows)
        block.rows = block.gap + len(starts)

    def _top(self, number: int) -> int:
        """The row of a block's gap, or of its first line."""
        tops = self._tops
        if number >= len(tops):
            known = len(tops)
            first = tops[-1] + self._blocks[known - 1].rows if known else 0
            heights = (block.rows for block in self._blocks[known:number])
            tops.extend(accumulate(heights, initial=first))
        return tops[number]

    def _block_at(self, row: int) -> int:
        self._top(len(self._blocks) - 1)
        return max(0, bisect_right(self._tops, row) - 1)


def _block_end(text: str, known: int) -> int | None:
    """Return where a block that begins with ``text`` ends, if it does before the end of ``text``.

    No end was found in the first ``known`` characters.
    """
    last = len(text) - 1
    found = []
    newline = text.find("\n", max(_BLOCK_AT_LINE - 1, known - 1), last)
    if newline >= 0:
        found.append(newline + 1)
    space = max(_BLOCK_AT_SPACE, known - 1)
    while (space := text.find(" ", space, last)) >= 0:
        space += 1
        if _may_end(text, space):
            found.append(space)
            break
    for end in range(max(_BLOCK_ANYWHERE, known), last + 1):
        if _may_end(text, end):
            found.append(end)
            break
    return min(found, default=None)


def _may_end(text: str, end: int) -> bool:
    """Whether nothing that belongs together is torn apart at ``end``."""
    before, after = text[end - 1], text[end]
    return before not in ("\r", ZERO_WIDTH_JOINER) and after != "\n" and not has_clusters(before + after)
