"""The question where to go."""

from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from ..widgets.field import Field
from .place import HOW, Scale, position_of


class GoToScreen(ModalScreen[int | None]):
    """Ends with a position, or with ``None``."""

    DEFAULT_CSS = """
    GoToScreen {
        align: center middle;
        & > Vertical {
            width: 90%;
            max-width: 64;
            height: auto;
            padding: 1 2;
            background: $surface;
            border: round $primary;
            border-title-style: bold;
        }
        & Static { height: auto; color: $text-muted; }
        & Field { margin-bottom: 1; }
    }
    """

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss", "Stay.", show=False)]

    def __init__(self, scale: Scale) -> None:
        super().__init__()
        self._scale = scale
        self._how = Static(HOW, markup=False)

    def compose(self) -> ComposeResult:
        """Ask, and say how it is answered."""
        with Vertical() as box:
            box.border_title = "Go to"
            yield Field(placeholder="12.5s")
            yield self._how

    @on(Input.Submitted)
    def _answered(self, message: Input.Submitted) -> None:
        position = position_of(message.value, self._scale)
        if position is None:
            self._how.update(f"That is no place. {HOW}")
        else:
            self.dismiss(position)
