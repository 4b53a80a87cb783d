"""How many threads an engine computes with while other programs use the same cores.

llama.cpp's threads wait for each other at a barrier after every node of the graph, without sleeping. One of them that
has no core holds up all others, so that a token takes ten or a hundred times as long; fewer threads would take little
longer than on a quiet machine.
"""

import os
import statistics
import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Protocol

import msgspec
import psutil

from .events import ThreadsReason
from .token_facts import Scheduling

_FEWEST_STEPS, _TRIAL_STEPS, _RECENT_STEPS = 4, 8, 64
_ENOUGH_NS = 500_000_000
"""Steps that took this long together are enough evidence, however few they are."""
_LEAST_SHARE = 0.1
"""A wait below this share of a step is no reason to give up a thread, however many threads there are."""
_TOLERATED = 1.25
"""Fewer threads may take this many times as long as a few steps with more of them did: those that take a hundred times
as long are rare, and seldom among a few."""
_HOLD_NS, _LONGEST_HOLD_NS = 2_000_000_000, 32_000_000_000
"""Time until the next attempt after one that gained nothing; it doubles with each further one."""
_SOON_NS = 30_000_000_000
"""Threads that are given up again within this time were added too early."""
_IDLE_SECONDS, _LONGEST_IDLE_SECONDS = 1.0, 16.0
_SAMPLE_SECONDS = 0.25
_ALMOST = 0.1
"""A core that is busy for less than this share counts as idle: no core is ever entirely idle."""


class Cores(Protocol):
    """Tells how many cores this process could have used lately."""

    def watch(self, seconds: float) -> None:
        """Observe from now on, over the last ``seconds`` each time."""
        ...

    def rest(self) -> None:
        """Stop observing."""
        ...

    @property
    def free(self) -> float | None:
        """Cores that were idle or this process's own, on average; ``None`` while it is too early to tell."""
        ...


class SystemCores:
    """The cores that this process may run on, sampled four times a second by a separate thread."""

    def __init__(self) -> None:
        self._samples: deque[tuple[float, float, float]] = deque()
        self._seconds = _IDLE_SECONDS
        self._ended: threading.Event | None = None

    def watch(self, seconds: float) -> None:
        """See ``Cores``."""
        self.rest()
        self._seconds = seconds
        self._samples = deque([_sample()])
        self._ended = threading.Event()
        threading.Thread(target=self._look, args=(self._samples, self._ended), name="cores", daemon=True).start()

    def rest(self) -> None:
        """See ``Cores``."""
        if self._ended is not None:
            self._ended.set()

    def _look(self, samples: deque[tuple[float, float, float]], ended: threading.Event) -> None:
        while not ended.wait(_SAMPLE_SECONDS):
            samples.append(_sample())
            while len(samples) > 2 and samples[-1][0] - samples[1][0] >= self._seconds:
                samples.popleft()

    @property
    def free(self) -> float | None:
        """See ``Cores``."""
        (began, idle_before, own_before), (now, idle, own) = self._samples[0], self._samples[-1]
        if now - began < self._seconds:
            return None
        return (idle - idle_before + own - own_before) / (now - began)


def _sample() -> tuple[float, float, float]:
    """Return (now, how long the cores have been idle in all, processor time of this process), seconds."""
    own = time.process_time()
    times = psutil.cpu_times(percpu=True)
    allowed = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else range(len(times))
    # A core that waits for the disk is idle too; Linux counts it separately.
    idle = sum(times[cpu].idle + getattr(times[cpu], "iowait", 0.0) for cpu in allowed if cpu < len(times))
    return time.monotonic(), idle, own


class ThreadChange(msgspec.Struct, frozen=True):
    """A different number of threads from the next step on."""

    before: int
    after: int
    why: ThreadsReason


class _Step(msgspec.Struct, frozen=True):
    tokens: int
    ns: int
    missing: float
    """Cores that threads waited for, on average."""


class ThreadGovernor:
    """Takes fewer threads while other programs keep some cores busy, and more again once cores are idle.

    A step is crowded when a thread waited for a core for at least half the share of it that the thread itself brings:
    with n threads, 1 / 2n, since the others burn their time while they wait for it. A few such steps in a row lead to
    as many threads fewer as cores were missing. What that brings is measured: where the steps are slower, the threads
    come back. Threads are added only after cores were seen idle for a second, and for twice as long after each time
    that was too early, since a step with a thread that has no core may itself take seconds.
    """

    def __init__(self, most: int, cores: Cores, clock: Callable[[], int] = time.perf_counter_ns) -> None:
        """``most``: threads on a quiet machine."""
        self.threads = self._most = most
        self._cores = cores
        self._clock = clock
        self._recent: deque[_Step] = deque(maxlen=_RECENT_STEPS)
        """Steps of one phase with as many threads as now; outside a trial from the first crowded one on."""
        self._crowded = self._uncrowded = 0
        """How many of the latest steps in a row were crowded; how many were not."""
        self._prefill = False
        self._trial: tuple[int, float] | None = None
        """During a trial of fewer threads: how many there were before, and their ns per token."""
        self._hold, self._held_until = _HOLD_NS, 0
        self._idle_seconds = _IDLE_SECONDS
        self._raised_at: int | None = None

    def after_step(self, tokens: int, ns: int, facts: Scheduling, *, prefill: bool) -> ThreadChange | None:
        """Take in a step of ``tokens`` that took ``ns``; return the resulting change, if there is one."""
        if facts.wait_ns is None or ns <= 0 or tokens <= 0:
            return None  # the system does not report who waits for a core
        if prefill != self._prefill:
            self._prefill, self._trial = prefill, None
            self._forget()
        longest = facts.wait_ns if facts.longest_wait_ns is None else facts.longest_wait_ns
        crowded = self.threads > 1 and longest >= ns * max(0.5 / self.threads, _LEAST_SHARE)
        self._crowded, self._uncrowded = (self._crowded + 1, 0) if crowded else (0, self._uncrowded + 1)
        if self._trial is None and self._uncrowded >= _FEWEST_STEPS:
            self._recent.clear()
        else:
            self._recent.append(_Step(tokens, ns, facts.wait_ns / ns))
        if self._trial is not None:
            return self._after_trial(*self._trial)
        return self._fewer() or self._more()

    def _after_trial(self, before: int, ns_per_token: float) -> ThreadChange | None:
        steps = list(self._recent)
        if not _enough(steps, _TRIAL_STEPS):
            return None
        self._trial = None
        if _pace(steps) <= _TOLERATED * ns_per_token:
            self._hold = _HOLD_NS
            return None
        self._held_until = self._clock() + self._hold
        self._hold = min(2 * self._hold, _LONGEST_HOLD_NS)
        return self._change(before, "no_gain")

    def _fewer(self) -> ThreadChange | None:
        steps = list(self._recent)
        now = self._clock()
        if now < self._held_until or not self._crowded or not _enough(steps[-self._crowded :], _FEWEST_STEPS):
            return None
        early = self._raised_at is not None and now - self._raised_at < _SOON_NS
        self._idle_seconds = min(2 * self._idle_seconds, _LONGEST_IDLE_SECONDS) if early else _IDLE_SECONDS
        missing = statistics.median(step.missing for step in steps)
        self._trial = (self.threads, _pace(steps))
        return self._change(max(1, self.threads - max(1, round(missing))), "core_taken")

    def _more(self) -> ThreadChange | None:
        free = self._cores.free if self.threads < self._most else None
        threads = 0 if free is None else min(self._most, int(free + _ALMOST))
        if threads <= self.threads:
            return None
        self._raised_at = self._clock()
        return self._change(threads, "core_idle")

    def whole(self) -> ThreadChange | None:
        """Use all threads, for results that must be the same as on a quiet machine."""
        self._trial = None
        return None if self.threads == self._most else self._change(self._most, "exact")

    def _change(self, threads: int, why: ThreadsReason) -> ThreadChange:
        change = ThreadChange(self.threads, threads, why)
        self.threads = threads
        self._forget()
        if threads < self._most:
            self._cores.watch(self._idle_seconds)
        else:
            self._cores.rest()
        return change

    def _forget(self) -> None:
        self._recent.clear()
        self._crowded = self._uncrowded = 0


def _enough(steps: list[_Step], fewest: int) -> bool:
    return len(steps) >= fewest or sum(step.ns for step in steps) >= _ENOUGH_NS


def _pace(steps: list[_Step]) -> float:
    """Nanoseconds per token. The mean: a token that took a hundred times as long is what fewer threads avoid."""
    return sum(step.ns for step in steps) / sum(step.tokens for step in steps)
