"""A table of tokens whose rows are computed when they are drawn."""

from collections.abc import Iterable
from typing import ClassVar, Protocol

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.binding import Binding, BindingType
from textual.events import Click, Resize
from textual.geometry import Region
from textual.message import Message
from textual.strip import Strip
from textual.timer import Timer

from ..metrics.numbers import MISSING
from .conversation.paging import PagedView
from .conversation.paint import joined
from .conversation.tints import TINTS, tint_css
from .lens import Lens
from .token_text import fitted
from .widgets.reasons import Reasons

_SECONDS_PER_ROW = 0.02
"""A row is some 250 bytes with its styles, so the table sends about 12 KB a second at most."""


class HasTokens(Protocol):
    """What can be shown in a table."""

    @property
    def token_count(self) -> int:
        """Rows so far."""
        ...


class PagedTable(Reasons, PagedView, can_focus=True):
    """A virtual table; which columns it has depends on the lens and on the width."""

    class Highlighted(Message):
        """The cursor came to a token, or went away."""

        def __init__(self, table: "PagedTable", index: int | None) -> None:
            super().__init__()
            self.table = table
            self.index = index
            """The token's index, from 1; ``None`` when the newest one is followed."""

        @property
        def control(self) -> "PagedTable":
            """The table."""
            return self.table

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "move_cursor(-1)", "Previous token", show=False),
        Binding("down", "move_cursor(1)", "Next token", show=False),
        Binding("left", "walk(-1)", "Previous token", show=False),
        Binding("right", "walk(1)", "Next token", show=False),
    ]

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "token-table--header",
        "token-table--cursor",
        "token-table--quiet",
        *(f"token-table--{tint.name}" for tint in TINTS),
    }

    DEFAULT_CSS = f"""
    PagedTable {{
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
        self._content: HasTokens | None = None
        self._rows = 0
        self._cursor: int | None = None
        self._styles_in_use: dict[str, Style] = {}
        self._rest: Timer | None = None
        self._due = False
        self._lens = Lens.TIME
        self.walking = False
        """Whether one token is looked at, the newest where there is no cursor."""

    @property
    def lens(self) -> Lens:
        """What is told of each token."""
        return self._lens

    @lens.setter
    def lens(self, lens: Lens) -> None:
        """Tell something else; only what is in view is drawn."""
        self._lens = lens
        self.refresh()

    @property
    def cursor_index(self) -> int | None:
        """Index (from 1) of the token under the cursor; ``None`` when there is no cursor."""
        return None if self._cursor is None else self._cursor + 1

    def columns_used(self, width: int) -> int:
        """Return how many of ``width`` cells all columns take."""
        raise NotImplementedError

    def header(self, width: int) -> str:
        """Return the names of the columns in a table of ``width`` cells."""
        raise NotImplementedError

    def row_cells(self, row: int, width: int, *, chosen: bool) -> Iterable[tuple[str, str]]:
        """Return (text, role) of a row (from 0) from left to right; the role is the name of a tint, ``quiet`` or empty.

        ``chosen``: the cursor is on it.
        """
        raise NotImplementedError

    def reasons(self) -> list[tuple[str, str]]:
        """Return (name of a column, why a token may have no value in it)."""
        return []

    def reason_at(self, x: int, y: int) -> str | None:
        """See ``Reasons``."""
        row, width = self.scroll_offset.y + y - self.fixed_rows, self.view_width
        if y < self.fixed_rows or row >= self._rows:
            return None
        end = 0
        for text, _ in self.row_cells(row, width, chosen=False):
            begin, end = end, end + cell_len(text)
            if begin <= x < end:
                heading = self.header(width)[begin:end].strip()
                return dict(self.reasons()).get(heading) if text.strip() == MISSING else None
        return None

    def show_content(self, content: HasTokens | None) -> None:
        """Show something else from its end, or nothing."""
        self._content = content
        self._rows = 0 if content is None else content.token_count
        self._cursor = None
        self.following = True
        if self.is_mounted:
            self._fit_page(fill=True)
            self.refresh()

    def tokens_changed(self) -> None:
        """Draw what came since the last call; to be called once per frame.

        Rows are drawn at a bounded rate: when tokens come faster, the view shows the newest ones less often.
        """
        if not self.is_mounted or self._content is None:
            return
        if self._rest is not None:
            self._due = True
            return
        first, self._rows = self._rows, self._content.token_count
        if self._rows > first and (drawn_rows := self._draw_new(first)):
            self._rest = self.set_timer(drawn_rows * _SECONDS_PER_ROW, self._rested)

    def fill(self) -> None:
        """See ``PagedView``; rows that were to be drawn later are drawn now."""
        if self._rest is not None:
            self._rest.stop()
            self._rested()
        super().fill()

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
        return min(self.view_width, self.columns_used(self.view_width))

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
        if self._cursor is None and self.walking:
            row = self._rows - 1 + step
        elif self._cursor is None:
            row = min(self._rows, self.scroll_offset.y + self.view_rows) - 1
        else:
            row = self._cursor + step
        if row >= self._rows:
            self.action_scroll_end()
        else:
            self._put_cursor(max(row, 0))

    def action_walk(self, step: int) -> None:
        """Look at the next token or at the one before, while one is looked at."""
        if self.walking:
            self.action_move_cursor(step)

    def action_page_up(self) -> None:
        """Go up one view; the cursor comes along."""
        self._page(-1)

    def action_page_down(self) -> None:
        """Go down one view; the cursor comes along."""
        self._page(1)

    def action_scroll_home(self) -> None:
        """Go to the first token."""
        super().action_scroll_home()
        if self._rows and (self._cursor is not None or self.walking):
            self._put_cursor(0)

    def action_scroll_end(self) -> None:
        """Go to the newest token and follow; the cursor goes away."""
        self._cursor = None
        self.follow_end()
        self.refresh()
        self.post_message(self.Highlighted(self, None))

    def look_at(self, index: int | None) -> None:
        """Put the cursor on a token (from 1) because it is looked at elsewhere; ``None``: follow the newest."""
        if index is None:
            self._cursor = None
            self.follow_end()
            self.refresh()
        elif index - 1 < self._rows:
            self._show_cursor(index - 1)

    def _page(self, direction: int) -> None:
        if self._cursor is not None:
            self._put_cursor(min(max(self._cursor + direction * (self.view_rows - 1), 0), self._rows - 1))
        elif direction < 0:
            super().action_page_up()
        else:
            super().action_page_down()

    def _put_cursor(self, row: int) -> None:
        self._show_cursor(row)
        self.post_message(self.Highlighted(self, row + 1))

    def _show_cursor(self, row: int) -> None:
        """Show the cursor on a row; the view stops following, so that the row stays."""
        self._cursor = row
        self.following = False
        top = self.scroll_offset.y
        if row < top:
            self._move_to(row)
        elif row >= top + self.view_rows:
            self._move_to(row - self.view_rows + 1)
        self.refresh()

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
            return Strip([Segment(fitted(self.header(width), width), self._style("header"))], width)
        row = self.scroll_offset.y + y - self.fixed_rows
        if row >= self._rows:
            return Strip.blank(width, self._style(""))
        return self._row(row, width)

    def _row(self, row: int, width: int) -> Strip:
        chosen = row == self._cursor
        plain = self._style("cursor" if chosen else "")
        segments = []
        for text, role in self.row_cells(row, width, chosen=chosen):
            style = plain if not role or (chosen and role == "quiet") else self._style(role)
            segments += _unpadded(text, style, plain) if role and role != "quiet" else [Segment(text, style)]
        strip = Strip(joined(segments), sum(cell_len(segment.text) for segment in segments))
        return strip.adjust_cell_length(width, plain)


def _unpadded(text: str, style: Style, plain: Style) -> list[Segment]:
    """Style a text, but not the spaces around it: they would be underlined or reversed as well."""
    inked = text.strip(" ")
    before, _, after = text.partition(inked) if inked else (text, "", "")
    return [Segment(part, look) for part, look in ((before, plain), (inked, style), (after, plain)) if part]
