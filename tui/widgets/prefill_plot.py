"""How fast the prompt is read, against the depth at which its tokens stand."""

from typing import TYPE_CHECKING

from ...metrics import numbers
from ..plotting.axis import Axis
from .cells import Row, spread
from .picture import COLUMNS_AT_LEAST, LABEL_CELLS, Mark, columns_in, picture

if TYPE_CHECKING:
    from ...metrics.run import Run

_HEADROOM = 1.15


def prefill_rows(run: "Run", axis: Axis, width: int, height: int) -> list[Row]:
    """Return the picture of a prefill: a title and ``height - 1`` lines with an axis in tokens per second. The curve is
    what was measured, one point for a micro-batch; the dashes are what is foreseen. Nothing before the first figure or
    without room."""
    columns = columns_in(width)
    if run.prompt is None or columns < COLUMNS_AT_LEAST or height < 3:
        return []
    fit = run.forecast.fit if run.forecast.settled else None
    if fit is None:
        return []
    depths, rates = run.forecast.rate_against_depth
    total = len(run.prompt.tokens)
    xs, ys = [float(depth) for depth in depths], [float(rate) for rate in rates]
    foreseen = [fit.rate(column / columns * total) for column in range(columns)]
    cached = int(run.prompt.cached / total * columns) if total else 0
    foreseen[:cached] = [-1.0] * cached  # was read in an earlier turn
    top = axis.fit(max([*ys, *foreseen]) * _HEADROOM)
    marks = [Mark(foreseen, "track", 2)]
    title = _title(run, width)
    return [title, *picture(xs, ys, x_max=float(total), top=top, width=width, height=height - 1, marks=marks)]


def _title(run: "Run", width: int) -> Row:
    prompt = run.prompt
    assert prompt is not None
    title = "prompt tokens read per second, by depth" if width >= 100 else "tok/s by depth"
    left: Row = ((f"{'':{LABEL_CELLS}} {title}", "dim"),)
    fit = run.forecast.fit
    right: Row = ()
    if fit is not None:
        end = numbers.rate(fit.rate(len(prompt.tokens)))
        right = ((f"- - foreseen, {end} at {len(prompt.tokens):,} tokens", "dim"),)
    return spread(left, right, width)
