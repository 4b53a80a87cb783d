"""The time of every token over the run, with the floor that memory sets."""

from typing import TYPE_CHECKING

from ...metrics import numbers
from ..plotting.axis import Axis, robust_ceiling
from .cells import Row, row_width, spread
from .picture import COLUMNS_AT_LEAST, LABEL_CELLS, Mark, columns_in, picture

if TYPE_CHECKING:
    from ...metrics.floor import MemoryFloor
    from ...metrics.run import Run

_TOKENS_AT_LEAST = 32


def extent(count: int) -> int:
    """Return the length of the x axis for ``count`` gaps: a power of two, so that points keep their place until the
    axis doubles."""
    return max(_TOKENS_AT_LEAST, 1 << max(count - 1, 0).bit_length())


def latency_rows(run: "Run", floor: "MemoryFloor | None", axis: Axis, width: int, height: int) -> list[Row]:
    """Return the picture of a run's ITLs: a title and ``height - 1`` lines of curve with an axis in ms; nothing before
    the second token or without room."""
    columns = columns_in(width)
    if run.token_count < 2 or columns < COLUMNS_AT_LEAST or height < 3:
        return []
    from ...metrics.pace import thin  # numpy comes after the first frame

    gaps = run.itl_ns
    x_max = extent(len(gaps))
    positions, peaks = thin(gaps, columns)
    xs = [float(position) for position in positions]
    ys = [float(peak) / 1e6 for peak in peaks]
    median = run.median_ns
    top = axis.fit(robust_ceiling(ys, (median or 0.0) / 1e6))
    marks = [] if median is None else [Mark(median / 1e6, "track", 2)]
    if floor is not None:
        marks.append(Mark(_floor_along(floor, run, x_max, columns), "good", 3))
    highest = max(ys)
    flags = {int(position * columns / x_max) for position in run.outliers[1:].nonzero()[0].tolist()}
    title = _title(run, floor, median, highest if highest > top else None, width, disturbed=bool(flags))
    return [title, *picture(xs, ys, x_max=x_max, top=top, width=width, height=height - 1, marks=marks, flags=flags)]


def _floor_along(floor: "MemoryFloor", run: "Run", x_max: int, columns: int) -> list[float]:
    """The floor of the gap in each column, ms; it rises with the context."""
    before = (run.prompt_tokens or 0) + 1
    return [floor.ns(before + column / columns * x_max) / 1e6 for column in range(columns)]


def _title(
    run: "Run", floor: "MemoryFloor | None", median: float | None, cut: float | None, width: int, *, disturbed: bool
) -> Row:
    """``cut``: the highest value in ns, where it does not fit."""
    from ...metrics.floor import bandwidth_use

    parts: list[Row] = []
    if cut is not None:
        parts.append(((f"▲ off the scale, up to {numbers.milliseconds(cut * 1e6)}", "warn"),))
    if median is not None:
        parts.append(((f"- - median {numbers.milliseconds(median):>8}", "dim"),))
    if floor is not None:
        text = f"-  - floor {numbers.milliseconds(floor.ns(run.context_used)):>8}"
        use = bandwidth_use(run, floor)
        parts.append(((text, "good"),))
        if use is not None and width >= 110:
            parts.append(((f"{numbers.whole_percent(use)} of the memory's bandwidth in use", "dim"),))
    title = "time per token, ms" if width >= (110 if disturbed else 60) else "ms"
    left: Row = ((f"{'':{LABEL_CELLS}} {title}", "dim"),)
    if disturbed and width >= 60:
        left = (*left, ("   ▾ disturbed", "warn"))
    while parts and row_width(left) + row_width(_joined(parts)) >= width:
        parts.pop()
    return spread(left, _joined(parts), width)


def _joined(parts: list[Row]) -> Row:
    joined: Row = ()
    for part in parts:
        joined = (*joined, ("   ", ""), *part) if joined else part
    return joined
