"""A curve with its axis and its marked levels, as rows of cells."""

from collections.abc import Sequence
from dataclasses import dataclass

from ..plotting.axis import tick_label
from ..plotting.curve import draw, level
from .cells import Row

LABEL_CELLS = 5
"""Cells of the axis' labels, the one between them and the axis included."""
COLUMNS_AT_LEAST = 8


@dataclass(frozen=True, slots=True)
class Mark:
    """A level drawn across the picture wherever the curve leaves room."""

    y: float
    role: str
    every: int
    """Cells from one dash to the next."""


def columns_in(width: int) -> int:
    """Return the cells of the curve in a picture of ``width``."""
    return width - LABEL_CELLS - 1


def picture(
    xs: Sequence[float],
    ys: Sequence[float],
    *,
    x_max: float,
    top: float,
    width: int,
    height: int,
    marks: Sequence[Mark],
) -> list[Row]:
    """Return ``height`` rows: the curve through (xs, ys), which is cut at ``top``, and marked where it is; the axis at
    the left, from 0 to ``top``. Of marks in the same cell the first one is drawn."""
    columns = columns_in(width)
    lines = draw(xs, ys, width=columns, height=height, x_max=x_max, y_max=top)
    cut = {int(x / x_max * columns) for x, y in zip(xs, ys, strict=True) if y > top} if top else set()
    places = [(place, mark) for mark in marks if (place := level(mark.y, height=len(lines), y_max=top)) is not None]
    rows: list[Row] = []
    for number, line in enumerate(lines):
        at_an_end = number in (0, len(lines) - 1)
        axis: Row = ((_label(number, len(lines), top), "dim"), ("┤" if at_an_end else "│", "track"))
        if number == 0 and cut:
            line = "".join("▲" if column in cut else character for column, character in enumerate(line))
        dashes = [(character, mark) for (row, character), mark in places if row == number]
        rows.append(axis + _spans(line, dashes))
    return rows


def _label(number: int, height: int, top: float) -> str:
    if top == 0:
        text = ""
    elif number == 0:
        text = tick_label(top)
    elif number == height - 1:
        text = "0"
    elif height % 2 and number == height // 2:
        text = tick_label(top / 2)
    else:
        text = ""
    return f"{text:>{LABEL_CELLS - 1}} "


def _spans(line: str, dashes: Sequence[tuple[str, Mark]]) -> Row:
    """Give a line of curve its roles; dashes stand in cells that the curve leaves free."""
    spans: list[tuple[str, str]] = []
    for column, drawn in enumerate(line):
        character, role = drawn, "accent"
        if drawn == "▲":
            role = "warn"
        elif drawn in " \u2800":
            character, role = next(((dash, mark.role) for dash, mark in dashes if column % mark.every == 0), (" ", ""))
        if spans and (character == " " or spans[-1][1] == role):
            spans[-1] = (spans[-1][0] + character, spans[-1][1])
        else:
            spans.append((character, role))
    return tuple(spans)
