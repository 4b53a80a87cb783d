"""The timeline on the screen: what happened when, where the replay stands, and the mouse on it."""

from collections.abc import Callable, Sequence

from textual.events import MouseDown, MouseMove, MouseUp
from textual.message import Message

from ..widgets.cells import Cells, Row
from .timeline import Part, Timeline

_SIGNS = {Part.LOAD: "░", Part.READ: "▒", Part.WRITE: "─"}
_LABELS = {Part.LOAD: "load, warm-up", Part.READ: "read", Part.WRITE: "write"}
_CURSOR, _DISTURBED, _NOTHING = "┃", "▾", "·"
_GOLDEN = 0.618034
_MOST_MARKED = 8
"""One in so many of a wide recording's cells may be marked for few of its tokens before marks would say nothing."""


def cell_of(position: int, length: int, width: int) -> int:
    """Return the cell of a position, from 0."""
    return min(position * width // (length + 1), width - 1) if width > 0 else 0


def position_at(cell: int, length: int, width: int) -> int:
    """Return the position of a cell; the last one is the end."""
    return length if cell >= width - 1 else max(cell, 0) * (length + 1) // max(width, 1)


def signs(timeline: Timeline, width: int) -> list[str]:
    """Return what goes on in each cell; a part that is too short for a cell of its own is left out for a longer one."""
    cells = [_NOTHING] * width
    for span in timeline.spans:
        first, last = (cell_of(at, timeline.length, width) for at in (span.start, span.end))
        for cell in range(first, last + 1):
            cells[cell] = _SIGNS[span.part]
    return cells


def marked_cells(
    timeline: Timeline, longest: Callable[[range], int], disturbed: Callable[[range], int], width: int
) -> set[int]:
    """Return the cells to be marked: those of whose tokens at least half are disturbed, and of the others with a
    disturbed token as many as still say something, the worst first.

    ``longest``, ``disturbed``: as for ``Track.load``.
    """
    whole = timeline.length + 1
    worst = {}
    mostly = set()
    for cell in range(width):
        # As ``cell_of``: the cells share the whole, rounded down.
        start, end = -(-cell * whole // width), -(-(cell + 1) * whole // width)
        tokens = timeline.tokens_within(start, end)
        if taken := longest(tokens):
            worst[cell] = taken
            if 2 * disturbed(tokens) >= len(tokens):
                mostly.add(cell)
    # Equal ones are spread over the whole, in the order of the golden ratio.
    order = sorted(worst, key=lambda cell: (-worst[cell], cell * _GOLDEN % 1))
    return mostly | set(order[: max(width // _MOST_MARKED, 1)])


def track_row(cells: Sequence[str], marked: set[int], cursor: int) -> Row:
    """Return the line: what has passed is bright, disturbed tokens are marked, the cursor stands where it is now."""
    spans: list[tuple[str, str]] = []
    for cell, sign in enumerate(cells):
        if cell == cursor:
            text, role = _CURSOR, "strong"
        elif cell in marked:
            text, role = _DISTURBED, "warn"
        else:
            text, role = sign, "accent" if cell < cursor else "track"
        if spans and spans[-1][1] == role:
            spans[-1] = (spans[-1][0] + text, role)
        else:
            spans.append((text, role))
    return tuple(spans)


def legend_row(timeline: Timeline, width: int, *, marks: bool) -> Row:
    """Return what the signs mean, each word below its part where it fits."""
    told = [
        (cell_of(span.start, timeline.length, width), f"{_SIGNS[span.part]} {_LABELS[span.part]}")
        for span in timeline.spans
    ]
    if _NOTHING in (cells := signs(timeline, width)):
        told.append((cells.index(_NOTHING), f"{_NOTHING} idle"))
    text = ""
    rest = sum(len(label) + 2 for _, label in told)
    for at, label in sorted(told):
        rest -= len(label) + 2
        # No further to the right than leaves room for those that follow.
        start = max(min(at, width - len(label) - rest), len(text) + (2 if text else 0))
        if start + len(label) <= width:
            text = text.ljust(start) + label
    mark = f"{_DISTURBED} disturbed"
    if marks and len(text) + 2 + len(mark) <= width:
        return ((text, "dim"), (" " * (width - len(text) - len(mark)), ""), (mark, "warn"))
    return ((text, "dim"),)


class Track(Cells):
    """A line to click on and drag along."""

    DEFAULT_CSS = """
    Track { padding: 0 1; background: $surface; }
    """

    class Moved(Message):
        """The reader went to a position."""

        def __init__(self, position: int) -> None:
            super().__init__()
            self.position = position

        def can_replace(self, message: Message) -> bool:
            """Only the newest place counts."""
            return isinstance(message, Track.Moved)

    def __init__(self) -> None:
        super().__init__(id="track")
        self._timeline: Timeline | None = None
        self._longest: Callable[[range], int] = len
        self._disturbed: Callable[[range], int] = len
        self._drawn: tuple[int, list[str], set[int]] = (0, [], set())
        self._dragging = False

    def load(self, timeline: Timeline, longest: Callable[[range], int], disturbed: Callable[[range], int]) -> None:
        """Show another timeline; ``longest`` returns the longest time of a disturbed token among some (from 0), ns,
        ``disturbed`` how many of them are."""
        self._timeline, self._longest, self._disturbed = timeline, longest, disturbed
        self._drawn = (0, [], set())

    def show(self, position: int) -> None:
        """Draw where the replay stands."""
        width, height = self.content_size
        if self._timeline is None or width < 1:
            return
        if self._drawn[0] != width:
            timeline = self._timeline
            marked = marked_cells(timeline, self._longest, self._disturbed, width)
            self._drawn = (width, signs(timeline, width), marked)
        _, cells, marked = self._drawn
        rows = [track_row(cells, marked, cell_of(position, self._timeline.length, width))]
        if height > 1:
            rows.append(legend_row(self._timeline, width, marks=bool(marked)))
        self.show_rows(rows)

    def on_mouse_down(self, event: MouseDown) -> None:
        """Go there, and follow the mouse."""
        self._dragging = True
        self.capture_mouse()
        self._go_to(event)

    def on_mouse_move(self, event: MouseMove) -> None:
        """Follow the mouse while it is held down."""
        if self._dragging:
            self._go_to(event)

    def on_mouse_up(self, event: MouseUp) -> None:
        """Leave the mouse."""
        self._dragging = False
        self.release_mouse()

    def _go_to(self, event: MouseDown | MouseMove) -> None:
        if self._timeline is not None:
            cell = event.get_content_offset_capture(self).x
            self.post_message(self.Moved(position_at(cell, self._timeline.length, self.content_size.width)))
