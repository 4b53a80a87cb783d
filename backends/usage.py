"""What the system says of this process: who took its cores, which pages it waited for, how long it computed."""

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
    """Counts from one moment to the next, over all threads of this process."""

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
        self._files: dict[str, int] = {}
        self._before: dict[str, int] = {}
        self._links = 0
        self.take()

    def take(self) -> tuple[int, int] | None:
        """Return what was waited since the last time: all threads together, and the one that waited longest, ns.

        ``None`` where the kernel does not tell, and with so many threads that asking would disturb them.
        """
        now = {thread: wait for thread, file in self._files.items() if (wait := _wait(file)) is not None}
        if len(now) < len(self._files) or self._links != _thread_links():
            self._follow_threads(now)
        # All that a thread waited that was not there before falls into this time.
        waits = [wait - self._before.get(thread, 0) for thread, wait in now.items()]
        self._before = now
        return (sum(waits), max(waits)) if waits else None

    def close(self) -> None:
        """Close the files."""
        for file in self._files.values():
            os.close(file)
        self._files.clear()

    def _follow_threads(self, now: dict[str, int]) -> None:
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
            wait = _wait(file)
            if wait is None:
                os.close(file)
            else:
                self._files[thread] = file
                now[thread] = wait


def _wait(file: int) -> int | None:
    """What the thread behind an open ``schedstat`` has waited so far, ns; ``None`` once it has ended."""
    try:
        # The columns: time on a core, time waiting for one, how often it got one.
        return int(os.pread(file, _LINE_BYTES, 0).split()[1])
    except ProcessLookupError:
        return None


def _thread_links() -> int:
    """A number that changes with the number of threads; 0 where there is no such folder."""
    try:
        return os.stat(_TASKS).st_nlink
    except OSError:
        return 0
