"""Writing: readable at every moment, never over what is there, and never in the way of what is recorded."""

import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import pytest

from decodescope.traces import backlog
from decodescope.traces.errors import TraceError
from decodescope.traces.reader import read_trace
from decodescope.traces.recording import Recording
from decodescope.traces.writer import TraceWriter, encoded

from ..conftest import DEADLINE_SECONDS
from .samples import HEADER, session, written

FORMS = ("a.jsonl", "a.jsonl.gz", "a.jsonl.zst", "A.GZ", "a", "a.json")


@pytest.mark.parametrize("name", FORMS)
def test_every_batch_can_be_read_at_once(tmp_path: Path, name: str) -> None:
    writer = TraceWriter(tmp_path / name)
    writer.begin(HEADER)
    for count, event in enumerate(session(), 1):
        writer.write(encoded([event], text=True))
        assert read_trace(tmp_path / name).events == tuple(session())[:count]
    writer.write(b"")
    writer.close()
    writer.close()
    assert read_trace(tmp_path / name).notes == ()


@pytest.mark.parametrize(("name", "magic"), [("a.gz", b"\x1f\x8b"), ("a.zst", b"\x28\xb5\x2f\xfd"), ("a.jsonl", b'{"')])
def test_the_name_says_the_form(tmp_path: Path, name: str, magic: bytes) -> None:
    assert written(tmp_path / name).read_bytes().startswith(magic)


def test_many_events_at_once_take_less_room(tmp_path: Path) -> None:
    sizes = []
    for name in ("a.jsonl", "a.gz", "a.zst"):
        writer = TraceWriter(tmp_path / name)
        writer.begin(HEADER)
        for _ in range(200):
            writer.write(encoded(session(), text=True))
        writer.close()
        sizes.append((tmp_path / name).stat().st_size)
    plain, *packed = sizes
    assert max(packed) < plain / 10


def test_what_is_there_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "precious.jsonl"
    path.write_text("mine")
    with pytest.raises(TraceError, match="already") as raised:
        TraceWriter(path)
    assert "--overwrite" in raised.value.remedy
    assert path.read_text() == "mine"


def test_what_is_there_is_replaced_when_told_so(tmp_path: Path) -> None:
    path = tmp_path / "old.jsonl"
    path.write_text("x" * 100_000)
    TraceWriter(path, overwrite=True).close()
    assert path.read_bytes() == b""


def test_an_empty_file_is_nothing_to_be_kept(tmp_path: Path) -> None:
    path = tmp_path / "made-by-mktemp"
    path.touch()
    TraceWriter(path).close()


@pytest.mark.parametrize("place", ["missing/a.jsonl", "."])
def test_what_cannot_be_opened_is_said(tmp_path: Path, place: str) -> None:
    with pytest.raises(TraceError, match="Nothing can be recorded in") as raised:
        TraceWriter(tmp_path / place)
    assert raised.value.reason in ("No such file or directory", "Is a directory")


def test_a_dangling_link_is_said(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    with pytest.raises(TraceError, match="Nothing can be recorded"):
        TraceWriter(tmp_path / "link")


def test_a_pipe_can_be_recorded_into(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()))
    reader.start()
    writer = TraceWriter(pipe)
    writer.begin(HEADER)
    writer.close()
    reader.join(DEADLINE_SECONDS)
    assert read[0].startswith(b'{"event":"trace"')


@pytest.fixture
def stalled(tmp_path: Path) -> Iterator[tuple[Path, BinaryIO]]:
    """A pipe, and the end of it that nobody reads."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    os.set_blocking(reader, True)
    with open(reader, "rb") as file:
        yield pipe, file


def _recorded(path: Path, batches: int) -> list[str | None]:
    """Record so many batches of events, without waiting for the end; return the news after each."""
    told: list[str | None] = []

    def record() -> None:
        recording = Recording(TraceWriter(path), {}, text=True)
        for _ in range(batches):
            recording.take(session())
            told.append(recording.news())
        recording.close()
        told.append(recording.news())

    thread = threading.Thread(target=record, daemon=True)
    thread.start()
    thread.join(DEADLINE_SECONDS)
    assert not thread.is_alive(), "it waits for the reader"
    return told


def test_a_reader_that_stalls_holds_nothing_up(stalled: tuple[Path, BinaryIO], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backlog, "PATIENCE_SECONDS", 0.1)
    pipe = stalled[0]
    told = _recorded(pipe, 1000)
    (said,) = [one for one in told if one is not None]
    assert said.startswith(f"The recording in {pipe} ends here: its reader did")
    assert said.endswith("bytes in time. The generation goes on.")
    assert told[-1] == said


def test_what_waits_for_a_reader_is_bounded(stalled: tuple[Path, BinaryIO], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backlog, "MOST_BYTES", 1 << 20)
    told = _recorded(stalled[0], 1000)
    (said,) = [one for one in told if one is not None]
    assert "its reader does not keep up, and 1 MiB wait for it" in said
    assert told[-1] is None


def test_a_reader_that_comes_late_catches_up(stalled: tuple[Path, BinaryIO], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backlog, "PATIENCE_SECONDS", DEADLINE_SECONDS)
    pipe, reader = stalled
    recording = Recording(TraceWriter(pipe), {}, text=True)
    for _ in range(1000):
        recording.take(session())
    read: list[bytes] = []
    thread = threading.Thread(target=lambda: read.append(reader.read()), daemon=True)
    thread.start()
    recording.close()
    thread.join(DEADLINE_SECONDS)
    assert recording.news() is None
    assert read[0].endswith(encoded(session(), text=True) * 1000)


def test_a_reader_that_leaves_is_said_once(stalled: tuple[Path, BinaryIO]) -> None:
    pipe, reader = stalled
    recording = Recording(TraceWriter(pipe), {}, text=True)
    reader.close()
    told = []
    for _ in range(3):
        recording.take(session())
        told.append(recording.news())
    recording.close()
    told.append(recording.news())
    (said,) = [one for one in told if one is not None]
    assert "Broken pipe" in said


class FullDisk(TraceWriter):
    """Takes so many writes and no more."""

    def __init__(self, path: Path, writes: int) -> None:
        super().__init__(path)
        self.left = writes

    def _put(self, data: bytes) -> None:
        self.left -= 1
        if self.left < 0:
            raise OSError(28, "No space left on device")
        super()._put(data)


@pytest.mark.parametrize("writes", range(5))
def test_a_full_disk_is_said_once_and_ends_nothing(tmp_path: Path, writes: int) -> None:
    recording = Recording(FullDisk(tmp_path / "a.gz", writes), {}, text=True)
    said = [recording.news()]
    for event in session()[:3]:
        recording.take([event])
        said.append(recording.news())
    recording.close()
    said.append(recording.news())
    recording.close()
    told = [one for one in said if one is not None]
    assert said.index(told[0]) == writes
    assert told == [f"The recording in {tmp_path / 'a.gz'} ends here: No space left on device. The generation goes on."]
    if writes:
        assert read_trace(tmp_path / "a.gz").events == tuple(session()[: writes - 1])


def test_a_recording_has_a_header_of_this_machine(tmp_path: Path) -> None:
    recording = Recording(TraceWriter(tmp_path / "a.jsonl"), {"model": "demo", "temp": 0.5}, text=True)
    recording.take(session())
    recording.close()
    header = read_trace(tmp_path / "a.jsonl").header
    assert header is not None
    assert header.text
    assert header.settings == {"model": "demo", "temp": 0.5}
    assert header.machine.memory_bytes > 0
    assert 1 <= header.machine.threads <= header.machine.cpus
    assert header.llama_cpp.package is not None
    assert header.recorded.endswith("Z")
    assert header.t > 0
