"""What all lanes share: the time of every token, and the tokens over time."""

from collections.abc import Sequence
from dataclasses import dataclass

from ...metrics.pace import thin_to_medians
from ...metrics.series import Int64Array
from ..plotting.axis import Axis, nice_ceiling
from ..plotting.curve import draw_together
from ..widgets.cells import Row, row_width
from ..widgets.latency_plot import extent
from ..widgets.picture import COLUMNS_AT_LEAST, LABEL_CELLS, axis_cells, columns_in
from .marks import marker, role


@dataclass(frozen=True, slots=True)
class Curve:
    """One lane in a plot."""

    number: int
    label: str
    times: Int64Array
    """When each token was available, ns since the request was taken; shape (n,)."""


_TITLE_FROM = 40
_Points = tuple[list[float], list[float]]


def pace_rows(curves: Sequence[Curve], axis: Axis, tokens: int, width: int, height: int) -> list[Row]:
    """Return the time per token of all lanes: a title and ``height - 1`` lines with an axis in ms. Where there are more
    tokens than columns, medians are drawn: what took long is in each lane's own sparkline. ``tokens``: as many as any
    lane comes to have; 0 while that is not known. Nothing without a gap or room."""
    columns = columns_in(width)
    drawn = [curve for curve in curves if len(curve.times) > 1]
    if not drawn or columns < COLUMNS_AT_LEAST or height < 3:
        return []
    gaps = [curve.times[1:] - curve.times[:-1] for curve in drawn]
    longest = max(tokens - 1, *map(len, gaps)) if tokens else extent(max(map(len, gaps)))
    points: list[_Points] = []
    for values in gaps:
        positions, medians = thin_to_medians(values, max(1, -(-columns * len(values) // longest)))
        points.append(([float(position) for position in positions], [float(median) / 1e6 for median in medians]))
    top = axis.fit(max(_ceiling(ys) for _, ys in points))
    title = f"ms over {longest + 1:,} tokens" if width >= _TITLE_FROM else "ms"
    return _picture(drawn, points, title, x_max=float(longest), top=top, width=width, height=height)


def _ceiling(values: Sequence[float]) -> float:
    """Return how high the axis has to be: what is half as much again as nine values in ten is cut off."""
    ordered = sorted(values)
    return min(ordered[-1] * 1.1, ordered[(len(ordered) * 9 - 1) // 10] * 1.5)


def race_rows(curves: Sequence[Curve], axis: Axis, until: int, tokens: int, width: int, height: int) -> list[Row]:
    """Return the tokens over time of all lanes: a title and ``height - 1`` lines with an axis in tokens. ``until``: ns
    that the time axis has to reach at least; ``tokens``: how high the other has to be. Nothing without a token or room.
    """
    columns = columns_in(width)
    drawn = [curve for curve in curves if len(curve.times)]
    if not drawn or columns < COLUMNS_AT_LEAST or height < 3:
        return []
    end = nice_ceiling(max(until, *(int(curve.times[-1]) for curve in drawn), 1) / 1e9)
    points: list[_Points] = []
    for curve in drawn:
        step = max(1, len(curve.times) // columns)
        counts = [*range(0, len(curve.times), step)]
        if counts[-1] != len(curve.times) - 1:
            counts.append(len(curve.times) - 1)
        first = float(curve.times[0]) / 1e9
        xs = [0.0, first, *(float(curve.times[count]) / 1e9 for count in counts)]
        points.append((xs, [0.0, 0.0, *(float(count + 1) for count in counts)]))
    top = axis.fit(float(max(tokens, *(len(curve.times) for curve in drawn))))
    title = f"tokens over {end:g} s"
    return _picture(drawn, points, title, x_max=end, top=top, width=width, height=height)


def legend(curves: Sequence[Curve], room: int) -> Row:
    """Return marker and label of each lane in at most ``room`` cells; only the markers with their numbers, or nothing,
    where there is no more room."""
    for short in (False, True):
        spans: list[tuple[str, str]] = []
        for curve in curves:
            name = str(curve.number + 1) if short else curve.label
            spans += [("  " if spans else "", ""), (f"{marker(curve.number)} {name}", role(curve.number))]
        if row_width(tuple(spans)) <= room:
            return tuple(spans)
    return ()


def _picture(
    drawn: Sequence[Curve], points: Sequence[_Points], title: str, *, x_max: float, top: float, width: int, height: int
) -> list[Row]:
    columns, lines = columns_in(width), height - 1
    cells = draw_together(points, width=columns, height=lines, x_max=x_max, y_max=top)
    for number, (xs, ys) in enumerate(points):
        # Each curve carries its lane's marker where it ends.
        column = min(max(int(xs[-1] / x_max * columns), 0), columns - 1)
        line = lines - 1 - min(max(int(min(ys[-1], top) / top * lines), 0), lines - 1) if top else lines - 1
        cells[line] = [*cells[line]]
        cells[line][column] = (marker(drawn[number].number), number)
    head: Row = ((f"{'':{LABEL_CELLS}} {title}   ", "dim"),)
    rows: list[Row] = [(*head, *legend(drawn, width - row_width(head)))]
    for place, row in enumerate(cells):
        spans: list[tuple[str, str]] = []
        for character, owner in row:
            own = "" if owner < 0 else role(drawn[owner].number)
            if spans and (character == " " or spans[-1][1] == own):
                spans[-1] = (spans[-1][0] + character, spans[-1][1])
            else:
                spans.append((character, own))
        rows.append(axis_cells(place, lines, top) + tuple(spans))
    return rows
