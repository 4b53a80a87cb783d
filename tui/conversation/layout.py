"""The conversation laid out in rows of cells.

Text is kept in blocks of a few thousand characters. A block is wrapped by itself, and only when somebody looks: until
then its rows are estimated. So appending costs what is new, and a new width costs what is in view; the rest follows in
slices (``lay_out_more``). Where a block ends depends on its text alone, never on the width or on how the text came. A
turn that is folded takes one row, whatever its length, and is not laid out.
"""

from array import array
from bisect import bisect_right
from itertools import accumulate

from .blocks import ANYWHERE, Block, Line, Place, block_end
from .turns import Speaker, Turn
from .wrap import wrap


class Document:
    """All turns in rows of ``width`` cells."""

    def __init__(self, width: int) -> None:
        self._width = max(1, width)
        self._blocks: list[Block] = []
        self._tops: list[int] = []
        self._unlaid = 0
        """Blocks that are still to be laid out; those of folded turns are not."""
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

    def newest_line(self, turn: Turn) -> str:
        """Return the end of a turn's text from its last line break on, the one that ends it left out; it may be cut."""
        text = next((block.text for block in reversed(self._blocks) if block.turn is turn and block.text), "")
        return text.rstrip("\r\n").rsplit("\n", 1)[-1]

    def begin(self, speaker: Speaker, *, folded: bool = False) -> Turn:
        """Begin a turn, which holds one empty row until text comes."""
        turn = Turn(speaker, folded=folded)
        self.add(turn, "")
        return turn

    def add(self, turn: Turn, text: str) -> None:
        """Add a turn that stands in no document, with all of its text."""
        turn.length = 0
        gap = 1 if self._blocks and turn.speaker is not Speaker.NOTE else 0
        self._add_block(turn, gap)
        self.extend(text)

    def extend(self, text: str) -> int:
        """Add text to the last turn; return the first row that may look different."""
        if not text:
            return self.height
        last = len(self._blocks) - 1
        block = self._blocks[last]
        self._lay_out(last)
        changed = self._top(last) + block.rows - 1
        for start in range(0, len(text), ANYWHERE):
            self._extend(text[start : start + ANYWHERE])
        return changed

    def _extend(self, text: str) -> None:
        while text:
            block = self._blocks[-1]
            before = len(block.text)
            block.turn.length += len(text)
            block.text += text
            end = block_end(block.text, before)
            if end is None:
                self._text_added(block, closed=False)
                break
            text = block.text[end:]
            block.text = block.text[:end]
            block.turn.length -= len(text)
            self._text_added(block, closed=True)
            self._add_block(block.turn, 0)

    def _text_added(self, block: Block, *, closed: bool) -> None:
        if block.turn.folded:
            block.starts = None
        else:
            self._wrap_tail(block, closed=closed)

    def interrupt(self, turn: Turn, offset: int, note: str) -> Turn:
        """Put a note above the character ``offset`` of a turn, where a token begins; return the turn below it."""
        turns = self.turns
        later = [(one, self.text_of(one)) for one in turns[turns.index(turn) + 1 :]]
        text, rest = self.text_of(turn), turn
        self.drop_from(turn)
        if offset:
            rest = turn.split(offset)
            self.add(turn, text[:offset])
        for one, its_text in [(Turn(Speaker.NOTE), note), (rest, text[offset:]), *later]:
            self.add(one, its_text)
        return rest

    def drop_from(self, turn: Turn) -> None:
        """Take away a turn and all that follow."""
        first = next(number for number, block in enumerate(self._blocks) if block.turn is turn)
        self._unlaid -= sum(_is_unlaid(block) for block in self._blocks[first:])
        del self._blocks[first:]
        del self._tops[first:]

    def set_width(self, width: int) -> None:
        """Change the width; everything is to be laid out again."""
        width = max(1, width)
        if width == self._width:
            return
        self._width = width
        self._unlaid = 0
        for block in self._blocks:
            self._forget_rows(block)
        self._tops.clear()

    def fold(self, turn: Turn, folded: bool) -> None:
        """Show a turn in one row, or in full again; its rows and those below move."""
        if turn.folded == folded:
            return
        blocks = [block for block in self._blocks if block.turn is turn]
        self._unlaid -= sum(_is_unlaid(block) for block in blocks)
        turn.folded = folded
        for block in blocks:
            self._forget_rows(block)
        self._tops.clear()

    def _forget_rows(self, block: Block) -> None:
        block.starts = None
        if block.turn.folded:
            block.rows = block.folded_rows
        else:
            block.rows = block.gap + block.text.count("\n") + 1 + len(block.text) // self._width
            self._unlaid += 1

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
            if _is_unlaid(self._blocks[number]):
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
        if block.turn.folded:
            # All that is not shown stands in the one row of the turn.
            return top if block.offset == 0 and place.offset < 0 else top + block.rows - 1
        if place.offset < 0:
            return top
        if block.starts is None:
            return top + block.gap + place.offset * (block.rows - block.gap) // max(1, len(block.text))
        return top + block.gap + bisect_right(block.starts, place.offset) - 1

    def place_of(self, turn: Turn, offset: int) -> Place:
        """Return the place of a character of a turn."""
        number = max(
            number for number, block in enumerate(self._blocks) if block.turn is turn and block.offset <= offset
        )
        return Place(number, offset - self._blocks[number].offset)

    def character_of(self, place: Place) -> tuple[Turn, int]:
        """Return the turn of a place and the offset in its text; of a gap, that of what follows."""
        block = self._blocks[place.block]
        return block.turn, block.offset + max(place.offset, 0)

    def line(self, row: int) -> Line | None:
        """Return the text of a row, laying its block out where that has not been done; ``None`` for an empty row."""
        if not 0 <= row < self.height:
            return None
        number = self._block_at(row)
        block = self._blocks[number]
        inside = row - self._top(number) - block.gap
        if block.turn.folded:
            return None if inside else Line(block, 0, 0, first=True, wrapped=False, folded=True)
        starts = self._lay_out(number)
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
        if turn.folded:
            block.starts, block.rows = None, block.folded_rows
        self._blocks.append(block)

    def _lay_out(self, number: int) -> "array[int]":
        block = self._blocks[number]
        if block.turn.folded:
            return array("I", [0])
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


def _is_unlaid(block: Block) -> bool:
    return block.starts is None and not block.turn.folded
