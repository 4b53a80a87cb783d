"""Every token of a run with its timing, as a table whose rows are computed when they are drawn."""

from dataclasses import dataclass
from typing import ClassVar

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.binding import Binding, BindingType
from textual.events import Click, Resize
from textual.geometry import Region
from textual.message import Message
from textual.strip import Strip
from textual.timer import Timer

from ..backends.text import visible
from ..metrics.run import Run
from .conversation.graphemes import clusters, drawn
from .conversation.paging import PagedView
from .conversation.paint import joined
from .conversation.tints import TINTS, tint_css

_SIGNS = str.maketrans({" ": "·", "\n": "⏎", "\t": "⇥"})
_CONTROL = " control"
_NO_VALUE = "–"
_CURSOR = "▸"

_INDEX_CELLS = 6
_ID_CELLS = 7
_MS_CELLS = 9
_TIME_CELLS = 9
_MARK_CELLS = 3
_FIXED_CELLS = (1 + _INDEX_CELLS + 1) + (1 + _MS_CELLS) + (1 + _TIME_CELLS + 1) + (_MARK_CELLS + 1)
_TOKEN_CELLS_BESIDE_ID = 14
_TOKEN_CELLS_BESIDE_BAR = 20
_LONGEST_TOKEN = 32
_SHORTEST_BAR = 8
_LONGEST_BAR = 40
_MEDIANS_PER_BAR = 8
_SECONDS_PER_ROW = 0.02
"""A row is some 250 bytes with its styles, so the table sends about 12 KB a second at most."""


def token_sign(piece: bytes) -> str:
    """Return a token's bytes as visible text: spaces as ·, line feeds as ⏎, invalid bytes as \\xNN."""
    text = visible(piece.decode("utf-8", "backslashreplace").translate(_SIGNS))
    first = next(clusters(text), None)
    # A mark without a base gets one, or it would sit on the cell before the column.
    return "◌" + text if first is not None and first[2] == 0 else text


def fitted(text: str, cells: int) -> str:
    """Return the text in exactly ``cells`` cells, cut with … where it is longer; characters are never cut in half."""
    kept: list[str] = []
    used = 0
    spans = list(clusters(text[: 16 * cells]))
    whole = sum(width for _, _, width in spans) <= cells and len(text) <= 16 * cells
    room = cells if whole else cells - 1
    for start, end, width in spans:
        if used + width > room:
            break
        kept.append(drawn(text, start, end))
        used += width
    if not whole:
        kept.append("…")
        used += 1
    return "".join(kept) + " " * (cells - used)


def bar(gap: float, median: float, cells: int) -> str:
    """Return a horizontal bar of ``gap`` in half cells; ``cells`` cells are 8 medians, and + is more than that."""
    halves = round(gap / median * cells * 2 / _MEDIANS_PER_BAR)
    if halves > cells * 2:
        return "━" * (cells - 1) + "+"
    return ("━" * (halves // 2) + "╸" * (halves % 2)).ljust(cells)


@dataclass(frozen=True, slots=True)
class _Columns:
    """Cells per column; 0 leaves it out."""

    token: int
    id: int
    bar: int


def _columns(width: int) -> _Columns:
    rest = width - _FIXED_CELLS
    id_cells = _ID_CELLS if rest >= 1 + _ID_CELLS + _TOKEN_CELLS_BESIDE_ID else 0
    rest -= 1 + id_cells if id_cells else 0
    bar_cells = (
        min(_LONGEST_BAR, rest - _TOKEN_CELLS_BESIDE_BAR) if rest >= _SHORTEST_BAR + _TOKEN_CELLS_BESIDE_BAR else 0
    )
    return _Columns(token=min(max(1, rest - bar_cells), _LONGEST_TOKEN), id=id_cells, bar=bar_cells)


class TokenTable(PagedView, can_focus=True):
    """A virtual table over a run's arrays: index, token, id, ITL, time since the request, pace."""

    class Highlighted(Message):
        """The cursor came to a token."""

        def __init__(self, table: "TokenTable", index: int) -> None:
            super().__init__()
            self.table = table
            self.index = index
            """The token's index, from 1."""

        @property
        def control(self) -> "TokenTable":
            """The table."""
            return self.table

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "move_cursor(-1)", "Previous token", show=False),
        Binding("down", "move_cursor(1)", "Next token", show=False),
    ]

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "token-table--header",
        "token-table--cursor",
        "token-table--quiet",
        *(f"token-table--{tint.name}" for tint in TINTS),
    }

    DEFAULT_CSS = f"""
    TokenTable {{
        background: $background;
        color: $foreground;
        & > .token-table--header {{ color: $text-muted; text-style: bold; }}
        & > .token-table--cursor {{ background: $block-cursor-blurred-background; text-style: bold; }}
        & > .token-table--quiet {{ color: $text-muted; }}
        {tint_css("token-table")}
    }}
    """

    fixed_rows = 1

    def __init__(self, *, name: str | None = None, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(name=name, id=id, classes=classes)
        self._run: Run | None = None
        self._rows = 0
        self._cursor: int | None = None
        self._styles_in_use: dict[str, Style] = {}
        self._rest: Timer | None = None
        self._due = False

    @property
    def cursor_index(self) -> int | None:
        """Index (from 1) of the token under the cursor; ``None`` when there is no cursor."""
        return None if self._cursor is None else self._cursor + 1

    def show(self, run: Run | None) -> None:
        """Show another run from its end, or nothing."""
        self._run = run
        self._rows = 0 if run is None else run.token_count
        self._cursor = None
        self.following = True
        if self.is_mounted:
            self._fit_page(fill=True)
            self.refresh()

    def tokens_changed(self) -> None:
        """Draw what came since the last call; to be called once per frame.

        Rows are drawn at a bounded rate: when tokens come faster, the view shows the newest ones less often.
        """
        if not self.is_mounted or self._run is None:
            return
        if self._rest is not None:
            self._due = True
            return
        first, self._rows = self._rows, self._run.token_count
        if self._rows > first and (drawn_rows := self._draw_new(first)):
            self._rest = self.set_timer(drawn_rows * _SECONDS_PER_ROW, self._rested)

    def _rested(self) -> None:
        self._rest = None
        if self._due:
            self._due = False
            self.tokens_changed()

    def _draw_new(self, first: int) -> int:
        """Draw the rows from ``first`` on that are in view; return how many rows were drawn."""
        page, top = self._page_top, self.scroll_offset.y
        self._fit_page()
        if self._page_top != page and self.following:
            self.refresh()
            return self.view_rows
        begin, end = max(first, top), min(self._rows, top + self.view_rows)
        if begin >= end:
            return 0
        self.refresh(Region(0, begin - top + self.fixed_rows, self._used_cells(), end - begin))
        return end - begin

    def _used_cells(self) -> int:
        columns = _columns(self.view_width)
        return min(self.view_width, _FIXED_CELLS + columns.token + columns.bar + (1 + columns.id if columns.id else 0))

    def content_rows(self) -> int:
        """Return the number of tokens."""
        return self._rows

    def rows_below_turn(self) -> int:
        """Tokens come faster than lines: a turned page has most of its rows free."""
        return self.view_rows * 3 // 4

    def on_resize(self, event: Resize) -> None:
        """Keep the end, or the row at the top, in place."""
        top = self.scroll_offset.y
        self._fit_page(fill=True)
        if not self.following:
            self.following = top >= self._page_top
            self._move_to(top)
        self.refresh()

    def on_click(self, event: Click) -> None:
        """Put the cursor on the row that was clicked."""
        row = event.get_content_offset_capture(self).y - self.fixed_rows + self.scroll_offset.y
        if event.get_content_offset_capture(self).y >= self.fixed_rows and 0 <= row < self._rows:
            self._put_cursor(row)

    def action_move_cursor(self, step: int) -> None:
        """Move the cursor; it begins at the last row in view, and goes away below the newest row."""
        if self._rows == 0:
            return
        if self._cursor is None:
            row = min(self._rows, self.scroll_offset.y + self.view_rows) - 1
        else:
            row = self._cursor + step
        if row >= self._rows:
            self.action_scroll_end()
        else:
            self._put_cursor(max(row, 0))

    def action_page_up(self) -> None:
        """Go up one view; the cursor comes along."""
        self._page(-1)

    def action_page_down(self) -> None:
        """Go down one view; the cursor comes along."""
        self._page(1)

    def action_scroll_home(self) -> None:
        """Go to the first token."""
        super().action_scroll_home()
        if self._cursor is not None:
            self._put_cursor(0)

    def action_scroll_end(self) -> None:
        """Go to the newest token and follow; the cursor goes away."""
        self._cursor = None
        self.follow_end()
        self.refresh()

    def _page(self, direction: int) -> None:
        if self._cursor is not None:
            self._put_cursor(min(max(self._cursor + direction * (self.view_rows - 1), 0), self._rows - 1))
        elif direction < 0:
            super().action_page_up()
        else:
            super().action_page_down()

    def _put_cursor(self, row: int) -> None:
        """Show the cursor on a row; the view stops following, so that the row stays."""
        self._cursor = row
        self.following = False
        top = self.scroll_offset.y
        if row < top:
            self._move_to(row)
        elif row >= top + self.view_rows:
            self._move_to(row - self.view_rows + 1)
        self.refresh()
        self.post_message(self.Highlighted(self, row + 1))

    def notify_style_update(self) -> None:
        """Look the styles up again, as after a change of theme."""
        super().notify_style_update()
        self._styles_in_use.clear()

    def _style(self, name: str) -> Style:
        if name not in self._styles_in_use:
            names = [f"token-table--{name}"] if name else []
            self._styles_in_use[name] = self.component_style(*names)
        return self._styles_in_use[name]

    def render_line(self, y: int) -> Strip:
        """Return one row of the view."""
        width = self.view_width
        if y < self.fixed_rows:
            return Strip([Segment(fitted(_header(width), width), self._style("header"))], width)
        row = self.scroll_offset.y + y - self.fixed_rows
        run = self._run
        if run is None or row >= self._rows:
            return Strip.blank(width, self._style(""))
        return self._row(run, row, width)

    def _row(self, run: Run, row: int, width: int) -> Strip:
        columns = _columns(width)
        times, median = run.token_times, run.running_median_ns
        gap = None if row == 0 else int(times[row] - times[row - 1])
        tint = int(run.paces[row])
        plain = self._style("cursor" if row == self._cursor else "")
        told = self._style(TINTS[tint - 1].name) if tint else plain
        control = bool(run.control[row])

        segments = [Segment(f"{_CURSOR if row == self._cursor else ' '}{row + 1:>{_INDEX_CELLS}} ", plain)]
        if control and columns.token > len(_CONTROL) + 2:
            sign = fitted(token_sign(run.piece(row)), columns.token - len(_CONTROL))
            segments += [Segment(sign, told), Segment(_CONTROL, self._style("quiet"))]
        else:
            style = self._style("quiet") if control and not tint else told
            segments.append(Segment(fitted(token_sign(run.piece(row)), columns.token), style))
        if columns.id:
            segments.append(Segment(f" {int(run.token_ids[row]):>{columns.id}}", plain))
        ms = _NO_VALUE if gap is None else f"{gap / 1e6:.1f}"
        seconds = f"{(int(times[row]) - run.taken.t) / 1e9:.3f}"
        mark = "" if gap is None or tint == 0 else TINTS[tint - 1].mark
        segments.append(Segment(f" {ms:>{_MS_CELLS}}", told))
        segments.append(Segment(f" {seconds:>{_TIME_CELLS}} ", plain))
        # The first token's time is the time to first token.
        segments.append(Segment(f"{'TTFT' if gap is None else mark:<{_MARK_CELLS + 1}}", plain))
        if columns.bar and gap is not None and median:
            quiet = plain if tint or row == self._cursor else self._style("quiet")
            segments.append(Segment(bar(gap, median, columns.bar), quiet))
        strip = Strip(joined(segments), sum(cell_len(segment.text) for segment in segments))
        return strip.adjust_cell_length(width, plain)


def _header(width: int) -> str:
    columns = _columns(width)
    parts = [f" {'#':>{_INDEX_CELLS}} ", fitted("token", columns.token)]
    if columns.id:
        parts.append(f" {'id':>{columns.id}}")
    parts.append(f" {'ITL ms':>{_MS_CELLS}} {'time s':>{_TIME_CELLS}} {'pace':<{_MARK_CELLS + 1}}")
    if columns.bar:
        parts.append(f"{'|':>{columns.bar // _MEDIANS_PER_BAR}} median" if columns.bar >= 16 else "")
    return "".join(parts)
