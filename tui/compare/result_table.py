"""The table of results, the verdict below it and what has to be known with both."""

import textwrap
from collections.abc import Sequence

from rich.cells import cell_len, set_cell_size
from textual.events import Click

from ...backends.text import visible
from ...comparison.results import LaneResult, Results
from ...comparison.table import Column, reason
from ..widgets.cells import Cells, Row, clip
from ..widgets.reasons import Reasons
from .marks import marker, role
from .ranks import GAP, cells_of, fitting, ordered

_SIGN_CELLS = 2
_LINES_FOR_BOTH = 3
MORE = "… v shows all"
"""Ends what is cut."""


class ResultTable(Reasons, Cells):
    """One line per lane below a line of headings; columns that find no room are left out whole, the least important
    first."""

    DEFAULT_CSS = """
    ResultTable { padding: 0 1; background: $surface; }
    """

    def __init__(self) -> None:
        super().__init__()
        self._results: Results | None = None
        self._sorted_by = ""
        """Key of the column; empty for the order of the lanes."""
        self._falling = False
        self._shown: list[tuple[int, str]] = []
        """Where each column that is drawn ends, and its key."""
        self._drawn_columns: Sequence[Column] = ()
        self._drawn_rows: Sequence[LaneResult] = ()
        self.covers = ""
        """What the figures are of, where that has to be said: stands over the lanes."""

    def show(self, results: Results) -> None:
        """Draw these results."""
        self._results = results
        self._draw()

    def sort_by_next(self) -> None:
        """Sort by the next of the columns that are drawn; after the last one in the order of the lanes."""
        keys = [key for _, key in self._shown]
        place = keys.index(self._sorted_by) + 1 if self._sorted_by in keys else 0
        self._sort_by(keys[place] if place < len(keys) else "")

    def reverse(self) -> None:
        """Sort the other way round."""
        self._falling = not self._falling
        self._draw()

    def _sort_by(self, key: str) -> None:
        self._falling = False
        self._sorted_by = key
        self._draw()

    def reason_at(self, x: int, y: int) -> str | None:
        """See ``Reasons``."""
        if not 0 < y <= len(self._drawn_rows):
            return None
        begin = _SIGN_CELLS
        for (end, _), column in zip(self._shown, self._drawn_columns, strict=True):
            if begin <= x < end:
                return reason(column, self._drawn_rows[y - 1])
            begin = end + GAP
        return None

    def on_click(self, event: Click) -> None:
        """Sort by the column whose heading was clicked, the second time the other way round."""
        offset = event.get_content_offset(self)
        if offset is None or offset.y:
            return
        for end, key in self._shown:
            if offset.x < end + GAP:
                if key == self._sorted_by:
                    self.reverse()
                else:
                    self._sort_by(key)
                return

    def _draw(self) -> None:
        if self._results is None:
            return
        width = self.content_size.width
        drawn = fitting(self._results, width - _SIGN_CELLS, self.covers)
        rows = ordered(drawn, self._results.rows, self._sorted_by, falling=self._falling)
        widths = [cells_of(column, rows) for column in drawn]
        if drawn:
            widths[0] = max(min(widths[0], width - _SIGN_CELLS - sum(widths[1:]) - GAP * (len(drawn) - 1)), 1)
        heading: list[tuple[str, str]] = [(" " * _SIGN_CELLS, "")]
        ends, at = [], _SIGN_CELLS
        for place, (column, cells) in enumerate(zip(drawn, widths, strict=True)):
            sorts = column.key == self._sorted_by
            text = column.heading + ("" if not sorts else "▼" if self._falling else "▲")
            heading += [
                (" " * GAP if place else "", ""),
                (_aligned(text, cells, column), "accent" if sorts else "dim"),
            ]
            at += cells + (GAP if place else 0)
            ends.append((at, column.key))
        self._shown, self._drawn_columns, self._drawn_rows = ends, drawn, rows
        lines: list[Row] = [tuple(heading)]
        for row in rows:
            spans: list[tuple[str, str]] = [(f"{marker(row.number)} ", role(row.number))]
            best = row.number == self._results.winner
            for place, (column, cells) in enumerate(zip(drawn, widths, strict=True)):
                own = "dim" if row.unranked else "strong" if best or not place else ""
                spans += [(" " * GAP if place else "", ""), (_aligned(column.cell(row), cells, column), own)]
            lines.append(tuple(spans))
        self.show_rows(lines)


def _aligned(text: str, cells: int, column: Column) -> str:
    shown = clip(text, cells)
    space = " " * (cells - cell_len(shown))
    return space + shown if column.right else shown + space


class Sentences(Cells):
    """The verdict, and as many of the notes as there is room for; no higher than they are."""

    DEFAULT_CSS = """
    Sentences { padding: 0 1; background: $surface; }
    """

    def show(self, results: Results, lines: int, *, judged: bool) -> None:
        """Draw the sentences of these results in at most so many lines; ``judged``: with the verdict."""
        rows = sentence_rows(results, self.content_size.width, lines, judged=judged)
        if (height := max(len(rows), 1)) != self.content_size.height:
            self.styles.height = height
        self.show_rows(rows)


def sentence_rows(results: Results, width: int, lines: int, *, judged: bool = True) -> list[Row]:
    """Return the verdict, where it is ``judged``, and the notes in at most so many lines; where something is left out
    the key is named that shows it. The verdict leaves a line for the gravest note where there are three."""
    if width < 1 or lines < 1:
        return []
    said = [(line, "strong") for line in textwrap.wrap(visible(results.verdict), width)] if judged else []
    if results.notes and lines >= _LINES_FOR_BOTH and len(said) >= lines:
        said = [*said[: lines - 2], (_ending(said[lines - 2][0], "…", width), "strong")]
    for note in results.notes:
        said += [(line, "dim") for line in textwrap.wrap(visible(note), width)]
    if len(said) > lines:
        last, own = said[lines - 1]
        said = [*said[: lines - 1], (_ending(last, MORE if width > len(MORE) else "…", width), own)]
    return [((clip(text, width), own),) for text, own in said]


def _ending(line: str, sign: str, width: int) -> str:
    """Put ``sign`` at the end of a line, which is cut for it where it must be."""
    room = max(width - len(sign) - 1, 0)
    if cell_len(line) > room:
        line = set_cell_size(line, room)
        line = line.rsplit(" ", 1)[0] if line.strip(" ").count(" ") else line
    return f"{line} {sign}"
