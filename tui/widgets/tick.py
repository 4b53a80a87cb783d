"""Something that is on or off."""

from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.message import Message

from .cells import Cells


class Tick(Cells, can_focus=True):
    """A label with a box before it; space or a click changes it."""

    DEFAULT_CSS = """
    Tick { width: auto; min-width: 4; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [Binding("space", "flip", "Change", show=False)]

    class Changed(Message):
        """It was changed."""

    def __init__(self, label: str, on: bool, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._label = label
        self.on = on
        self._show()

    def _show(self) -> None:
        box = "[x]" if self.on else "[ ]"
        self.show_rows(
            [((box, "accent" if self.has_focus else ""), (f" {self._label}", "strong" if self.has_focus else ""))]
        )

    def get_content_width(self, *_: object) -> int:
        """Return the cells of box and label."""
        return len(self._label) + 4

    def action_flip(self) -> None:
        """Change it."""
        self.on = not self.on
        self._show()
        self.post_message(self.Changed())

    def on_click(self) -> None:
        """Change it."""
        self.action_flip()

    def on_focus(self) -> None:
        """Stand out."""
        self._show()

    def on_blur(self) -> None:
        """Stand back."""
        self._show()
