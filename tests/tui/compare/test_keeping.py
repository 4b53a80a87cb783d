"""A comparison is kept after the fact."""

import contextlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from textual.pilot import Pilot

from decodescope.comparison.keeping import KeptComparison
from decodescope.comparison.plan import ComparisonPlan
from decodescope.comparison.retold import RetoldComparison
from decodescope.comparison.runner import Stage
from decodescope.traces.reader import read_trace
from decodescope.traces.recording import Recording
from decodescope.traces.tape import SessionTape
from decodescope.traces.versions import SEVERAL_ENGINES
from decodescope.traces.writer import TraceWriter
from decodescope.tui.compare.app import CompareApp
from decodescope.tui.compare.keeping import Keeping
from decodescope.tui.options import ScopeOptions

from ...comparison.driving import plan
from ...comparison.keeping import SETTINGS, events_of, state
from ...conftest import ScriptWriter
from ..scope_app import happened


@asynccontextmanager
async def running(
    asked: ComparisonPlan, tape: SessionTape
) -> AsyncIterator[tuple[CompareApp, Pilot[None], list[KeptComparison]]]:
    made: list[KeptComparison] = []

    def make(plan: ComparisonPlan) -> KeptComparison:
        made.append(KeptComparison(plan, tape))
        return made[-1]

    app = CompareApp(asked, make, ScopeOptions(), keeping=Keeping(tape, SETTINGS))
    with contextlib.ExitStack() as stack:
        async with app.run_test(size=(120, 40)) as pilot:
            await happened(lambda: bool(made))
            stack.callback(made[0].close)
            await happened(lambda: made[0].stage is Stage.DONE and app.compare.board is not None)
            yield app, pilot, made


def said(app: CompareApp, words: str) -> int:
    """How often something was said."""
    return sum(words in one.message for one in app._notifications)


@pytest.fixture
def asked(script: ScriptWriter) -> ComparisonPlan:
    paths = [
        script({"prefill": 5}, {"repeat": 4, "text": " abc", "ms": ms}, {"stop": "stop"}, name=f"{ms}.jsonl")
        for ms in (1, 2)
    ]
    return plan(*paths, rounds=2)


@pytest.mark.parametrize("text", [True, False])
async def test_a_key_keeps_it(
    asked: ComparisonPlan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: bool
) -> None:
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    async with running(asked, SessionTape(text=text, format=SEVERAL_ENGINES)) as (app, pilot, made):
        await pilot.press("ctrl+o")
        await happened(lambda: said(app, f"Saved as {folder}/decodescope-") == 1)
        (path,) = folder.iterdir()
        trace = read_trace(path)
        assert trace.notes == ()
        assert trace.header is not None
        assert (trace.header.format, trace.header.text) == (2, text)
        assert trace.header.settings == SETTINGS
        again = RetoldComparison(trace)
        assert again.results == made[0].results
        if text:
            assert state(again) == state(made[0])
            assert events_of(again) == events_of(made[0])
        # Once more: what is there is kept.
        await pilot.press("ctrl+o")
        await happened(lambda: said(app, f"Saved as {folder}/decodescope-") == 2)
        assert len(list(folder.iterdir())) == 2


async def test_a_folder_that_cannot_be_written(asked: ComparisonPlan, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Path, "cwd", lambda: Path("/no/such/folder"))
    async with running(asked, SessionTape(format=SEVERAL_ENGINES)) as (app, pilot, _):
        await pilot.press("ctrl+o")
        await happened(lambda: said(app, "The comparison cannot be saved here") == 1)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the system has no device that is full")
async def test_a_recording_that_ends_early_is_said(asked: ComparisonPlan) -> None:
    recording = Recording(TraceWriter(Path("/dev/full")), SETTINGS, text=True, format=SEVERAL_ENGINES)
    async with running(asked, SessionTape(recording=recording, format=SEVERAL_ENGINES)) as (app, _, _):
        await happened(lambda: said(app, "/dev/full ends here") == 1)
