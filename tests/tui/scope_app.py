"""The scope on a fake engine, for the pilot."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from textual.pilot import Pilot

from decodescope.backends.launch import ScriptFile, Source
from decodescope.backends.requests import EngineSettings
from decodescope.tui.app import ScopeApp
from decodescope.tui.conversation.view import Conversation
from decodescope.tui.engine_link import EngineLink
from decodescope.tui.history import History
from decodescope.tui.options import ScopeOptions
from decodescope.tui.screens.scope import ScopeScreen
from decodescope.tui.session import Phase, Session
from decodescope.tui.token_table import TokenTable
from decodescope.tui.widgets.cells import Cells
from decodescope.tui.widgets.prompt_box import PromptBox

from ..conftest import DEADLINE_SECONDS
from .fakes import MS, FakeBackend, answer, finished, ready


async def happened(condition: Callable[[], bool]) -> None:
    """Wait until it has; only a hang takes long."""
    deadline = time.monotonic() + DEADLINE_SECONDS
    while not condition():
        assert time.monotonic() < deadline, "it never happened"
        await asyncio.sleep(0.01)


class Scope:
    """A running app and the engines that it started."""

    def __init__(
        self,
        app: ScopeApp,
        pilot: Pilot[None],
        engines: list[FakeBackend],
        launches: list[tuple[Source, EngineSettings]],
    ) -> None:
        self.app = app
        self.pilot = pilot
        self.engines = engines
        self.launches = launches
        """What each engine was started with."""

    @property
    def engine(self) -> FakeBackend:
        return self.engines[-1]

    @property
    def screen(self) -> ScopeScreen:
        return self.app.scope

    @property
    def session(self) -> Session:
        return self.app.scope.session

    @property
    def box(self) -> PromptBox:
        return self.screen.query_one(PromptBox)

    @property
    def conversation(self) -> Conversation:
        return self.screen.query_one(Conversation)

    @property
    def table(self) -> TokenTable:
        return self.screen.query_one(TokenTable)

    def line(self, kind: type[Cells]) -> str:
        return self.screen.query_one(kind).plain

    def shown(self) -> list[str]:
        """The lines of the screen as drawn."""
        return [strip.text for strip in self.app.screen._compositor.render_strips()]

    @property
    def toasts(self) -> list[str]:
        return [notification.message for notification in self.app._notifications]

    async def until(self, condition: Callable[[], bool]) -> None:
        """Wait for something that has to happen; only a hang takes long."""
        await happened(condition)
        await self.pilot.pause()

    async def started(self) -> None:
        """Wait for what comes after the first frame."""
        choosing = self.screen._choosing.options.model is None
        await self.until(lambda: bool(self.engines) or choosing)
        await self.until(lambda: bool(self.screen.query(Conversation)))
        await self.until(lambda: self.screen._face.reading is not None)

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)
        await self.pilot.pause()


@asynccontextmanager
async def scope(
    *, size: tuple[int, int] = (120, 40), history: Path | None = None, options: ScopeOptions | None = None
) -> AsyncIterator[Scope]:
    """Open the scope on fake engines and wait until it has begun."""
    engines: list[FakeBackend] = []

    launches: list[tuple[Source, EngineSettings]] = []

    def launch(model: Source, settings: EngineSettings) -> FakeBackend:
        launches.append((model, settings))
        engines.append(FakeBackend())
        return engines[-1]

    link = EngineLink(launch)
    kept = History(history)
    app = ScopeApp(options or default_options(), link, kept)
    try:
        async with app.run_test(size=size) as pilot:
            running = Scope(app, pilot, engines, launches)
            await running.started()
            yield running
    finally:
        link.close()
        kept.close(DEADLINE_SECONDS)


def default_options(name: str = "tiny.gguf", prompt: str | None = None, theme: str | None = None) -> ScopeOptions:
    return ScopeOptions(model=ScriptFile(Path(name)), prompt=prompt, theme=theme)


async def asked(running: Scope, text: str = "why") -> None:
    """A ready model and a prompt that was sent."""
    running.engine.play(ready())
    await running.until(lambda: running.session.phase is Phase.READY)
    await running.press(*text, "enter")
    await running.until(lambda: bool(running.engine.requests))


async def answered(running: Scope, pieces: list[bytes], text: str = "why") -> None:
    await asked(running, text)
    running.engine.play(*answer(pieces), finished(900 * MS))
    await running.until(lambda: running.session.phase is Phase.DONE)
