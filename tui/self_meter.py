"""What watching costs: the screen measures itself while somebody looks at the figures."""

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

import msgspec

from .output import Traffic

if TYPE_CHECKING:
    from ..metrics.series import Int64Array


class Cost(msgspec.Struct, frozen=True):
    """Figures over the time between two samples; None where there is no value."""

    screen_share: float
    """CPU time of this process / time; 1 is one core."""
    bytes_per_second: float
    frames_per_second: float
    delay_median_ns: float | None = None
    """From a token's time in the engine to the moment when the terminal has taken the frame that shows it; the median
    over all tokens shown."""
    delay_worst_ns: int | None = None
    engine_share: float | None = None
    """CPU time of the engine's process / time; None where it is no process of this machine."""


class SelfMeter:
    """Off until started, and then without a cost. ``text_handed`` and ``frame`` are called for every frame."""

    def __init__(
        self,
        traffic: Traffic,
        engine_cpu_ns: Callable[[], int | None],
        *,
        clock: Callable[[], int] = time.perf_counter_ns,
        cpu_ns: Callable[[], int] = time.process_time_ns,
    ) -> None:
        """``engine_cpu_ns`` returns the CPU time of the engine's process, None without one; ``cpu_ns`` this one's."""
        self._traffic = traffic
        self._engine_cpu_ns = engine_cpu_ns
        self._clock = clock
        self._cpu_ns = cpu_ns
        self._last: tuple[int, int, int, int, int | None] | None = None
        self._painted = 0
        self._pending: list[Int64Array] = []

    @property
    def running(self) -> bool:
        """Whether anything is measured."""
        return self._last is not None

    def start(self) -> None:
        """Measure from now on."""
        self._traffic.arrivals.clear()
        self._last = self._read()

    def stop(self) -> None:
        """Measure nothing more."""
        self._last = None
        self._pending.clear()

    def text_handed(self, times: "Int64Array", painted: int) -> None:
        """Tokens of these times (ns, shape (n,)) are to be shown with the next frame that paints text; ``painted``
        counts the lines of text painted so far."""
        if self.running and len(times):
            if not self._pending:
                self._painted = painted
            self._pending.append(times)

    def frame(self, painted: int) -> None:
        """A frame is about to go to the terminal, with ``painted`` lines of text painted so far."""
        if self._pending and painted > self._painted:
            for times in self._pending:
                self._traffic.mark(times)
            self._pending.clear()

    def sample(self) -> Cost | None:
        """Return the figures since the last sample; None when not started."""
        if self._last is None:
            return None
        (before, cpu, sent, frames, engine), now = self._last, self._read()
        self._last = now
        seconds = max(now[0] - before, 1) / 1e9
        delays = self._delays()
        return Cost(
            screen_share=(now[1] - cpu) / 1e9 / seconds,
            bytes_per_second=(now[2] - sent) / seconds,
            frames_per_second=(now[3] - frames) / seconds,
            delay_median_ns=_median(delays),
            delay_worst_ns=max(delays, default=None),
            engine_share=None if engine is None or now[4] is None else (now[4] - engine) / 1e9 / seconds,
        )

    def _read(self) -> tuple[int, int, int, int, int | None]:
        return self._clock(), self._cpu_ns(), self._traffic.bytes, self._traffic.written, self._engine_cpu_ns()

    def _delays(self) -> list[int]:
        delays: list[int] = []
        arrivals = self._traffic.arrivals
        while arrivals:
            taken, times = arrivals.popleft()
            delays += (taken - times).tolist()
        return delays


def _median(values: list[int]) -> float | None:
    if not values:
        return None
    ordered = sorted(values)
    middle = len(ordered) // 2
    return float(ordered[middle]) if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2
