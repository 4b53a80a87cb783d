"""Models found and read beside other work."""

import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from decodescope.models import scan as scan_module
from decodescope.models.candidates import Candidate
from decodescope.models.discovery import Found, look
from decodescope.models.scan import Scan

from ..conftest import DEADLINE_SECONDS
from .gguf_files import write
from .stores import other_model

pytestmark = pytest.mark.usefixtures("without_demo")


def happened(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + DEADLINE_SECONDS
    while not condition():
        assert time.monotonic() < deadline, "it never happened"
        time.sleep(0.005)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for number in range(4):
        write(tmp_path / f"{number}.gguf", other_model(number))
    return tmp_path


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[threading.Semaphore, list[str]]]:
    """Headers are read one by one, as the semaphore is released; and the names in the order in which they were."""
    gate, order = threading.Semaphore(0), []

    def slow(candidate: Candidate) -> Found:
        gate.acquire()
        order.append(Path(candidate.reference).name)
        return look(candidate)

    monkeypatch.setattr(scan_module, "look", slow)
    yield gate, order
    gate.release(100)


def test_names_come_before_headers(folder: Path, gate: tuple[threading.Semaphore, list[str]]) -> None:
    scan = Scan([folder])
    assert scan.entries == []
    scan.start()
    happened(lambda: len(scan.entries) == 4)
    assert all(isinstance(entry, Candidate) for entry in scan.entries)
    assert not scan.done
    before = scan.revision
    gate[0].release(4)
    happened(lambda: scan.done)
    assert scan.revision > before
    titles = [entry.model.title for entry in scan.entries if isinstance(entry, Found) and entry.model is not None]
    assert titles == [f"Number {number}" for number in range(4)]


def test_what_is_wanted_is_read_next(folder: Path, gate: tuple[threading.Semaphore, list[str]]) -> None:
    scan = Scan([folder])
    scan.start()
    happened(lambda: len(scan.entries) == 4)
    gate[0].release()
    happened(lambda: len(gate[1]) == 1)
    scan.want([3, 2])
    gate[0].release(3)
    happened(lambda: scan.done)
    # One more header may have been taken up before the wish came.
    assert gate[1].index("3.gguf") < gate[1].index("2.gguf")
    assert gate[1].index("3.gguf") <= 2


def test_stopping_ends_both_threads(folder: Path, gate: tuple[threading.Semaphore, list[str]]) -> None:
    scan = Scan([folder])
    scan.start()
    happened(lambda: len(scan.entries) == 4)
    scan.stop()
    scan.stop()
    gate[0].release()
    happened(lambda: not any(thread.name == "model-scan" for thread in threading.enumerate()))
    assert len(gate[1]) <= 1


def test_nothing_there_is_done_at_once() -> None:
    scan = Scan()
    scan.start()
    happened(lambda: scan.done)
    assert scan.entries == []


def test_what_goes_wrong_in_a_thread_is_raised_where_it_is_seen(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(candidate: Candidate) -> Found:
        raise ZeroDivisionError("broken")

    monkeypatch.setattr(scan_module, "look", broken)
    scan = Scan([folder])
    scan.start()

    def raised() -> bool:
        try:
            scan.entries  # noqa: B018 (asking raises)
        except ZeroDivisionError:
            return True
        return False

    happened(raised)
