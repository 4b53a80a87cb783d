"""Why there is no value, told beside the pointer."""

from typing import TYPE_CHECKING

from textual.content import Content
from textual.events import MouseMove

if TYPE_CHECKING:
    from textual.widget import Widget as _Base
else:
    _Base = object  # Textual inherits styles and component classes from the first base that is a widget


class Reasons(_Base):
    """To be named before a widget's class: for a dash under the pointer the tooltip says why it is one."""

    _reason: str | None = None
    """What the tooltip says."""

    def reason_at(self, x: int, y: int) -> str | None:
        """Return why there is no value at a cell of the content; ``None`` where there is one."""
        raise NotImplementedError

    def on_mouse_move(self, event: MouseMove) -> None:
        """Change what the tooltip says."""
        offset = event.get_content_offset(self)
        reason = None if offset is None else self.reason_at(*offset)
        if reason != self._reason:
            self._reason = reason
            # Content is never markup.
            self.tooltip = None if reason is None else Content(reason)
