"""A curve as lines of characters, drawn by plotext."""

import math
import re
import threading
from collections.abc import Sequence

_LOCK = threading.Lock()
"""plotext draws into one figure of its module."""

_COLORED = re.compile(r"\x1b\[([0-9;]*)m|(.)")

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
    together = draw_together([(xs, ys)], width=width, height=height, x_max=x_max, y_max=y_max)
    return ["".join(character for character, _ in line) for line in together]


Cell = tuple[str, int]
"""A character, and the number of the curve that it belongs to (from 0), -1 for none."""


def draw_together(
    curves: Sequence[tuple[Sequence[float], Sequence[float]]],
    *,
    width: int,
    height: int,
    x_max: float,
    y_max: float,
) -> list[list[Cell]]:
    """Return ``height`` lines of ``width`` cells with several curves, as ``draw`` does with one; where they meet, the
    last one is seen."""
    if width < 1 or height < 1:
        return []
    empty: list[Cell] = [(" ", -1)] * width
    finite = [_finite(xs, ys, y_max) for xs, ys in curves]
    if not any(finite):
        return [empty] * height
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
        for number, points in enumerate(finite):
            if points:
                # The colour tells whose cell it is.
                plt.plot([x for x, _ in points], [y for _, y in points], marker="braille", color=number + 1)
        drawn = str(plt.build())
        plt.clear_figure()
    lines = [_cells(line)[:width] for line in drawn.splitlines()[:height]]
    return [line + empty[len(line) :] for line in lines] + [empty] * (height - len(lines))


def _finite(xs: Sequence[float], ys: Sequence[float], y_max: float) -> list[tuple[float, float]]:
    return [
        (x, min(y, y_max)) for x, y in zip(xs, ys, strict=True) if math.isfinite(x) and math.isfinite(y) and y_max > 0
    ]


def _cells(line: str) -> list[Cell]:
    cells: list[Cell] = []
    owner = -1
    for color, character in _COLORED.findall(line):
        if character:
            cells.append((character, owner))
        else:
            number = color.rpartition(";")[2]
            owner = int(number) - 1 if color.startswith("38;5;") else -1
    return cells
