"""How the height of the screen is shared out."""

from ..widgets.counters import rows_for

_PLOT_LINES = ((50, 13), (36, 9), (28, 7), (22, 5), (18, 4))


def plot_lines(height: int) -> int:
    """Return the lines for the plot on a screen of ``height``; 0 where the text needs them all."""
    return next((lines for least, lines in _PLOT_LINES if height >= least), 0)


def counter_lines(width: int, height: int) -> int:
    """Return the lines for the figures: all of them, except on a low screen."""
    needed = rows_for(width - 2)
    return min(needed, 1 if height < 14 else 2 if height < 20 else 3 if height < 30 else needed)
