"""Lines that tell how fast the memory of the recorded machine is, which sets the floor of the time per token."""

import time
from collections.abc import Iterable, Sequence

import msgspec

from ..backends.events import Event, ModelReady
from .lanes import Record


class MemoryMeasured(msgspec.Struct, frozen=True, kw_only=True, tag_field="event", tag="memory"):
    """From here on this is known of the machine. No event: no engine tells it."""

    t: int
    """When it became known, ns on the clock of the events."""
    threads: int
    bytes_per_second: float | None
    """What so many threads read together; ``None``: it is not known."""


Written = Record | MemoryMeasured
"""Whatever stands in a recording below its header."""


def memory_known(events: Iterable[Event]) -> list[MemoryMeasured]:
    """Return what has been measured on this machine with as many threads as the models use that became ready."""
    from ..backends.bandwidth import cached_bandwidth

    threads = dict.fromkeys(event.threads for event in events if isinstance(event, ModelReady))
    return [
        MemoryMeasured(t=time.perf_counter_ns(), threads=one.threads, bytes_per_second=one.bytes_per_second)
        for one in map(cached_bandwidth, threads)
        if one is not None
    ]


def bandwidth_at(memory: Sequence[MemoryMeasured], threads: int, t: int | None = None) -> float | None:
    """Return the bytes per second that so many threads read, as was known at ``t``, or at the end; ``None``: it was
    not."""
    known = [one for one in memory if one.threads == threads and (t is None or one.t <= t)]
    return known[-1].bytes_per_second if known else None
