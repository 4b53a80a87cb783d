"""The time of every token over the run."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from .. import numbers
from ..plotting.axis import Axis, robust_ceiling, tick_label
from ..plotting.curve import draw, level
from .cells import Cells, Row, spread

if TYPE_CHECKING:
    from ...metrics.run import Run

_LABEL_CELLS = 5
_TOKENS_AT_LEAST = 32


def extent(count: int) -> int:
    """Return the length of the x axis for ``count`` gaps: a power of two, so that points keep their place until the
    axis doubles."""
    return max(_TOKENS_AT_LEAST, 1 << max(count - 1, 0).bit_length())


def plot_rows(run: "Run", axis: Axis, width: int, height: int) -> list[Row]:
    """Return the picture of a run's ITLs: a title and ``height - 1`` lines of curve with an axis in ms."""
    columns = width - _LABEL_CELLS - 1
    if columns < 8 or height < 3:
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
    lines = draw(xs, ys, width=columns, height=height - 1, x_max=x_max, y_max=top)
    cut = {int(x / x_max * columns) for x, y in zip(xs, ys, strict=True) if y > top} if top else set()
    mark = None if median_ms is None else level(median_ms, height=len(lines), y_max=top)
    rows = [_title(run, median, ys, cut=bool(cut), width=width)]
    for number, line in enumerate(lines):
        at_an_end = number in (0, len(lines) - 1)
        row: Row = ((_label(number, len(lines), top), "dim"), ("┤" if at_an_end else "│", "track"))
        if number == 0 and cut:
            line = "".join("▲" if column in cut else character for column, character in enumerate(line))
        rows.append(row + _spans(line, mark[1] if mark is not None and mark[0] == number else ""))
    return rows


def _title(run: "Run", median: float | None, ys: Sequence[float], *, cut: bool, width: int) -> Row:
    right: Row = ()
    if median is not None:
        right = ((f"- - median {numbers.milliseconds(median):>8}", "dim"),)
    if cut:
        right = ((f"▲ off the scale, up to {numbers.milliseconds(max(ys) * 1e6)}", "warn"), ("   ", ""), *right)
    title = "time per token, ms" if width >= 60 else "ms"
    return spread(((f"{'':{_LABEL_CELLS}} {title}", "dim"),), right, width)


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
    return f"{text:>{_LABEL_CELLS - 1}} "


def _spans(line: str, median: str) -> Row:
    """Give a line of curve its roles; ``median`` marks every second cell that the curve leaves free."""
    spans: list[tuple[str, str]] = []
    for column, drawn in enumerate(line):
        character, role = drawn, "accent"
        if drawn == "▲":
            role = "warn"
        elif drawn in " \u2800":
            character, role = (median, "track") if median and column % 2 == 0 else (" ", "")
        if spans and (character == " " or spans[-1][1] == role):
            spans[-1] = (spans[-1][0] + character, spans[-1][1])
        else:
            spans.append((character, role))
    return tuple(spans)


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
