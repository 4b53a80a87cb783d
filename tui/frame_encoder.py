"""Frames in few bytes: only cells that differ from those on the terminal, and only the part of a style that changes."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from itertools import groupby
from operator import itemgetter
from unicodedata import category, east_asian_width

from rich.console import Console
from rich.segment import Segment
from rich.style import Style
from textual._compositor import ChopsUpdate, CompositorUpdate, LayoutUpdate
from textual.strip import Strip

from .conversation.graphemes import clusters, drawn, is_simple, width_of
from .pens import INVISIBLE_ON_SPACES, Pen, blank, pen, rendered

_RESET = "\x1b[0m"
_GAP_AT_MOST = 4
"""So many cells that need not change are cheaper to write again than to step over."""
_ERASED_AT_LEAST = 8
"""Fewer spaces are as short as the sequence that erases them."""
_MOST_CELLS = 2
"""Cells for each character of a cluster: a terminal may draw the parts of a joined emoji side by side."""
_WRITTEN = frozenset("LNPZ")
"""Letters, digits, punctuation and spaces, by the first letter of their category."""
_CONJOINING = re.compile("[\u0e33\u0eb3\u1100-\u11ff\ua960-\ua97f\ud7b0-\ud7ff]")
"""Letters that some terminals draw in the cell of the previous letter: parts of Hangul syllables, Thai and Lao am."""


class _Encoded(CompositorUpdate):
    """An update of Textual's that is written by the encoder."""

    def __init__(self, update: CompositorUpdate, encoder: "FrameEncoder") -> None:
        self._update = update
        self._encoder = encoder

    def render_segments(self, console: Console) -> str:
        """Return the bytes, for ``console``'s colours."""
        return self._encoder.encode(self._update, console)


class _Row:
    """What the terminal shows in one row, cell by cell."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        """A cluster stands in its first cell; the others of it are empty."""
        self.pens: list[Pen | None] = []
        """``None``: nothing is known of the cell."""
        self.simple = True
        """Whether there are only clusters of one simple character."""

    def reach(self, end: int) -> None:
        """Extend the row to at least ``end`` cells."""
        missing = end - len(self.texts)
        if missing > 0:
            self.texts += [""] * missing
            self.pens += [None] * missing

    def put(self, x: int, texts: Sequence[str], pens: Sequence[Pen]) -> None:
        """Replace cells. A cluster that loses some of its cells becomes spaces."""
        end = x + len(texts)
        for edge in (x, end):
            self._split(edge)
        self.texts[x:end], self.pens[x:end] = texts, pens

    def _split(self, edge: int) -> None:
        if edge >= len(self.texts) or not self._continues(edge):
            return
        first = last = edge
        while self._continues(first):
            first -= 1
        while last < len(self.texts) and self._continues(last):
            last += 1
        self.texts[first:last] = " " * (last - first)

    def _continues(self, column: int) -> bool:
        return column > 0 and not self.texts[column] and self.pens[column] is not None

    def touched(self) -> Iterator[tuple[int, int]]:
        """Yield (first, last exclusive) of the cells where a cluster of uncertain width may show: the one before, which
        it may join, its own cells, and those that it may overlap."""
        for column, text in enumerate(self.texts):
            if text and not _is_certain(text):
                yield max(column - 1, 0), min(column + _MOST_CELLS * len(text), len(self.texts))

    def whole_clusters(self, first: int, last: int) -> tuple[int, int]:
        """Return these bounds, widened to whole clusters."""
        while self._continues(first):
            first -= 1
        while last < len(self.texts) and self._continues(last):
            last += 1
        return first, last


class FrameEncoder:
    """Tracks what the terminal shows. Every frame has to go through it, in order.

    The number of cells that a terminal uses for a cluster is certain for letters and the like. For all other clusters,
    the cells are blanked first, the cursor is set for the next cluster, and whatever the cluster may overlap is written
    again, so that nothing is left over however the terminal measures.
    """

    def __init__(self, erases: Callable[[], bool] = lambda: False) -> None:
        """``erases`` says whether the terminal erases cells in the current background; asked once, when it matters."""
        self._erases = erases
        self._can_erase: bool | None = None
        self._pens: dict[tuple[object, ...], Pen] = {}
        self._rows: dict[int, _Row] = {}
        self._width = 0
        self._out: list[str] = []
        self._pen: Pen | None = None
        self._at: tuple[int, int] | None = None

    def forget(self) -> None:
        """Assume that the terminal may show anything: another program has drawn on it, or it was resized."""
        self._rows.clear()

    def wrap(self, update: CompositorUpdate) -> CompositorUpdate:
        """Return the update as one that is encoded here when it is rendered."""
        return _Encoded(update, self)

    def encode(self, update: CompositorUpdate, console: Console) -> str:
        """Return what brings the terminal from the frame before to this one."""
        self._out, self._pen, self._at = [], None, None
        if isinstance(update, ChopsUpdate):
            for y, parts in groupby(_parts(update), key=itemgetter(0)):
                self._draw(y, [(x, strip) for _, x, strip in parts], console)
        elif isinstance(update, LayoutUpdate):
            self.forget()
            self._width = update.region.right
            for y, strips in enumerate(update.strips, update.region.y):
                self._draw(y, list(_placed(update.region.x, strips)), console)
        else:
            self.forget()
            return update.render_segments(console)
        if self._pen is not None:
            self._out.append(_RESET)
        return "".join(self._out)

    def _draw(self, y: int, parts: Sequence[tuple[int, Strip]], console: Console) -> None:
        """Update a row to show these parts, from left to right."""
        row = self._rows.setdefault(y, _Row())
        row.reach(max((x + strip.cell_length for x, strip in parts), default=0))
        cells = [(x, *self._cells(strip, console)) for x, strip in parts]
        if row.simple and all(simple for _, _, _, simple in cells):
            for x, texts, pens, _ in cells:
                self._draw_simple(y, row, x, texts, pens)
            return
        before = list(row.texts), list(row.pens)
        touched = list(row.touched())
        for x, texts, pens, _ in cells:
            row.put(x, texts, pens)
        changed = {
            column
            for column, (old, new, old_pen, new_pen) in enumerate(
                zip(before[0], row.texts, before[1], row.pens, strict=True)
            )
            if old != new or old_pen is not new_pen
        }
        for first, last in _joined([*touched, *row.touched()]):
            columns = range(first, last)
            if not changed.isdisjoint(columns):
                changed.update(column for column in columns if row.pens[column] is not None)
        self._write_clusters(y, row, sorted(changed))
        row.simple = bool(is_simple("".join(row.texts)))

    def _draw_simple(self, y: int, row: _Row, x: int, texts: Sequence[str], pens: Sequence[Pen]) -> None:
        end = x + len(texts)
        before, before_pens = row.texts[x:end], row.pens[x:end]
        if before_pens == pens and before == texts:
            return
        row.texts[x:end], row.pens[x:end] = texts, pens
        changed = [
            column
            for column, (old, new, old_pen, new_pen) in enumerate(
                zip(before, texts, before_pens, pens, strict=True), start=x
            )
            if old != new or old_pen is not new_pen
        ]
        for first, last in _runs(changed):
            self._write(y, row, first, last)

    def _write_clusters(self, y: int, row: _Row, changed: Sequence[int]) -> None:
        done = 0
        for first, last in _runs(changed, step=1):
            first, last = row.whole_clusters(max(first, done), last)
            start = first
            while start < last:
                stop, certain, own = start + 1, _is_certain(row.texts[start]), row.pens[start]
                while stop < last and (
                    not row.texts[stop] or (_is_certain(row.texts[stop]) is certain and row.pens[stop] is own)
                ):
                    stop += 1
                if certain:
                    self._write(y, row, start, stop)
                else:
                    self._write_uncertain(y, row, start, stop)
                start = stop
            done = max(done, last)

    def _write_uncertain(self, y: int, row: _Row, first: int, last: int) -> None:
        """Write clusters of one pen, although each of them may leave the cursor anywhere."""
        own = row.pens[first]
        assert own is not None
        self._move(y, first)
        self._take(own, spaces=False)
        self._out.append(" " * (last - first))
        self._at = None
        for column in range(first, last):
            if text := row.texts[column]:
                self._move(y, column)
                self._out.append(text)
                self._at = None

    def _cells(self, strip: Strip, console: Console) -> tuple[list[str], list[Pen], bool]:
        """Return text and pen of each cell, and whether all are of one simple character."""
        segments = list(strip)
        text = "".join(segment.text for segment in segments)
        if is_simple(text) and len(text) == strip.cell_length:
            return list(text), self._pens_of(segments, console), True
        texts: list[str] = []
        pens: list[Pen] = []
        for part, style, _ in segments:
            own = self._pen_of(style, console)
            for start, stop, width in clusters(part):
                cluster = drawn(part, start, stop)
                if width:
                    texts += [cluster, *[""] * (width - 1)]
                    pens += [blank(own) if cluster == " " else own] * width
                # else: a mark without a base, which would join the cell before
        # A terminal may have measured it differently.
        if (missing := strip.cell_length - len(texts)) > 0:
            texts += [" "] * missing
            pens += [blank(pens[-1]) if pens else pen("", "", "")] * missing
        end = strip.cell_length
        while end < len(texts) and not texts[end]:
            end -= 1
        texts[end:] = " " * (strip.cell_length - end)
        return texts, pens[: strip.cell_length], False

    def _pens_of(self, segments: Iterable[Segment], console: Console) -> list[Pen]:
        pens: list[Pen] = []
        for text, style, _ in segments:
            own = self._pen_of(style, console)
            spaces = blank(own)
            if spaces is own or " " not in text:
                pens += [own] * len(text)
            else:
                pens += [spaces if character == " " else own for character in text]
        return pens

    def _pen_of(self, style: Style | None, console: Console) -> Pen:
        if style is None:
            return pen("", "", "")
        # By value: Textual adds the place of the text to styles, so that there is no end to different ones.
        key = (style._color, style._bgcolor, style._attributes & style._set_attributes)
        found = self._pens.get(key)
        if found is None:
            found = self._pens[key] = rendered(style, console)
        return found

    def _write(self, y: int, row: _Row, first: int, last: int) -> None:
        """Write the cells ``first`` to ``last`` (exclusive), whose clusters are certain."""
        start = first
        while start < last:
            own = row.pens[start]
            assert own is not None
            stop = start + 1
            while stop < last and row.pens[stop] is own:
                stop += 1
            part = "".join(row.texts[start:stop])
            self._move(y, start)
            spaces = not own.attributes and not part.strip(" ")
            self._take(own, spaces=spaces)
            if spaces and stop - start >= _ERASED_AT_LEAST and self._may_erase():
                self._out.append(f"\x1b[{stop - start}X")
            else:
                self._out.append(part)
                # After the last column terminals differ in where the cursor stands.
                self._at = (y, stop) if stop < self._width else None
            start = stop

    def _may_erase(self) -> bool:
        if self._can_erase is None:
            self._can_erase = self._erases()
        return self._can_erase

    def _move(self, y: int, x: int) -> None:
        if self._at == (y, x):
            return
        if self._at is not None and self._at[0] == y and self._at[1] < x:
            self._out.append(f"\x1b[{x - self._at[1]}C")
        else:
            self._out.append(f"\x1b[{y + 1};{x + 1}H")
        self._at = (y, x)

    def _take(self, new: Pen, *, spaces: bool) -> None:
        """Change to a pen; ``spaces``: nothing but its background will be seen."""
        old = self._pen
        if spaces and old is not None and old.attributes in INVISIBLE_ON_SPACES:
            new = pen(old.attributes, old.foreground, new.background)
        if old is new:
            return
        if old is None:
            self._out.append(f"\x1b[{new.parameters}m" if new.parameters else "")
        elif old.attributes != new.attributes and old.attributes:
            self._out.append(f"\x1b[0;{new.parameters}m" if new.parameters else _RESET)
        else:
            parts = [new.attributes if new.attributes != old.attributes else ""]
            if new.foreground != old.foreground:
                parts.append(new.foreground or "39")
            if new.background != old.background:
                parts.append(new.background or "49")
            self._out.append(f"\x1b[{';'.join(part for part in parts if part)}m")
        self._pen = new


def _parts(update: ChopsUpdate) -> Iterator[tuple[int, int, Strip]]:
    """Yield (row, column, cells) of what the update covers. As in Textual's own writing, a piece of a line is taken
    from its beginning, also where only its end was asked for."""
    for y, first, last in update.spans:
        for end, (x, strip) in zip(update.chop_ends[y], update.chops[y].items(), strict=False):
            if strip is not None and x < last and end > first:
                # A cluster is not cut: otherwise only half of it would be known.
                yield y, x, strip.crop(0, min(end, last) - x) if is_simple(strip.text) else strip


def _placed(x: int, strips: Iterable[Strip]) -> Iterator[tuple[int, Strip]]:
    """Yield each of the strips, which follow each other from the column ``x`` on, with its column."""
    for strip in strips:
        yield x, strip
        x += strip.cell_length


def _is_certain(text: str) -> bool:
    """Whether all terminals use as many cells for a cluster as we do: single characters of ordinary writing, and an
    empty cell."""
    return len(text) < 2 and _is_written(text)


@cache
def _is_written(text: str) -> bool:
    if not text or is_simple(text):
        return True
    cells = 2 if east_asian_width(text) in "WF" else 1
    return category(text)[0] in _WRITTEN and cells == width_of[text] and not _CONJOINING.match(text)


def _joined(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return these ranges (first, last exclusive), with overlapping ones merged."""
    joined: list[tuple[int, int]] = []
    for first, last in sorted(spans):
        if joined and first < joined[-1][1]:
            joined[-1] = (joined[-1][0], max(joined[-1][1], last))
        else:
            joined.append((first, last))
    return joined


def _runs(columns: Sequence[int], step: int = _GAP_AT_MOST) -> Iterator[tuple[int, int]]:
    """Yield ranges (first, last exclusive) that cover the columns, if any; gaps of up to ``step`` are included."""
    if not columns:
        return
    first = previous = columns[0]
    for column in columns[1:]:
        if column - previous > step:
            yield first, previous + 1
            first = column
        previous = column
    yield first, previous + 1
