"""Several lines to type into."""

from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.widgets import TextArea

from ...backends.text import visible
from .kept import KeptDrawing


class Area(KeptDrawing, TextArea):
    """An input of several lines; what is put into it never commands the terminal."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("ctrl+underscore", "undo", "Undo.", show=False)]
    """As in a shell: Textual's ^z suspends."""

    def __init__(self, text: str = "", *, id: str | None = None) -> None:
        super().__init__(text, id=id, soft_wrap=True, tab_behavior="focus", show_line_numbers=False)
        self.cursor_blink = False
        self.highlight_cursor_line = False

    async def _on_paste(self, event: events.Paste) -> None:
        event.prevent_default()
        event.stop()
        pasted = event.text.replace("\r\n", "\n").replace("\r", "\n")
        self.insert(visible(pasted, keep_lines=True), maintain_selection_offset=False)
        # A widget that grows with its text needs its next size to know where the cursor is.
        self.call_after_refresh(self.scroll_cursor_visible)
