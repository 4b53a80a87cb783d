"""A view that follows growing content page by page.

Scrolling line by line repaints the whole view for every line. Here the view stands still while rows fill it and then
turns the page: the newest row comes to the middle, with half a view of space below it and half a view of what was just
read above.
"""

from rich.style import Style
from textual.geometry import Size
from textual.reactive import reactive
from textual.scroll_view import ScrollView

from ..widgets.prepared import PreparedLines


class PagedView(PreparedLines, ScrollView, can_focus=True):
    """Follows the end until the reader scrolls up, and again once the reader is back at the end."""

    DEFAULT_CSS = """
    PagedView {
        overflow-x: hidden;
        overflow-y: scroll;
        scrollbar-size-vertical: 1;
        scrollbar-background: $background;
        scrollbar-background-hover: $background;
        scrollbar-background-active: $background;
    }
    """

    following: reactive[bool] = reactive(True, repaint=False)
    """True while the view follows the end."""

    fixed_rows = 0
    """Rows of the view that do not scroll."""

    def __init__(self, *, name: str | None = None, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(name=name, id=id, classes=classes)
        self._page_top = 0
        self._fitted_rows = 0
        self._moving = False
        self._hidden_changes = False
        self._fitted_size = Size(0, 0)

    def content_rows(self) -> int:
        """Return how many rows there are to show."""
        raise NotImplementedError

    def reader_moved(self) -> None:
        """The reader scrolled; called with ``following`` up to date."""

    @property
    def view_rows(self) -> int:
        """Rows of content that fit in the view."""
        return self._rows_in(self.scrollable_size)

    def _rows_in(self, size: Size) -> int:
        return max(1, size.height - self.fixed_rows)

    @property
    def view_width(self) -> int:
        """Cells in a row of the view, the scroll bar left out."""
        return self.scrollable_size.width

    def rows_below_turn(self) -> int:
        """Return how many rows stay free below the newest one when the page turns."""
        return (self.view_rows - 1) // 2

    def component_style(self, *names: str) -> Style:
        """Return the style of component classes on this widget, theme variables resolved."""
        style = self.get_visual_style(*names).rich_style
        for name in names:
            # ``get_visual_style`` leaves reverse out.
            style += self.get_component_styles(name).text_style
        return style

    def follow_end(self) -> None:
        """Go to the end and stay there."""
        self.following = True
        self._move_to(self._page_top)

    def _fit_page(self, *, fill: bool = False, more: bool = True) -> None:
        """Turn the page when the newest row is below it. ``fill``: bring the newest row to the bottom of the view;
        ``more``: whether rows follow soon; then a page that is turned keeps some rows free for them."""
        size = self.scrollable_size
        if not size:
            self._hidden_changes = True
            return
        rows, view = self.content_rows(), self._rows_in(size)
        if fill or rows <= self._page_top:
            self._page_top = max(0, rows - view)
        elif rows > self._page_top + view:
            # Of what fills a whole view at once nothing was read yet.
            turned = more and rows - self._fitted_rows <= view
            self._page_top = rows - view + (self.rows_below_turn() if turned else 0)
        self._fitted_rows = rows
        self._show_page(size)

    def on_show(self) -> None:
        """Catch up with what was added while the view was hidden."""
        self.call_after_refresh(self._catch_up)

    def _catch_up(self) -> None:
        if self._hidden_changes and self.scrollable_size:
            self._hidden_changes = False
            self._fit_page(fill=True)
            self.refresh()

    def fill(self) -> None:
        """Nothing more comes: no row needs to stay free below the newest one."""
        if self._page_top and self._page_top + self.view_rows > self.content_rows():
            self._fit_page(fill=True)
            self.refresh()

    def _shift_page(self, rows: int) -> None:
        """Rows were added or taken away above the page."""
        self._page_top = max(0, self._page_top + rows)
        self._show_page(self.scrollable_size)

    def _show_page(self, view: Size) -> None:
        self._fitted_size = self.container_size
        size = Size(view.width, self._page_top + self._rows_in(view) + self.fixed_rows)
        if size != self.virtual_size:
            # Set quietly: the reactive would lay out the whole screen, and only the scroll bar has to know.
            self.set_reactive(ScrollView.virtual_size, size)
            self.vertical_scrollbar.window_virtual_size = size.height
            self.vertical_scrollbar.window_size = self.container_size.height
        if self.following and self.scroll_y != self._page_top:
            self._move_to(self._page_top)

    def _move_to(self, row: int) -> None:
        self._moving = True
        try:
            self.scroll_to(y=row, animate=False, force=True)
        finally:
            self._moving = False

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Notice whether the reader left the end or came back to it."""
        super().watch_scroll_y(old_value, new_value)
        # While the size is changing, Textual corrects the position before this view has been fitted to the new size.
        if not self._moving and self.container_size == self._fitted_size:
            self.following = round(new_value) >= self._page_top
            self.reader_moved()

    def action_scroll_up(self) -> None:
        """Go up one row."""
        self.scroll_to(y=self.scroll_offset.y - 1, animate=False)

    def action_scroll_down(self) -> None:
        """Go down one row."""
        self.scroll_to(y=self.scroll_offset.y + 1, animate=False)

    def action_page_up(self) -> None:
        """Go up one view."""
        self.scroll_to(y=self.scroll_offset.y - max(1, self.view_rows - 1), animate=False)

    def action_page_down(self) -> None:
        """Go down one view."""
        self.scroll_to(y=self.scroll_offset.y + max(1, self.view_rows - 1), animate=False)

    def action_scroll_home(self) -> None:
        """Go to the beginning."""
        self.scroll_to(y=0, animate=False)

    def action_scroll_end(self) -> None:
        """Go to the end and follow it."""
        self.follow_end()
