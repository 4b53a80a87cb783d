"""The time of every token over the run."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from .. import numbers
from ..plotting.axis import Axis, robust_ceiling
from .cells import Cells, Row, spread
from .picture import COLUMNS_AT_LEAST, LABEL_CELLS, Mark, columns_in, picture

if TYPE_CHECKING:
    from ...metrics.run import Run

_TOKENS_AT_LEAST = 32


def extent(count: int) -> int:
    """Return the length of the x axis for ``count`` gaps: a power of two, so that points keep their place until the
    axis doubles."""
    return max(_TOKENS_AT_LEAST, 1 << max(count - 1, 0).bit_length())


def plot_rows(run: "Run", axis: Axis, width: int, height: int) -> list[Row]:
    """Return the picture of a run's ITLs: a title and ``height - 1`` lines of curve with an axis in ms."""
    columns = columns_in(width)
    if columns < COLUMNS_AT_LEAST or height < 3:
        return []
    from ...metrics.pace import thin  # numpy comes after the first frame

    gaps = run.itl_ns
    x_max = extent(len(gaps))
    positions, peaks = thin(gaps, columns)
    ys = [float(peak) / 1e6 for peak in peaks]
    median = run.running_median_ns
    median_ms = None if median is None else median / 1e6
    top = axis.fit(robust_ceiling(ys, median_ms or 0.0))
    xs = [float(position) for position in positions]
    marks = [] if median_ms is None else [Mark(median_ms, "track", 2)]
    cut = any(y > top for y in ys)
    return [
        _title(run, median, ys, cut=cut, width=width),
        *picture(xs, ys, x_max=x_max, top=top, width=width, height=height - 1, marks=marks),
    ]


def _title(run: "Run", median: float | None, ys: Sequence[float], *, cut: bool, width: int) -> Row:
    right: Row = ()
    if median is not None:
        right = ((f"- - median {numbers.milliseconds(median):>8}", "dim"),)
    if cut:
        right = ((f"▲ off the scale, up to {numbers.milliseconds(max(ys) * 1e6)}", "warn"), ("   ", ""), *right)
    title = "time per token, ms" if width >= 60 else "ms"
    return spread(((f"{'':{LABEL_CELLS}} {title}", "dim"),), right, width)


class LatencyPlot(Cells):
    """As high as the screen gives it."""

    DEFAULT_CSS = """
    LatencyPlot { height: 1fr; padding: 0 1; }
    """

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._axis = Axis()
        self._run: Run | None = None

    def show(self, run: "Run | None") -> None:
        """Draw a run; nothing before its second token."""
        if run is not self._run:
            self._axis.reset()
            self._run = run
        width, height = self.content_size
        self.show_rows([] if run is None or run.token_count < 2 else plot_rows(run, self._axis, width, height))
