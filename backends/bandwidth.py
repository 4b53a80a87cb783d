"""How fast this machine reads its memory: measured once, kept in the user's cache folder.

Reads are timed, since reading is what decode does with the weights. Of numpy's reductions ``maximum`` over float32
comes closest to a pure read: it is vectorised with several accumulators and waits for memory, where ``add`` (a pairwise
sum) and ``count_nonzero`` wait for the processor and reach half of it; ``dot`` and ``bitwise_or`` lie between. numpy
lets go of the interpreter's lock meanwhile, so threads read side by side.
"""

import contextlib
import os
import platform
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import psutil

from ..models.user_folders import own_folder
from .free_memory import available_bytes
from .state_file import locked, replace

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Float32Array = npt.NDArray[np.float32]

_FILE = "bandwidth.json"
_FILE_LIMIT = 1 << 16
_KEPT = 16
_YEAR_10000 = 253_402_300_800
_BLOCK_BYTES = 256 << 20
_LEAST_BYTES = 16 << 20
_MEMORY_SHARE = 8
_LEAST_ROUNDS = 3
_BUDGET_NS = 300_000_000


class Bandwidth(msgspec.Struct, frozen=True, kw_only=True):
    """A measurement."""

    bytes_per_second: float
    threads: int
    """How many read at the same time."""
    block_bytes: int
    """How much they read in one round, all together."""
    measured_at: int
    """Seconds since 1970, UTC."""


class BandwidthError(Exception):
    """There is too little memory to measure in; the message says so."""


class _Cache(msgspec.Struct, frozen=True, kw_only=True):
    machine: str
    measurements: list[Bandwidth]


def cache_file() -> Path | None:
    """Return where measurements are kept; ``None`` for a user without a home."""
    folder = own_folder("cache")
    return None if folder is None else folder / _FILE


def cached_bandwidths() -> list[Bandwidth]:
    """Return what was measured on this machine, the newest first; empty without anything usable. Loads no numpy."""
    path = cache_file()
    if path is None:
        return []
    try:
        with path.open("rb") as file:
            cache = msgspec.json.decode(file.read(_FILE_LIMIT), type=_Cache)
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return []
    if cache.machine != _machine():
        return []
    return sorted(filter(_plausible, cache.measurements), key=lambda one: one.measured_at, reverse=True)


def _plausible(one: Bandwidth) -> bool:
    return one.threads >= 1 and 0 < one.bytes_per_second < 1e15 and 0 <= one.measured_at < _YEAR_10000


def cached_bandwidth(threads: int) -> Bandwidth | None:
    """Return what was measured on this machine with that many threads, ``None`` when nothing was. Loads no numpy."""
    return next((one for one in cached_bandwidths() if one.threads == threads), None)


def measure_bandwidth(threads: int) -> Bandwidth:
    """Measure with as many threads as the engine uses, while nothing else computes, and keep the result.

    Takes about half a second and up to 256 MiB, an eighth of the available memory where that is less. The best round
    counts: whatever disturbs a round only makes it slower. The cache's folder need not be writable. Raises
    BandwidthError.
    """
    if threads < 1:
        raise ValueError(f"threads must be at least 1, not {threads}")
    block = min(_BLOCK_BYTES, available_bytes() // _MEMORY_SHARE)
    if block < _LEAST_BYTES:
        raise BandwidthError("There is too little free memory to measure the memory bandwidth.")
    readers = min(threads, os.cpu_count() or threads)
    try:
        best = _fastest_round(readers, block // readers // 4)
    except MemoryError as error:
        raise BandwidthError("There is too little free memory to measure the memory bandwidth.") from error
    measured = Bandwidth(bytes_per_second=best, threads=threads, block_bytes=block, measured_at=int(time.time()))
    with contextlib.suppress(OSError):  # a folder that cannot be written costs another measurement, no more
        _keep(measured)
    return measured


def _fastest_round(readers: int, values: int) -> float:
    """Return the bytes per second of the fastest round, ``values`` floats per reader."""
    import numpy as np

    # Touched with something other than zero: pages that were never written are all one page of zeros.
    blocks = [np.full(values, 1.0, dtype=np.float32) for _ in range(readers)]
    rates: list[float] = []
    started = time.perf_counter_ns()
    while len(rates) < _LEAST_ROUNDS or time.perf_counter_ns() - started < _BUDGET_NS:
        rates.append(readers * values * 4e9 / _round_ns(blocks))
    return max(rates)


def _round_ns(blocks: "list[Float32Array]") -> int:
    """Read all blocks at the same time; from the first thread's start to the last one's end."""
    import numpy as np

    spans: list[tuple[int, int]] = []
    together = threading.Barrier(len(blocks))

    def read(block: "Float32Array") -> None:
        together.wait()
        start = time.perf_counter_ns()
        np.maximum.reduce(block)
        spans.append((start, time.perf_counter_ns()))

    threads = [threading.Thread(target=read, args=(block,), name="bandwidth") for block in blocks]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return max(1, max(end for _, end in spans) - min(start for start, _ in spans))


def _keep(measured: Bandwidth) -> None:
    path = cache_file()
    if path is None:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    # Without a lock too: at worst a measurement is repeated.
    with locked(path):
        others = [one for one in cached_bandwidths() if one.threads != measured.threads]
        cache = _Cache(machine=_machine(), measurements=[measured, *others][:_KEPT])
        replace(path, msgspec.json.encode(cache))


def _machine() -> str:
    """Return what tells machines of different bandwidth apart; a home folder may be shared by several."""
    memory = round(psutil.virtual_memory().total / 2**28)
    return f"{platform.machine()}, {os.cpu_count()} × {processor_name()}, {memory} × 256 MiB"


def processor_name() -> str:
    """Return the name of the processor, as the system gives it."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
            names = (line.partition(":")[2].strip() for line in file if line.startswith(("model name", "cpu model")))
            return next(names, platform.processor())
    except OSError:  # not Linux
        return platform.processor()
