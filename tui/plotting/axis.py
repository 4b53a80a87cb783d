"""An axis from zero that keeps still."""

import math
from collections.abc import Sequence

_STEPS = (1.0, 2.0, 3.0, 4.0, 6.0, 8.0, 10.0)
_SHRINK_BELOW = 0.5
_SHRINK_AFTER = 4
_MEDIANS = 4.0
_HEADROOM = 1.1


def nice_ceiling(value: float) -> float:
    """Return the smallest nice number that is not below ``value`` (> 0); its half is nice as well."""
    magnitude = 10.0 ** math.floor(math.log10(value))
    # Rounding errors must not push 3.0000001 to the next step.
    return next(step * magnitude for step in (*_STEPS, 20.0) if step * magnitude >= value * (1 - 1e-9))


def robust_ceiling(values: Sequence[float], median: float) -> float:
    """Return how high an axis has to be: above every value, but not above a multiple of the median or of what nine
    values in ten stay below, so that single outliers do not flatten the rest. 0 without values."""
    finite = sorted(value for value in values if math.isfinite(value))
    if not finite:
        return 0.0
    common = finite[math.ceil(0.9 * len(finite)) - 1]
    return min(finite[-1] * _HEADROOM, max(_MEDIANS * median, 1.5 * common))


class Axis:
    """Grows at once, shrinks only when it has long been far too high."""

    def __init__(self) -> None:
        self._top = 0.0
        self._too_high = 0

    @property
    def top(self) -> float:
        """The value at the upper end; 0 before the first fit."""
        return self._top

    def reset(self) -> None:
        """Forget the scale, for another run."""
        self._top = 0.0
        self._too_high = 0

    def fit(self, needed: float) -> float:
        """Return the top to draw with, given how high it has to be."""
        if not math.isfinite(needed) or needed <= 0:
            return self._top
        if needed > self._top:
            self._top, self._too_high = nice_ceiling(needed), 0
        elif needed < _SHRINK_BELOW * self._top:
            self._too_high += 1
            if self._too_high >= _SHRINK_AFTER:
                self._top, self._too_high = nice_ceiling(needed), 0
        else:
            self._too_high = 0
        return self._top


def tick_label(value: float) -> str:
    """Return a tick in at most four characters: ``0``, ``7.5``, ``12``, ``1.5k``."""
    if value >= 1000:
        return f"{value / 1000:.3g}k"
    return f"{value:.3g}"
