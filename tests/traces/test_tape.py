"""A session that is kept after the fact."""

from pathlib import Path

import pytest

from decodescope.backends.events import Event
from decodescope.traces import compression
from decodescope.traces.errors import TraceError
from decodescope.traces.reader import read_trace
from decodescope.traces.recording import Recording
from decodescope.traces.tape import SessionTape
from decodescope.traces.writer import TraceWriter, encoded

from ..tui.fakes import token
from .samples import session


def test_everything_is_kept_and_goes_on(tmp_path: Path) -> None:
    tape = SessionTape()
    assert tape.save(tmp_path, {}) is None
    tape.take([])
    assert tape.save(tmp_path, {}) is None
    tape.take(session()[:3])
    first = tape.save(tmp_path, {"model": "a"})
    for event in session()[3:]:
        tape.take([event])
    second = tape.save(tmp_path, {"model": "b"})
    assert first is not None
    assert second is not None
    assert read_trace(first).events == tuple(session()[:3])
    trace = read_trace(second)
    assert trace.events == tuple(session())
    assert trace.header is not None
    assert trace.header.settings == {"model": "b"}
    assert not any("cut" in note or "damaged" in note for note in trace.notes)


def test_the_name_is_the_date_and_nothing_is_overwritten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("time.strftime", lambda *_: "decodescope-20261130-101500")
    tape = SessionTape()
    tape.take(session())
    names = [path.name for path in (tape.save(tmp_path, {}), tape.save(tmp_path, {})) if path is not None]
    assert names == ["decodescope-20261130-101500.jsonl.zst", "decodescope-20261130-101500-2.jsonl.zst"]


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    tape = SessionTape()
    tape.take(session())
    with pytest.raises(OSError, match="No such file"):
        tape.save(tmp_path / "missing", {})


def test_a_full_disk_leaves_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tape = SessionTape()
    tape.take(session())

    def full(*_: object) -> bytes:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(tape, "_packed_header", full)
    with pytest.raises(OSError, match="No space"):
        tape.save(tmp_path, {})
    assert list(tmp_path.iterdir()) == []


def test_without_zstd_it_is_gzip(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing() -> None:
        raise TraceError("No zstd.")

    monkeypatch.setattr(compression, "ZstdPacker", missing)
    tape = SessionTape()
    tape.take(session())
    path = tape.save(tmp_path, {})
    assert path is not None
    assert path.name.endswith(".jsonl.gz")
    assert read_trace(path).events == tuple(session())


def test_without_text(tmp_path: Path) -> None:
    tape = SessionTape(text=False)
    tape.take(session())
    path = tape.save(tmp_path, {"system_prompt": "secret"})
    assert path is not None
    trace = read_trace(path)
    assert trace.header is not None
    assert trace.header.settings == {"system_prompt": "(6 characters left out)"}
    assert encoded(trace.events, text=True) == encoded(session(), text=False)


def test_a_recording_gets_the_same(tmp_path: Path) -> None:
    tape = SessionTape(recording=Recording(TraceWriter(tmp_path / "a.jsonl"), {}, text=True))
    tape.take(iter(session()))
    tape.close()
    assert read_trace(tmp_path / "a.jsonl").events == tuple(session())
    assert tape.news() is None
    assert SessionTape().news() is None


def test_a_long_session_takes_little_memory() -> None:
    tape = SessionTape()
    for index in range(1, 20_001):
        tape.take([token(index * 7_000_000, index, b" token")])
    plain = len(encoded([token(7_000_000, 1, b" token")], text=True))
    assert 0 < tape.size < 20_000 * plain / 3


def test_the_newest_events_are_saved_too_however_many_there_are(tmp_path: Path) -> None:
    tape = SessionTape()
    events: list[Event] = [token(index * 7_000_000, index, b" token") for index in range(1, 1301)]
    for first in range(0, len(events), 17):
        tape.take(events[first : first + 17])
        if first in (0, 510, 1003):
            path = tape.save(tmp_path, {})
            assert path is not None
            assert read_trace(path).events == tuple(events[: first + 17])
    path = tape.save(tmp_path, {})
    assert path is not None
    assert read_trace(path).events == tuple(events)
