"""Pictures of the whole screen; times come from the events, so that they never change by themselves."""

import re
from collections.abc import Callable, Iterator
from itertools import cycle, islice
from pathlib import Path

import pytest
from textual.pilot import Pilot

from decodescope.backends.events import Event, Failed
from decodescope.backends.launch import ScriptFile
from decodescope.tui.app import ScopeApp
from decodescope.tui.engine_link import EngineLink
from decodescope.tui.history import History
from decodescope.tui.options import ScopeOptions
from decodescope.tui.session import Phase

from .fakes import MS, FakeBackend, finished, progress, prompt, ready, taken, token
from .scope_app import happened

Snapshot = Callable[..., bool]

TEXT = """\
The sky appears blue because sunlight is scattered by the molecules of the air. Short wavelengths are scattered far \
more than long ones, so the light that reaches us from all over the sky is mostly blue.

At sunset the light has a longer way through the air; the blue is gone by then, and what is left is red.
"""
GAPS = (6.6, 6.9, 7.2, 6.8, 6.7, 7.0, 8.4, 6.6, 6.9, 12.1, 6.8, 7.1, 6.7, 6.9, 24.0, 7.0, 6.8, 6.6, 75.0)


def answer() -> list[Event]:
    made: list[Event] = [taken(), prompt(2 * MS, 512, 96), progress(180 * MS, 512, 512, 96)]
    pieces = re.findall(r"\s*\S+|\n+", TEXT)
    t = 182 * MS
    for index, (piece, gap) in enumerate(zip(pieces, islice(cycle(GAPS), len(pieces)), strict=True), start=1):
        made.append(token(t, index, piece.encode()))
        t += int(gap * MS)
    made.append(finished(t))
    return made


STATES: dict[str, list[Event]] = {
    "prefill": [ready("SmolLM2-135M-Instruct"), taken(), prompt(2 * MS, 512, 96), progress(150 * MS, 416, 512, 96)],
    "answer": [ready("SmolLM2-135M-Instruct"), *answer()],
    "failed": [
        Failed(
            t=1,
            stage="load",
            what="The model cannot be loaded.",
            reason="llama_model_load: error loading model: tensor 'blk.29.ffn_up.weight' is not within the file",
            remedy="Download the file again: it is shorter than its header says.",
        )
    ],
}
REACHED = {"prefill": Phase.PREFILL, "answer": Phase.DONE, "failed": Phase.GONE}


@pytest.fixture
def snapshot_folder(snapshot_tempdir: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Give the plugin back the one variable of its own that it cannot do without."""
    if snapshot_tempdir is not None:
        monkeypatch.setenv("TEXTUAL_SNAPSHOT_TEMPDIR", snapshot_tempdir)


@pytest.fixture
def links() -> Iterator[list[EngineLink]]:
    made: list[EngineLink] = []
    yield made
    for link in made:
        link.close()


@pytest.mark.usefixtures("snapshot_folder")
@pytest.mark.parametrize(
    ("state", "size", "theme", "keys"),
    [
        ("prefill", (80, 24), "textual-dark", ()),
        ("answer", (80, 24), "textual-dark", ()),
        ("answer", (120, 40), "textual-dark", ()),
        ("answer", (120, 40), "textual-light", ()),
        ("answer", (160, 50), "textual-dark", ("ctrl+t",)),
        ("failed", (100, 30), "textual-light", ()),
    ],
)
def test_screen(
    snap_compare: Snapshot,
    links: list[EngineLink],
    state: str,
    size: tuple[int, int],
    theme: str,
    keys: tuple[str, ...],
) -> None:
    engine = FakeBackend()
    links.append(EngineLink(lambda model, settings: engine))
    options = ScopeOptions(model=ScriptFile(Path("tiny.gguf")), prompt="Why is the sky blue?", theme=theme)
    app = ScopeApp(options, links[0], History(None))

    async def reach(pilot: Pilot[None]) -> None:
        screen = app.scope
        await happened(lambda: screen._face.reading is not None)
        screen._face.clock = lambda: 160 * MS
        # The first event may only come once the prompt has been sent: it is sent when the model is ready.
        engine.play(STATES[state][0])
        if state != "failed":
            await happened(lambda: bool(engine.requests))
            engine.play(*STATES[state][1:])
        await happened(lambda: screen.session.phase is REACHED[state])
        await pilot.press(*keys)
        screen._slow_timer.pause()
        screen._box.show_cursor = False
        screen._face.all()
        await pilot.pause()

    assert snap_compare(app, terminal_size=size, run_before=reach)
