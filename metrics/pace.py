"""How a token's time compares with its run."""

import math
from collections.abc import Sequence
from enum import IntEnum

import numpy as np
import numpy.typing as npt

from .series import Float64Array, Int64Array


class Pace(IntEnum):
    """Few classes, so that a screen needs few colours: ordinary is what most tokens are."""

    ORDINARY = 0
    SLOW = 1
    SLOWER = 2
    SLOWEST = 3


THRESHOLDS = (1.5, 3.0, 10.0)
"""A gap of at least this many medians is SLOW, SLOWER, SLOWEST."""


def pace(gap: int, median: float | None) -> Pace:
    """Classify one ITL (ns) against the median (ns); without a median everything is ordinary."""
    if median is None or median <= 0 or gap < THRESHOLDS[0] * median:
        return Pace.ORDINARY
    return Pace(sum(gap >= threshold * median for threshold in THRESHOLDS))


def paces(gaps: Int64Array, medians: Sequence[float | None]) -> Int64Array:
    """Classify many ITLs, each against a median of its own; shape (n,)."""
    usual = np.array([0.0 if median is None else median for median in medians], dtype=np.float64)
    classes = sum(((gaps >= threshold * usual) & (usual > 0)).astype(np.int64) for threshold in THRESHOLDS)
    return np.asarray(classes, dtype=np.int64)


class RunningMedian:
    """Median of all gaps so far to within 1 %, in constant memory and time.

    Counts in logarithmic bins (1 % wide, from 1 µs to about 20 minutes); exact while there are few values.
    """

    _BASE = 1.01
    _BINS = 2112
    _EXACT = 32

    def __init__(self) -> None:
        self._counts = [0] * self._BINS
        self._first: list[int] = []
        self._total = 0
        self._log_base = math.log(self._BASE)
        self._middle = 0
        """The bin of the median when it was last asked for."""
        self._below = 0
        """Values in the bins below that one."""
        self._followed: npt.NDArray[np.int16] = np.empty(0, dtype=np.int16)
        """The bin of each gap that was followed."""

    def add(self, gap: int) -> None:
        """Count one gap, ns."""
        if len(self._first) < self._EXACT:
            self._first.append(gap)
        bin_index = self._bin(gap)
        self._counts[bin_index] += 1
        self._below += bin_index < self._middle
        self._total += 1

    def follow(self, gaps: Sequence[int]) -> list[float | None]:
        """Count many gaps, the first ones; return the median before each of them."""
        before = []
        for gap in gaps:
            before.append(self.value)
            self.add(gap)
        self._followed = np.array([self._bin(gap) for gap in gaps], dtype=np.int16)
        return before

    def take(self, other: "RunningMedian", gaps: Int64Array) -> None:
        """Count many gaps, the first ones, which ``other`` has counted first as well; shape (n,)."""
        self._first = gaps[: self._EXACT].tolist()
        known = len(other._followed) >= len(gaps)
        bins = other._followed[: len(gaps)] if known else [self._bin(gap) for gap in gaps.tolist()]
        self._counts = np.bincount(bins, minlength=self._BINS).tolist() if len(gaps) else self._counts
        self._total = len(gaps)

    def _bin(self, gap: int) -> int:
        return min(int(math.log(gap / 1000) / self._log_base), self._BINS - 1) if gap > 1000 else 0

    @property
    def value(self) -> float | None:
        """The median in ns; ``None`` when nothing was added."""
        if self._total == 0:
            return None
        if self._total <= self._EXACT:
            return float(np.median(self._first))
        rank = (self._total + 1) // 2
        while self._below >= rank:
            self._middle -= 1
            self._below -= self._counts[self._middle]
        while self._below + self._counts[self._middle] < rank:
            self._below += self._counts[self._middle]
            self._middle += 1
        return float(1000 * self._BASE ** (self._middle + 0.5))


def thin(values: Int64Array, buckets: int) -> tuple[Int64Array, Int64Array]:
    """Thin a series for drawing without hiding its peaks.

    Splits ``values`` (shape (n,)) into at most ``buckets`` runs of equal length (the last may be shorter) and returns
    (positions, maxima): where each run begins and its largest value. Run lengths are powers of two, so that old points
    stay where they are while the series grows.
    """
    starts, _ = _runs(len(values), buckets)
    return starts, np.maximum.reduceat(values, starts) if len(values) else np.empty(0, dtype=np.int64)


def thin_to_medians(values: Int64Array, buckets: int) -> tuple[Int64Array, Float64Array]:
    """Do as ``thin`` with the median of each run: for what is ordinary, where peaks would hide it."""
    starts, step = _runs(len(values), buckets)
    whole = len(values) // step
    medians = np.median(values[: whole * step].reshape(whole, step), axis=1)
    if whole < len(starts):
        medians = np.append(medians, np.median(values[whole * step :]))
    return starts, medians


def _runs(count: int, buckets: int) -> tuple[Int64Array, int]:
    """Return where each run begins, and how long a run is."""
    if buckets < 1:
        raise ValueError(f"buckets must be at least 1, not {buckets}")
    step = 1
    while step * buckets < count:
        step *= 2
    return np.arange(0, count, step, dtype=np.int64), step
