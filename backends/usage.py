"""What the system says of this process: who took its cores, which pages it waited for, how long it computed."""

import contextlib
import os
import resource
import sys
from pathlib import Path

from .token_facts import Scheduling

_IO = Path("/proc/self/io")
_TASKS = "/proc/self/task"
_LINE_BYTES = 80
_MOST_THREADS = 32  # each takes about a microsecond to ask
_READ_BYTES = b"read_bytes: "

# macOS counts every switch that is not a sleep in its BSD layer as involuntary, waits for other threads among them.
_TELLS_SWITCHES = sys.platform != "darwin"


class ProcessUsage:
    """Counts from one moment to the next, over all threads that this process has when this object is made."""

    def __init__(self) -> None:
        self._before = resource.getrusage(resource.RUSAGE_SELF)
        self._read_bytes = _read_bytes()
        self._waits = _Waits()

    def take(self) -> Scheduling:
        """Return what happened since the last time, or since this object was made."""
        before, now = self._before, resource.getrusage(resource.RUSAGE_SELF)
        self._before = now
        major_faults = now.ru_majflt - before.ru_majflt
        waits = self._waits.take()
        return Scheduling(
            involuntary_switches=now.ru_nivcsw - before.ru_nivcsw if _TELLS_SWITCHES else None,
            voluntary_switches=now.ru_nvcsw - before.ru_nvcsw if _TELLS_SWITCHES else None,
            minor_faults=now.ru_minflt - before.ru_minflt,
            major_faults=major_faults,
            read_bytes=self._bytes_since() if major_faults else None,
            wait_ns=None if waits is None else waits[0],
            longest_wait_ns=None if waits is None else waits[1],
            cpu_ns=round((now.ru_utime - before.ru_utime + now.ru_stime - before.ru_stime) * 1e6) * 1000,
        )

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
    """Time in which threads were ready to run and had no core, as the scheduler of Linux counts it."""

    def __init__(self) -> None:
        threads = _threads()
        self._files: list[int] = []
        if len(threads) <= _MOST_THREADS:
            for thread in threads:
                with contextlib.suppress(OSError):  # the kernel does not tell, or the thread has just ended
                    self._files.append(os.open(f"{_TASKS}/{thread}/schedstat", os.O_RDONLY | os.O_CLOEXEC))
        self._before = self._now()

    def take(self) -> tuple[int, int] | None:
        """Return what was waited since the last time: all threads together, and the one that waited longest, ns."""
        if not self._files:
            return None
        before, self._before = self._before, self._now()
        waits = [after - earlier for earlier, after in zip(before, self._before, strict=True)]
        return sum(waits), max(waits)

    def close(self) -> None:
        for file in self._files:
            os.close(file)
        self._files.clear()

    def _now(self) -> list[int]:
        # The columns: time on a core, time waiting for one, how often it got one.
        return [int(os.pread(file, _LINE_BYTES, 0).split()[1]) for file in self._files]


def _threads() -> list[str]:
    try:
        return os.listdir(_TASKS)
    except OSError:
        return []
