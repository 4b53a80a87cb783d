"""A picture of a replay and a film of the scope, without a terminal: time goes on only from one frame to the next."""

import asyncio
import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Literal

from msgspec import structs
from rich.console import Console
from textual import events as messages
from textual.app import App, ComposeResult
from textual.driver import Driver
from textual.geometry import Size
from textual.pilot import Pilot
from textual.screen import Screen

from ..backends.events import Event
from ..backends.replay import ReplayBackend, ReplayClock
from ..backends.text import visible
from ..traces.opened import Opened
from .engine_link import BackendLink
from .options import ScopeOptions
from .output import Traffic
from .replay.lanes import ReplayedLanes
from .replay.screen import ReplayScreen
from .screens.recording import Memory, RecordingScreen
from .screens.watching import Watching
from .terminal_app import TerminalApp

FRAMES_PER_SECOND = 10
MOST_FRAMES = 1_200
"""Of a film; a longer recording is filmed with fewer frames per second."""

_PLOT_NS = 500_000_000
_MOST_PLOTS = 300
"""A plot is dear; it is drawn so often at most, and at the end."""
_DEADLINE_SECONDS = 60.0
_STILL_NS = 1_000_000_000
"""While nothing comes, the clock on the screen still goes on, as often as this."""
_FIRST = "\x1b[?25l\x1b[2J\x1b[H"
_LAST = "\x1b[0m\x1b[{line};1H\x1b[?25h"
"""The cursor, without which a terminal would be left: below the picture, as far as there is room."""
_POINTER = "\x1b]22;"
"""Sets the shape of the mouse pointer."""
_NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What no document may hold, not even escaped: https://www.w3.org/TR/xml/#charsets."""
_REMOTE_FONTS = re.compile(r"@font-face\s*\{.*?\}", re.DOTALL)

Progress = Callable[[float], None]
"""Told how much is done, 0 to 1."""


def picture(opened: Opened, size: tuple[int, int], theme: str | None = None) -> str:
    """Return the screen at the end of a replay, of a comparison with all lanes, as SVG; it refers to nothing outside.

    ``size``: columns and lines; ``theme``: one of Textual's.
    """
    drawn: list[str] = []
    screen = _PicturedScreen(opened) if opened.trace.comparison is None else _PicturedLanes(opened)

    async def drive(film: "_Film") -> None:
        await film.drawn(screen.show_end)
        drawn.append(film.export_screenshot(title=visible(opened.name)))

    _Film(screen, theme).play(size, drive)
    return _NOT_IN_XML.sub("\ufffd", _REMOTE_FONTS.sub("", drawn[0]))


def film(
    events: Sequence[Event],
    name: str,
    size: tuple[int, int],
    theme: str | None = None,
    progress: Progress = lambda share: None,
    memory: Memory = lambda threads: None,
) -> list[tuple[float, str]]:
    """Return what the scope sends to a terminal while it receives ``events``: seconds since the first one, and the
    characters. The last of them give the terminal back.

    ``name``: of the model, until the events tell it; ``memory``: of the machine; the others as for ``picture``.
    """
    times = frame_times([event.t for event in events])
    clock = ReplayClock()
    clock.pause()
    clock.seek(0)
    screen = _FilmedScreen(ReplayBackend(events, clock), name, memory)
    sent: list[tuple[float, str]] = []

    def take(data: str) -> None:
        if not data.startswith(_POINTER):
            sent.append((clock.position / 1e9, data))

    async def drive(film: "_Film") -> None:
        plotted = -times[-1]
        plot_step = max(_PLOT_NS, times[-1] // _MOST_PLOTS)
        for place, at in enumerate(times, start=1):
            clock.seek(at)
            plot = at - plotted >= plot_step
            plotted = at if plot else plotted
            await film.drawn(partial(screen.catch_up, plot=plot))
            progress(place / len(times))

    _Film(screen, theme, take).play(size, drive)
    take(_LAST.format(line=size[1]))
    return sent


def frame_times(times: Sequence[int]) -> list[int]:
    """Return when a film of events of these ``times`` (ns) has a frame, ns since the first one; never empty.

    A frame follows what has come since the one before, and there is one at the end.
    """
    first, last = times[0], max(times)
    step = max(1_000_000_000 // FRAMES_PER_SECOND, (last - first) // MOST_FRAMES)
    frames = [0]
    for t in times:
        at = -(-(t - first) // step) * step
        while at - frames[-1] > _STILL_NS + step:
            frames.append(frames[-1] + max(_STILL_NS // step, 1) * step)
        if at > frames[-1]:
            frames.append(at)
    return frames


class _Film(TerminalApp):
    # Nobody can press them.
    CSS = TerminalApp.CSS + "KeyBar { display: none; }"
    _gives_way = False  # its size was asked for

    def __init__(
        self,
        screen: "_FilmedScreen | _PicturedScreen | _PicturedLanes",
        theme: str | None,
        take: Callable[[str], None] = lambda data: None,
    ) -> None:
        """``take`` gets what would go to a terminal."""
        super().__init__(theme, _Camera)
        self.console = Console(file=self.console.file, color_system="truecolor", force_terminal=True, safe_box=False)
        self.take = take
        self._shown = screen

    def get_default_screen(self) -> Screen[None]:
        return self._shown

    def play(self, size: tuple[int, int], drive: Callable[["_Film"], Awaitable[None]]) -> None:
        """Run the app while ``drive`` does."""

        async def driven(pilot: Pilot[object]) -> None:
            await drive(self)
            await pilot.pause()
            self.exit()

        asyncio.run(self.run_async(size=size, mouse=False, auto_pilot=driven))
        if self.return_code:
            raise RuntimeError("the screen could not be drawn")

    async def drawn(self, change: Callable[[], None]) -> None:
        """Return when the screen shows what ``change`` has made of it."""
        async with asyncio.timeout(_DEADLINE_SECONDS):
            await self._shown.ready.wait()
            self._shown.call_next(change)
            # What is drawn may lay out anew, which is drawn with the refresh after it.
            for _ in range(2):
                drawn = asyncio.Event()
                self._shown.call_next(partial(self._shown.call_after_refresh, drawn.set))
                await drawn.wait()


class _FilmedScreen(RecordingScreen):
    """The scope, as it was when the events came."""

    def __init__(self, backend: ReplayBackend, name: str, memory: Memory) -> None:
        super().__init__(backend, name, "", memory)
        self.ready = asyncio.Event()

    async def _begin(self) -> None:
        await super()._begin()
        self.ready.set()

    def compose_foot(self) -> ComposeResult:
        return ()

    def catch_up(self, *, plot: bool) -> None:
        """Draw what has come."""
        self._read()
        self._face.at_once(plot=plot)


class _PicturedScreen(ReplayScreen):
    """A replay that is over."""

    def __init__(self, opened: Opened) -> None:
        watching = Watching(ScopeOptions(), Traffic(), BackendLink())
        super().__init__(replace(opened, trace=structs.replace(opened.trace, notes=())), watching, clock=lambda: 0)
        self.ready = asyncio.Event()

    async def _begin(self) -> None:
        await super()._begin()
        self.ready.set()

    def show_end(self) -> None:
        """Draw the end."""
        self.action_finish()
        self._frame()


class _PicturedLanes(ReplayedLanes):
    """A replayed comparison of which a round is over."""

    def __init__(self, opened: Opened) -> None:
        watching = Watching(ScopeOptions(), Traffic(), BackendLink())
        still = replace(opened, trace=structs.replace(opened.trace, notes=()))
        super().__init__([still], watching, speed=1.0, loop=False, paused=True, clock=lambda: 0)
        self.ready = asyncio.Event()

    def _say(self, text: str, severity: Literal["information", "warning", "error"] = "information") -> None:
        """Nobody reads it."""

    async def _begin(self) -> None:
        await super()._begin()
        self.ready.set()

    def show_end(self) -> None:
        """Draw the end."""
        self.action_finish()
        self._draw_all()


class _Camera(Driver):
    """Takes what would go to a terminal."""

    def __init__(self, app: App[None], *, debug: bool = False, mouse: bool = True, size: tuple[int, int] | None = None):
        super().__init__(app, debug=debug, mouse=mouse, size=size)
        assert isinstance(app, _Film)
        self._film = app

    def write(self, data: str) -> None:
        self._film.take(data)

    def start_application_mode(self) -> None:
        self.write(_FIRST)
        size = Size(*(self._size or (80, 24)))
        self._app.post_message(messages.Resize(size, size))

    def disable_input(self) -> None:
        pass

    def stop_application_mode(self) -> None:
        pass
