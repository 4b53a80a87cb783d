"""A curve as lines of characters, drawn by plotext."""

import math
import threading
from collections.abc import Sequence

_LOCK = threading.Lock()
"""plotext draws into one figure of its module."""

_ROWS_OF_DOTS = ("⣀", "⠤", "⠒", "⠉")
"""A level within one character, from the bottom."""


def level(y: float, *, height: int, y_max: float) -> tuple[int, str] | None:
    """Return the line (0 is the top one) and the character that mark ``y`` in a picture of ``draw``'s, to the dot; None
    when it is not within it."""
    if height < 1 or not math.isfinite(y) or y_max <= 0 or not 0 <= y <= y_max:
        return None
    dot = round(y / y_max * (height * len(_ROWS_OF_DOTS) - 1))
    row, within = divmod(dot, len(_ROWS_OF_DOTS))
    return height - 1 - row, _ROWS_OF_DOTS[within]


def preload() -> None:
    """Import plotext, which takes a few tenths of a second."""
    import plotext  # noqa: F401


def draw(
    xs: Sequence[float],
    ys: Sequence[float],
    *,
    width: int,
    height: int,
    x_max: float,
    y_max: float,
) -> list[str]:
    """Return ``height`` lines of ``width`` characters without any escape sequence.

    The curve joins the points (xs, ys) in braille; the axes run from 0 to ``x_max`` and ``y_max``. Points that are not
    finite are left out; higher ones are cut off at the top.
    """
    if width < 1 or height < 1:
        return []
    points = [
        (x, min(y, y_max)) for x, y in zip(xs, ys, strict=True) if math.isfinite(x) and math.isfinite(y) and y_max > 0
    ]
    if not points:
        return [" " * width] * height
    with _LOCK:
        import plotext as plt

        plt.clear_figure()
        plt.theme("clear")
        plt.limitsize(False, False)
        plt.plot_size(width, height)
        plt.frame(False)
        plt.xticks([], [])
        plt.yticks([], [])
        plt.xlim(0, x_max)
        plt.ylim(0, y_max)
        plt.plot([x for x, _ in points], [y for _, y in points], marker="braille")
        drawn = str(plt.build())
        plt.clear_figure()
    lines = drawn.replace("\x1b[0m", "").splitlines()[:height]
    return [line[:width].ljust(width) for line in lines] + [" " * width] * (height - len(lines))
