"""How the screen is shared out between lanes, plots and table."""

from dataclasses import dataclass

_LANE_CELLS, _LANE_LINES = 29, 8
_BESIDE_FROM = 100
"""Cells of a screen from which on lanes stand beside each other."""
_PLOTS_FROM = 30
_PLOT_LINES = ((56, 12), (48, 10), (36, 7), (_PLOTS_FROM, 6))
_SENTENCE_LINES = ((48, 8), (36, 6), (30, 4), (0, 3))


_LEAST_CELLS = 60
_LEAST_LANE_LINES = 3
"""A lane: its heading, its stage and a line of its text."""


def least_size(lanes: int) -> tuple[int, int]:
    """Return the columns and lines of a screen that shows something of every part: title, race, tabs, a lane, the
    table, the sentences and the keys."""
    return _LEAST_CELLS, 3 + _LEAST_LANE_LINES + lanes + 1 + _SENTENCE_LINES[-1][1] + 1


@dataclass(frozen=True, slots=True)
class Room:
    """Lines and columns."""

    columns: int
    """Lanes beside each other."""
    rows: int
    """Lanes above each other."""
    plots: int
    """Lines of the shared plots; 0 where the lanes need them all."""
    sentences: int
    """Lines for the verdict and the notes at most."""

    @property
    def lanes(self) -> int:
        """How many lanes are in view."""
        return self.columns * self.rows


def share(width: int, height: int, lanes: int) -> Room:
    """Share a screen of this size out among so many lanes."""
    plots = next((lines for least, lines in _PLOT_LINES if height >= least), 0)
    sentences = next(lines for least, lines in _SENTENCE_LINES if height >= least)
    left = height - plots - sentences - (lanes + 1) - 4
    most = max(1, width // _LANE_CELLS) if width >= _BESIDE_FROM else 1
    rows = max(1, min(left // _LANE_LINES, -(-lanes // most)))
    # As even as can be: five lanes in two rows are three and two.
    columns = min(most, -(-lanes // rows))
    rows = min(rows, -(-lanes // columns))
    return Room(columns, rows, plots, sentences)


def in_view(lanes: int, chosen: int, room: Room) -> range:
    """Return the lanes that are in view, the chosen one among them."""
    first = min(chosen // room.lanes * room.lanes, max(lanes - room.lanes, 0))
    return range(first, min(first + room.lanes, lanes))
