"""The key that keeps the session, and a recording behind the screen."""

import os
from pathlib import Path

import pytest

from decodescope.backends.events import Finished, ModelReady, Token
from decodescope.traces.reader import Trace, read_trace
from decodescope.traces.recording import Recording
from decodescope.traces.tape import SessionTape
from decodescope.traces.writer import TraceWriter
from decodescope.tui.engine_link import EngineLink
from decodescope.tui.session import Phase

from .fakes import FakeBackend, answer, loading, ready
from .scope_app import answered, asked, scope


def kept(folder: Path) -> Trace:
    (path,) = folder.glob("decodescope-*.jsonl.zst")
    return read_trace(path)


async def test_the_session_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    async with scope() as running:
        await answered(running, [b"a", b"b"])
        await running.press("ctrl+o")
        assert str(tmp_path) in running.toasts[-1]
    trace = kept(tmp_path)
    assert [event.piece for event in trace.events if isinstance(event, Token)] == [b"a", b"b"]
    assert isinstance(trace.events[0], ModelReady)
    assert isinstance(trace.events[-1], Finished)
    assert trace.header is not None
    assert trace.header.settings["model"] == "tiny.gguf"
    assert trace.notes == ()


async def test_nothing_to_keep_yet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    async with scope() as running:
        await running.press("ctrl+o")
        assert "nothing to keep" in running.toasts[-1]
    assert os.listdir(tmp_path) == []


async def test_a_folder_that_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    async with scope() as running:
        await asked(running)
        gone.rmdir()
        await running.press("ctrl+o")
        assert "cannot be saved" in running.toasts[-1]


async def test_what_the_last_engine_left_unfinished_has_an_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    async with scope() as running:
        await asked(running)
        running.engine.play(*answer([b"a"]))
        await running.until(lambda: running.session.phase is Phase.DECODE)
        running.screen._restart_engine()
        running.engine.play(loading(0.5), ready("other"))
        await running.until(lambda: running.session.phase is Phase.READY)
        await running.press("ctrl+o")
    trace = kept(tmp_path)
    assert [type(event).__name__ for event in trace.events][-4:] == ["Token", "Finished", "LoadProgress", "ModelReady"]


def test_a_full_disk_is_told(tmp_path: Path) -> None:
    class Full(TraceWriter):
        def write(self, lines: bytes) -> None:
            raise OSError(28, "No space left on device")

    tape = SessionTape(recording=Recording(Full(tmp_path / "a.jsonl"), {}, text=True))
    backend = FakeBackend()
    link = EngineLink(lambda *_: backend, tape=tape)
    assert "No space left" in (link.tape.news() or "")
    assert link.tape.news() is None
