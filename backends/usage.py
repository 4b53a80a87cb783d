"""What the system says of this process: who took its cores, which pages it waited for, how long it computed."""

import resource
import sys
from pathlib import Path

from .token_facts import Scheduling

_IO = Path("/proc/self/io")
_READ_BYTES = b"read_bytes: "

# macOS counts every switch that is not a sleep in its BSD layer as involuntary, waits for other threads among them.
_TELLS_SWITCHES = sys.platform != "darwin"


class ProcessUsage:
    """Counts from one moment to the next, over all threads of this process."""

    def __init__(self) -> None:
        self._before = resource.getrusage(resource.RUSAGE_SELF)
        self._read_bytes = _read_bytes()

    def take(self) -> Scheduling:
        """Return what happened since the last time, or since this object was made."""
        before, now = self._before, resource.getrusage(resource.RUSAGE_SELF)
        self._before = now
        major_faults = now.ru_majflt - before.ru_majflt
        return Scheduling(
            involuntary_switches=now.ru_nivcsw - before.ru_nivcsw if _TELLS_SWITCHES else None,
            voluntary_switches=now.ru_nvcsw - before.ru_nvcsw if _TELLS_SWITCHES else None,
            minor_faults=now.ru_minflt - before.ru_minflt,
            major_faults=major_faults,
            read_bytes=self._bytes_since() if major_faults else None,
            cpu_ns=round((now.ru_utime - before.ru_utime + now.ru_stime - before.ru_stime) * 1e6) * 1000,
        )

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
