"""Tooltips that say why there is no value."""

from typing import TYPE_CHECKING

from textual.content import Content
from textual.events import MouseMove

if TYPE_CHECKING:
    from textual.widget import Widget as _Base
else:
    _Base = object  # Textual inherits styles and component classes from the first base that is a widget


class Reasons(_Base):
    """A base to name before a widget's class: the tooltip of a dash under the pointer says why there is no value."""

    _reason: str | None = None
    """The text of the tooltip."""

    def reason_at(self, x: int, y: int) -> str | None:
        """Return why there is no value at a cell of the content; ``None`` where there is one."""
        raise NotImplementedError

    def on_mouse_move(self, event: MouseMove) -> None:
        """Change the text of the tooltip."""
        offset = event.get_content_offset(self)
        reason = None if offset is None else self.reason_at(*offset)
        if reason != self._reason:
            self._reason = reason
            # Content is never markup.
            self.tooltip = None if reason is None else Content(reason)
