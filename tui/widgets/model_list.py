"""The models that are found, one a line; only the lines in sight are laid out."""

from collections.abc import Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from textual import events
from textual.message import Message

from .cells import Cells, Row, clip

_GAP = 2
_NAME_AT_LEAST = 24
_HEADING = ("name", "quant", "size", "context", "architecture", "source")
_RIGHT = frozenset({2, 3})
_CURSOR = "▸ "


@dataclass(frozen=True, slots=True)
class Line:
    """One model as text that is fit to be drawn."""

    key: int
    """What the screen knows it by."""
    cells: tuple[str, ...]
    """As in the heading; a model that cannot be used has its name and the reason only."""
    usable: bool = True


class ModelList(Cells):
    """A heading and as many lines as fit; the highlighted one is always among them."""

    DEFAULT_CSS = """
    ModelList { height: 1fr; padding: 0 1; }
    """

    class Highlighted(Message):
        """Another line is highlighted, or others are in sight."""

    class Picked(Message):
        """The highlighted line was clicked once more."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._lines: Sequence[Line] = ()
        self._at = 0
        self._top = 0

    @property
    def highlighted(self) -> int | None:
        """The key of the highlighted line; None when there is no line."""
        return self._lines[self._at].key if self._lines else None

    @property
    def in_sight(self) -> list[int]:
        """The keys of the lines that are drawn."""
        return [line.key for line in self._lines[self._top : self._top + self._room]]

    @property
    def _room(self) -> int:
        return max(self.content_size.height - 1, 1)

    def show(self, lines: Sequence[Line], key: int | None) -> None:
        """Draw ``lines``, the one with ``key`` highlighted, else the first."""
        self._lines = lines
        self._at = next((at for at, line in enumerate(lines) if line.key == key), 0)
        self._draw()

    def move(self, by: int) -> None:
        """Move the highlight by so many lines, as far as there are any."""
        if self._lines:
            self._at = min(max(self._at + by, 0), len(self._lines) - 1)
            self._draw()
            self.post_message(self.Highlighted())

    def page(self, by: int) -> None:
        """Move the highlight by so many screens of lines."""
        self.move(by * self._room)

    def on_click(self, event: events.Click) -> None:
        """Highlight the line, or pick the one that is highlighted already."""
        at = self._top + event.y - self.gutter.top - 1
        if event.y <= self.gutter.top or not 0 <= at < len(self._lines):
            return
        if at == self._at:
            self.post_message(self.Picked())
        else:
            self.move(at - self._at)

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        """Move the highlight."""
        event.stop()
        self.move(3)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        """Move the highlight."""
        event.stop()
        self.move(-3)

    def _draw(self) -> None:
        width = self.content_size.width
        room = self._room
        self._top = min(max(self._top, self._at - room + 1), self._at)
        self._top = max(min(self._top, len(self._lines) - room), 0)
        shown = self._lines[self._top : self._top + room]
        widths = _widths(shown, width - cell_len(_CURSOR))
        rows: list[Row] = [(("  ", ""), (_cells(_HEADING, widths), "dim"))]
        for at, line in enumerate(shown, start=self._top):
            highlighted = at == self._at
            role = "strong" if highlighted else "" if line.usable else "dim"
            text = _cells(line.cells, widths) if line.usable else _reason(line.cells, widths, width)
            rows.append(((_CURSOR if highlighted else "  ", "accent"), (text, role)))
        self.show_rows(rows)


def _widths(lines: Sequence[Line], width: int) -> list[int]:
    """Return the cells of the columns that find room, the name taking what is left."""
    usable = [line.cells for line in lines if line.usable]
    needed = [max(cell_len(cells[column]) for cells in [_HEADING, *usable]) for column in range(1, len(_HEADING))]
    while needed and width - sum(needed) - _GAP * len(needed) < _NAME_AT_LEAST:
        needed.pop()
    return [max(width - sum(needed) - _GAP * len(needed), 1), *needed]


def _cells(cells: Sequence[str], widths: Sequence[int]) -> str:
    parts = []
    for column, (text, width) in enumerate(zip(cells, widths, strict=False)):
        shown = clip(text, width)
        space = " " * (width - cell_len(shown))
        parts.append(space + shown if column in _RIGHT else shown + space)
    return (" " * _GAP).join(parts)


def _reason(cells: Sequence[str], widths: Sequence[int], width: int) -> str:
    name = clip(cells[0], widths[0])
    gap = " " * (widths[0] - cell_len(name) + _GAP)
    return clip(f"{name}{gap}{cells[1]}", width - cell_len(_CURSOR))
