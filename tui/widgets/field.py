"""One line to type into."""

from textual import events
from textual.widgets import Input

from ...backends.text import visible
from .kept import KeptDrawing


class Field(KeptDrawing, Input):
    """An input of one line without a frame; what is put into it never commands the terminal."""

    DEFAULT_CSS = """
    Field {
        background: $boost;
        &:focus { background: $boost; background-tint: $primary 15%; }
    }
    """

    def __init__(self, value: str = "", *, placeholder: str = "", id: str | None = None) -> None:
        super().__init__(visible(value), placeholder, compact=True, id=id)
        self.cursor_blink = False

    def _on_paste(self, event: events.Paste) -> None:
        event.prevent_default()
        event.stop()
        # Lines are put together: none is lost.
        if text := " ".join(event.text.split("\n")).strip():
            self.replace(visible(text), *self.selection)
