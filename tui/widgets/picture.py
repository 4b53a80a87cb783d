"""A curve with its axis and its marked levels, as rows of cells."""

from collections.abc import Collection, Mapping, Sequence

import msgspec

from ..plotting.axis import tick_label
from ..plotting.curve import draw, level
from .cells import Row

LABEL_CELLS = 5
"""Cells of the axis' labels, the one between them and the axis included."""
COLUMNS_AT_LEAST = 8
_FREE = " \u2800"
_SIGNS = "▲▾"


class Mark(msgspec.Struct, frozen=True):
    """A level, or a curve of one, drawn across the picture wherever the curve itself leaves room."""

    y: float | Sequence[float]
    """Where; a value for each column, or one for all."""
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
    flags: Collection[int] = (),
) -> list[Row]:
    """Return ``height`` rows: the curve through (xs, ys), which is cut at ``top``, and marked where it is; the axis at
    the left, from 0 to ``top``. Of marks in the same cell the first one is drawn. ``flags``: columns that
    are pointed at from the top."""
    columns = columns_in(width)
    lines = draw(xs, ys, width=columns, height=height, x_max=x_max, y_max=top)
    cut = {int(x / x_max * columns) for x, y in zip(xs, ys, strict=True) if y > top} if top else set()
    dashes = _dashes(marks, columns, len(lines), top)
    rows: list[Row] = []
    for number, line in enumerate(lines):
        axis = axis_cells(number, len(lines), top)
        if number == 0 and cut:
            line = "".join("▲" if column in cut else character for column, character in enumerate(line))
        if number == 0 and flags:
            line = "".join("▾" if column in flags and drawn != "▲" else drawn for column, drawn in enumerate(line))
        rows.append(axis + _spans(line, dashes[number]))
    return rows


def _dashes(marks: Sequence[Mark], columns: int, height: int, top: float) -> list[dict[int, tuple[str, str]]]:
    """Return for each line which (character, role) stands in which column."""
    dashes: list[dict[int, tuple[str, str]]] = [{} for _ in range(height)]
    for mark in marks:
        for column in range(0, columns, mark.every):
            y = mark.y if isinstance(mark.y, float | int) else mark.y[column]
            place = level(y, height=height, y_max=top)
            if place is not None:
                dashes[place[0]].setdefault(column, (place[1], mark.role))
    return dashes


def axis_cells(number: int, height: int, top: float) -> Row:
    """Return the axis, from 0 to ``top``, in one of ``height`` lines; line 0 is the highest."""
    at_an_end = number in (0, height - 1)
    return ((_label(number, height, top), "dim"), ("┤" if at_an_end else "│", "track"))


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


def _spans(line: str, dashes: Mapping[int, tuple[str, str]]) -> Row:
    """Give a line of curve its roles; dashes stand in cells that the curve leaves free."""
    spans: list[tuple[str, str]] = []
    for column, drawn in enumerate(line):
        character, role = drawn, "accent"
        if drawn in _SIGNS:
            role = "warn"
        elif drawn in _FREE:
            character, role = dashes.get(column, (" ", ""))
        if spans and (character == " " or spans[-1][1] == role):
            spans[-1] = (spans[-1][0] + character, spans[-1][1])
        else:
            spans.append((character, role))
    return tuple(spans)
