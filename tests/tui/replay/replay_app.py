"""A replay on a clock that the test moves."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from msgspec.structs import replace
from textual.pilot import Pilot

from decodescope.backends.events import Event
from decodescope.traces.generations import takes
from decodescope.traces.opened import Opened
from decodescope.traces.reader import Trace
from decodescope.tui.options import ScopeOptions
from decodescope.tui.replay.app import ReplayApp
from decodescope.tui.replay.lanes import ReplayedLanes
from decodescope.tui.replay.player import Player
from decodescope.tui.replay.screen import ReplayScreen

from ...traces.samples import HEADER
from ..fakes import MS, answer, finished, loading, ready
from ..scope_app import happened


class Time:
    """The real clock, as the test wants it."""

    def __init__(self) -> None:
        self.now = 777

    def __call__(self) -> int:
        return self.now


def whole(pieces: Sequence[bytes] = (b"The", b" sky", b" is", b" blue")) -> list[Event]:
    """Loaded from -1,200 ms to 0, the prompt read until 110 ms, a token every 7 ms from 112 ms on."""
    events = [replace(loading(part / 4), t=(-1200 + 300 * part) * MS) for part in range(5)]
    return [*events, ready(), *answer(pieces), finished((113 + 7 * len(pieces)) * MS)]


def opened(
    events: Sequence[Event], name: str = "sky.jsonl", *, text: bool = True, notes: tuple[str, ...] = ()
) -> Opened:
    header = replace(HEADER, text=text)
    return Opened(Path(name), Trace(header, tuple(events), notes), tuple(takes(events)))


class Replayed:
    def __init__(self, app: ReplayApp, pilot: Pilot[None], time: Time) -> None:
        self.app = app
        self.pilot = pilot
        self.time = time

    @property
    def screen(self) -> ReplayScreen:
        screen = self.app.screen_stack[0]
        assert isinstance(screen, ReplayScreen)
        return screen

    @property
    def lanes(self) -> ReplayedLanes:
        screen = self.app.screen_stack[0]
        assert isinstance(screen, ReplayedLanes)
        return screen

    @property
    def player(self) -> Player:
        assert self.screen.player is not None
        return self.screen.player

    @property
    def tokens(self) -> int:
        run = self.screen.session.run
        return 0 if run is None else run.token_count

    def shown(self) -> str:
        return "\n".join(strip.text.rstrip() for strip in self.app.screen._compositor.render_strips())

    @property
    def toasts(self) -> list[str]:
        return [notification.message for notification in self.app._notifications]

    async def sees(self, text: str) -> None:
        """Wait for something that has to be drawn; only a hang takes long."""
        await happened(lambda: text in self.shown())

    async def passes(self, ms: float) -> None:
        """Let time pass, and wait until what has come is shown."""
        self.time.now += round(ms * MS)
        timeline = self.player.timeline
        await happened(lambda: self.screen._replayed.place == timeline.place(self.player.position))
        await self.pilot.pause()

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)
        await self.pilot.pause()

    async def went(self, *keys: str) -> None:
        """Press keys and wait until the place that they go to is shown."""
        await self.press(*keys)
        await self.passes(0)


@asynccontextmanager
async def replay(
    *files: Opened,
    size: tuple[int, int] = (120, 40),
    speed: float = 1.0,
    loop: bool = False,
    paused: bool = False,
    theme: str | None = None,
    raced: bool = True,
) -> AsyncIterator[Replayed]:
    """``raced``: wait until several lanes are lined up."""
    clock = Time()
    app = ReplayApp(files, ScopeOptions(theme=theme), speed=speed, loop=loop, paused=paused, clock=clock)
    async with app.run_test(size=size) as pilot:
        running = Replayed(app, pilot, clock)
        if len(files) == 1 and files[0].trace.comparison is None:
            await happened(lambda: running.screen.player is not None)
            await running.passes(0)
        elif raced:
            await happened(lambda: running.lanes.board is not None and running.lanes.board.race is not None)
        else:
            await happened(lambda: running.lanes.board is not None)
        yield running
