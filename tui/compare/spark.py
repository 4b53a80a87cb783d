"""A lane's own sparkline: the time of every token, in blocks."""

from ...metrics.pace import thin
from ...metrics.series import Int64Array
from ..plotting.axis import Axis, robust_ceiling
from ..widgets.cells import Row
from ..widgets.latency_plot import extent

_BLOCKS = " ▁▂▃▄▅▆▇█"
_LEVELS = len(_BLOCKS) - 1
_CUT = "▲"


def spark_rows(
    gaps: Int64Array, axis: Axis, median: float | None, role: str, width: int, height: int, whole: int = 0
) -> list[Row]:
    """Return ``height`` lines of ``width`` blocks from 0 upwards; what is higher than the axis is marked. ``gaps``: ns,
    shape (n,); ``median``: of them, ns; ``whole``: as many as there come to be, 0 while that is not known. Nothing
    without gaps or room."""
    if len(gaps) == 0 or width < 1 or height < 1:
        return []
    # Without a known end the scale along the tokens doubles, so that what is drawn keeps its place.
    longest = max(whole or extent(len(gaps)), len(gaps), width)
    cells = max(1, round(width * len(gaps) / longest))
    _, peaks = thin(gaps, cells)
    values = [float(peak) for peak in peaks]
    top = axis.fit(robust_ceiling(values, median or 0.0))
    rows: list[Row] = []
    for line in range(height):
        spans: list[tuple[str, str]] = []
        for value in values:
            level = max(1, round(value / top * _LEVELS * height)) if top else 0
            level -= (height - 1 - line) * _LEVELS
            text, own = _BLOCKS[min(max(level, 0), _LEVELS)], role
            if line == 0 and value > top:
                text, own = _CUT, "warn"
            if spans and spans[-1][1] == own:
                spans[-1] = (spans[-1][0] + text, own)
            else:
                spans.append((text, own))
        rows.append(tuple(spans))
    return rows
