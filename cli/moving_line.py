"""A line on stderr that is drawn over itself."""

import os
import time

from .streams import Messages

_REDRAW_SECONDS = 0.1
_BAR_CELLS, _SHORT_BAR_CELLS, _WIDE = 24, 10, 100
_CLEAR = "\r\x1b[K"


class MovingLine:
    """Drawn at most ten times a second and wiped for what comes after; nothing where stderr is no terminal."""

    def __init__(self, messages: Messages) -> None:
        self._messages = messages
        self.active = messages.terminal and os.environ.get("TERM") not in (None, "", "dumb")
        self._full, self._empty = ("█", "░") if messages.can_show("█░") else ("#", ".")
        self._shown = False
        self._drawn_at = 0.0

    def draw(self, text: str, *, at_once: bool = False) -> None:
        """Show ``text``, which is safe to draw; ``at_once``: however soon after the last one."""
        now = time.monotonic()
        if not self.active or (self._shown and not at_once and now - self._drawn_at < _REDRAW_SECONDS):
            return
        self._messages.draw(_CLEAR + text[: self._width() - 1])
        self._shown, self._drawn_at = True, now

    def clear(self) -> None:
        """Wipe the line."""
        if self._shown:
            self._messages.draw(_CLEAR)
            self._shown = False

    def bar(self, fraction: float) -> str:
        """Return a bar for 0 to 1, as long as the terminal allows."""
        length = _BAR_CELLS if self._width() >= _WIDE else _SHORT_BAR_CELLS
        cells = round(max(0.0, min(1.0, fraction)) * length)
        return self._full * cells + self._empty * (length - cells)

    def _width(self) -> int:
        if self._messages.descriptor is None:
            return 80
        try:
            return os.get_terminal_size(self._messages.descriptor).columns or 80
        except OSError:
            return 80
