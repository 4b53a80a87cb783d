"""A run as it stood at one moment: of now, or of the race's clock."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ...metrics import latency
from ...metrics.run import Run
from ...metrics.series import Int64Array
from .transcript import Transcript


@dataclass(frozen=True)
class Moment:
    """Times in ns, rates per second; ``None`` where there is no value. Made for one frame."""

    run: Run
    transcript: Transcript
    at: int | None
    """Time since the request was taken; ``None``: everything so far."""

    @cached_property
    def times(self) -> Int64Array:
        """When each token was available, since the request was taken; shape (n,)."""
        times = self.run.token_times - self.run.taken.t
        return times if self.at is None else times[: int(np.searchsorted(times, self.at, side="right"))]

    @property
    def ended(self) -> bool:
        """Whether nothing more comes."""
        if self.at is None:
            return self.run.end is not None
        return self.at >= length_ns(self.run)


@dataclass(frozen=True, slots=True)
class Counted:
    """The figures of a moment."""

    tokens: int
    ttft_ns: int | None
    tpot_ns: float | None
    rate: float | None


def counted(moment: Moment | None) -> Counted:
    """Return the figures of a moment; those of a lane without a run are missing."""
    if moment is None:
        return Counted(0, None, None, None)
    times = moment.times
    tpot = latency.tpot_ns(times)
    rate = None if tpot is None else latency.rate_per_second(len(times) - 1, int(times[-1]) - int(times[0]))
    return Counted(len(times), latency.ttft_ns(0, times), tpot, rate)


def length_ns(run: Run) -> int:
    """Return how long a run took; nothing as long as there is nothing of it."""
    return run.elapsed_ns or 0
