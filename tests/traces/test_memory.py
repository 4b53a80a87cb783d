"""How fast the memory of the recorded machine is, in a recording."""

from pathlib import Path

import pytest

from decodescope.backends import bandwidth
from decodescope.backends.bandwidth import Bandwidth
from decodescope.traces.memory import MemoryMeasured, bandwidth_at, memory_known
from decodescope.traces.reader import Trace, read_trace
from decodescope.traces.writer import encode_header, encoded

from ..tui.fakes import MS, ready
from .samples import HEADER, session

MEASURED = MemoryMeasured(t=10 * MS, threads=2, bytes_per_second=5e9)
LINES = encode_header(HEADER) + encoded([*session()[:2], MEASURED, *session()[2:]])


def read(tmp_path: Path, data: bytes) -> Trace:
    path = tmp_path / "some.jsonl"
    path.write_bytes(data)
    return read_trace(path)


def test_it_is_read_and_is_no_event(tmp_path: Path) -> None:
    assert read(tmp_path, LINES) == Trace(HEADER, tuple(session()), (), memory=(MEASURED,))


def test_it_counts_from_its_time_on_and_for_its_threads() -> None:
    later = MemoryMeasured(t=90 * MS, threads=2, bytes_per_second=6e9)
    asked = [(2, 9), (2, 10), (2, 89), (2, 90), (4, 90)]
    rates = [bandwidth_at([MEASURED, later], threads, t * MS) for threads, t in asked]
    assert rates == [None, 5e9, 5e9, 6e9, None]
    assert bandwidth_at([MEASURED, later], 2) == 6e9


@pytest.mark.parametrize("line", [b'"threads":0,"bytes_per_second":5e9', b'"threads":2,"bytes_per_second":-1'])
def test_what_cannot_be_is_left_out(tmp_path: Path, line: bytes) -> None:
    trace = read(tmp_path, LINES + b'{"event":"memory","t":1,' + line + b"}\n")
    assert trace.memory == (MEASURED,)
    assert len(trace.notes) == 1


def test_of_a_file_that_follows_nothing_is_known(tmp_path: Path) -> None:
    """It may have been made on another machine."""
    trace = read(tmp_path, LINES + encode_header(HEADER) + encoded(session()))
    half = len(session())
    assert bandwidth_at(trace.memory, 2, trace.events[half - 1].t) == 5e9
    assert bandwidth_at(trace.memory, 2, trace.events[-1].t) is None


def test_what_was_measured_with_the_threads_of_a_model(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = {2: Bandwidth(bytes_per_second=7e9, threads=2, block_bytes=1, measured_at=0)}
    monkeypatch.setattr(bandwidth, "cached_bandwidth", kept.get)
    (measured,) = memory_known([*session(), ready("another")])
    assert (measured.threads, measured.bytes_per_second) == (2, 7e9)
    kept.clear()
    assert memory_known(session()) == []
