"""Widgets that are not drawn anew while nothing about them changes."""

from typing import TYPE_CHECKING, Any, Self

from textual.containers import Horizontal
from textual.geometry import Region
from textual.strip import Strip
from textual.widgets import Static

if TYPE_CHECKING:
    from textual.widget import Widget as _Base
else:
    _Base = object  # Textual inherits styles and component classes from the first base that is a widget


class KeptDrawing(_Base):
    """To be named before a widget's class: keeps its finished lines until it is refreshed, resized or styled anew.

    For every partial update Textual asks all visible widgets for all their lines, and putting styles on them costs more
    than the update itself when only a few cells of one widget have changed.
    """

    _kept: tuple[Region, list[Strip]] | None = None

    def render_lines(self, crop: Region) -> list[Strip]:
        """Return the lines within ``crop``."""
        if self._kept is None or self._kept[0] != crop:
            self._kept = (crop, super().render_lines(crop))
        return self._kept[1]

    def refresh(self, *regions: Region, **how: Any) -> Self:
        """Draw anew."""
        self._kept = None
        return super().refresh(*regions, **how)

    def notify_style_update(self) -> None:
        """Draw anew."""
        self._kept = None
        super().notify_style_update()


class KeptHorizontal(KeptDrawing, Horizontal):
    """A container whose own background is kept."""


class KeptStatic(KeptDrawing, Static):
    """A text that is kept."""
