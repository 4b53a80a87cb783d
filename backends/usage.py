"""What the system says of this process: who took its cores, which pages it waited for, how long it computed."""

import os
import resource
import signal
import sys
import time
from pathlib import Path
from types import FrameType

from .token_facts import Scheduling

_IO = Path("/proc/self/io")
_TASKS = "/proc/self/task"
_LINE_BYTES = 80
_MOST_THREADS = 32  # each takes about a microsecond to ask
_READ_BYTES = b"read_bytes: "

_LEAST_SUSPENDED_NS = 50_000_000
"""Shorter idleness cannot be told from the engine's own waiting."""
_LEAST_SLEEP_NS = 10_000_000
_BOOT_CLOCK = getattr(time, "CLOCK_BOOTTIME", None)

_resumed = 0
"""How often this process has been continued after a stop."""


def count_stops() -> None:
    """Let ``ProcessUsage`` notice from now on when this process was stopped; call it once, in the main thread."""
    signal.signal(signal.SIGCONT, _on_resume)
    signal.siginterrupt(signal.SIGCONT, False)


def _on_resume(_signal: int, _frame: FrameType | None) -> None:
    global _resumed
    _resumed += 1


def _slept() -> int:
    """How long the machine has been asleep since it was started, ns; 0 if no clock reports it.

    ``time.perf_counter_ns()`` stands still meanwhile, so none of our times include sleep.
    """
    return 0 if _BOOT_CLOCK is None else time.clock_gettime_ns(_BOOT_CLOCK) - time.monotonic_ns()


# macOS counts every switch that is not a sleep in its BSD layer as involuntary, waits for other threads among them.
_TELLS_SWITCHES = sys.platform != "darwin"


class ProcessUsage:
    """Counts from one moment to the next, over all threads of this process."""

    def __init__(self) -> None:
        self._before = resource.getrusage(resource.RUSAGE_SELF)
        self._read_bytes = _read_bytes()
        self._waits = _Waits()
        self._t = time.perf_counter_ns()
        self._resumed = _resumed
        self._slept = _slept()

    def take(self) -> Scheduling:
        """Return what happened since the last time, or since this object was made."""
        before, now = self._before, resource.getrusage(resource.RUSAGE_SELF)
        self._before = now
        major_faults = now.ru_majflt - before.ru_majflt
        waits = self._waits.take()
        suspended = self._suspended()
        return Scheduling(
            involuntary_switches=now.ru_nivcsw - before.ru_nivcsw if _TELLS_SWITCHES else None,
            voluntary_switches=now.ru_nvcsw - before.ru_nvcsw if _TELLS_SWITCHES else None,
            minor_faults=now.ru_minflt - before.ru_minflt,
            major_faults=major_faults,
            read_bytes=self._bytes_since() if major_faults else None,
            wait_ns=None if waits is None else waits[0],
            longest_wait_ns=None if waits is None else waits[1],
            cpu_ns=round((now.ru_utime - before.ru_utime + now.ru_stime - before.ru_stime) * 1e6) * 1000,
            suspended_ns=suspended,
        )

    def _suspended(self) -> int | None:
        """Return how long no thread could run since the last call, although none waited for a core; ``None`` unless the
        process was stopped or the machine asleep in that time.

        Idleness alone says nothing: an engine also waits for a disk and for a GPU.
        """
        since, self._t = self._t, time.perf_counter_ns()
        stops, self._resumed = _resumed - self._resumed, _resumed
        before, self._slept = self._slept, _slept()
        if not stops and self._slept - before < _LEAST_SLEEP_NS:
            return None
        busiest = self._waits.busiest
        idle = 0 if busiest is None else self._t - since - busiest
        return idle if idle >= _LEAST_SUSPENDED_NS else None

    def close(self) -> None:
        """Give back what is held open."""
        self._waits.close()

    def _bytes_since(self) -> int | None:
        before, self._read_bytes = self._read_bytes, _read_bytes()
        return None if before is None or self._read_bytes is None else self._read_bytes - before


def _read_bytes() -> int | None:
    """Bytes that this process has fetched from storage so far; ``None`` where the kernel does not tell."""
    try:
        lines = _IO.read_bytes().splitlines()
    except OSError:
        return None
    return next((int(line.removeprefix(_READ_BYTES)) for line in lines if line.startswith(_READ_BYTES)), None)


class _Waits:
    """Time in which threads ran, and were ready to run and had no core, as the scheduler of Linux counts it."""

    def __init__(self) -> None:
        self._files: dict[str, int] = {}
        self._before: dict[str, tuple[int, bytes]] = {}
        self._now: dict[str, tuple[int, bytes]] = {}
        self._links = 0
        self.take()

    def take(self) -> tuple[int, int] | None:
        """Return what was waited since the last time: all threads together, and the one that waited longest, ns.

        ``None`` where the kernel does not tell, and with so many threads that asking would disturb them.
        """
        now = {thread: times for thread, file in self._files.items() if (times := _times(file)) is not None}
        if len(now) < len(self._files) or self._links != _thread_links():
            self._follow_threads(now)
        # All that a thread waited that was not there before falls into this time.
        before, self._before, self._now = self._now, self._now, now
        waits = [times[0] - before.get(thread, _NO_TIMES)[0] for thread, times in now.items()]
        return (sum(waits), max(waits)) if waits else None

    @property
    def busiest(self) -> int | None:
        """How long the busiest thread ran and waited between the last two calls, ns; ``None`` as for ``take``."""
        before = self._before
        return max((_busy(times) - _busy(before.get(one, _NO_TIMES)) for one, times in self._now.items()), default=None)

    def close(self) -> None:
        """Close the files."""
        for file in self._files.values():
            os.close(file)
        self._files.clear()

    def _follow_threads(self, now: dict[str, tuple[int, bytes]]) -> None:
        """Open the files of new threads, close those of threads that have ended, and add the new ones to ``now``."""
        self._links = _thread_links()
        for thread in self._files.keys() - now.keys():
            os.close(self._files.pop(thread))
        threads = os.listdir(_TASKS) if self._links else []
        if len(threads) > _MOST_THREADS:
            self.close()
            now.clear()
            return
        for thread in threads:
            if thread in self._files:
                continue
            try:
                file = os.open(f"{_TASKS}/{thread}/schedstat", os.O_RDONLY | os.O_CLOEXEC)
            except OSError:  # the kernel does not count, or the thread has just ended
                continue
            times = _times(file)
            if times is None:
                os.close(file)
            else:
                self._files[thread] = file
                now[thread] = times


_NO_TIMES = (0, b"0")


def _times(file: int) -> tuple[int, bytes] | None:
    """How long the thread behind an open ``schedstat`` has waited so far and has run, ns; ``None`` once it has ended.

    The second is seldom needed, and stays as it is written.
    """
    try:
        # The columns: time on a core, time waiting for one, how often it got one.
        columns = os.pread(file, _LINE_BYTES, 0).split()
    except ProcessLookupError:
        return None
    return int(columns[1]), columns[0]


def _busy(times: tuple[int, bytes]) -> int:
    return times[0] + int(times[1])


def _thread_links() -> int:
    """A number that changes with the number of threads; 0 where there is no such folder."""
    try:
        return os.stat(_TASKS).st_nlink
    except OSError:
        return 0
