"""Pictures of the real screen on a recording, without a terminal: time goes on only from one picture to the next."""

import asyncio
import re
from collections.abc import Awaitable, Callable, Sequence
from functools import partial

from rich.console import Console
from textual import events as messages
from textual.app import App
from textual.driver import Driver
from textual.geometry import Size
from textual.pilot import Pilot
from textual.screen import Screen

from ..backends.events import Event
from ..backends.replay import END, ReplayBackend, ReplayClock
from ..backends.text import visible
from .screens.recording import RecordingScreen
from .terminal_app import TerminalApp

FRAMES_PER_SECOND = 10
MOST_FRAMES = 1_200
"""Of a film; a longer recording is filmed with fewer frames per second."""

_DEADLINE_SECONDS = 60.0
_STILL_NS = 1_000_000_000
"""While nothing comes, the clock on the screen still goes on, as often as this."""
_FIRST = "\x1b[?25l\x1b[2J\x1b[H"
_POINTER = "\x1b]22;"
"""Sets the shape of the mouse pointer."""
_NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What no document may hold, not even escaped: https://www.w3.org/TR/xml/#charsets."""
_REMOTE_FONTS = re.compile(r"@font-face\s*\{.*?\}", re.DOTALL)

Progress = Callable[[float], None]
"""Told how much is done, 0 to 1."""


def picture(events: Sequence[Event], name: str, size: tuple[int, int], theme: str | None = None) -> str:
    """Return the screen at the end of a recording as SVG, which refers to nothing outside of it.

    ``name``: of the recording; ``size``: columns and lines; ``theme``: one of Textual's.
    """
    drawn: list[str] = []

    async def drive(film: "_Film") -> None:
        await film.show(END)
        drawn.append(film.export_screenshot(title=visible(name)))

    _Film(events, name, theme).play(size, drive)
    return _NOT_IN_XML.sub("\ufffd", _REMOTE_FONTS.sub("", drawn[0]))


def film(
    events: Sequence[Event],
    name: str,
    size: tuple[int, int],
    theme: str | None = None,
    progress: Progress = lambda share: None,
) -> list[tuple[float, str]]:
    """Return what the screen sends to a terminal while the recording is played: seconds since its beginning, and the
    characters. The parameters are those of ``picture``."""
    times = frame_times([event.t for event in events])

    async def drive(film: "_Film") -> None:
        for place, at in enumerate(times, start=1):
            await film.show(at)
            progress(place / len(times))

    screen = _Film(events, name, theme)
    screen.play(size, drive)
    return screen.sent


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
    def __init__(self, events: Sequence[Event], name: str, theme: str | None) -> None:
        super().__init__(theme, _Camera)
        self.console = Console(file=self.console.file, color_system="truecolor", force_terminal=True, safe_box=False)
        self.clock = ReplayClock()
        self.clock.pause()
        self.clock.seek(0)
        self.sent: list[tuple[float, str]] = []
        self._shown = _FilmedScreen(ReplayBackend(events, self.clock), name, name)

    def get_default_screen(self) -> Screen[None]:
        return self._shown

    def take(self, data: str) -> None:
        if not data.startswith(_POINTER):
            self.sent.append((self.clock.position / 1e9, data))

    def play(self, size: tuple[int, int], drive: Callable[["_Film"], Awaitable[None]]) -> None:
        """Run the app while ``drive`` does."""

        async def driven(pilot: Pilot[object]) -> None:
            await drive(self)
            await pilot.pause()
            self.exit()

        asyncio.run(self.run_async(size=size, mouse=False, auto_pilot=driven))
        if self.return_code:
            raise RuntimeError("the screen could not be drawn")

    async def show(self, position: int) -> None:
        """Set the clock, and return when the screen shows what has come."""
        self.clock.seek(position)
        async with asyncio.timeout(_DEADLINE_SECONDS):
            await self._shown.ready.wait()
            await self._shown.catch_up()


class _FilmedScreen(RecordingScreen):
    def __init__(self, backend: ReplayBackend, name: str, told: str) -> None:
        super().__init__(backend, name, told)
        self.ready = asyncio.Event()

    async def _begin(self) -> None:
        await super()._begin()
        self.ready.set()

    async def catch_up(self) -> None:
        self.call_next(self._read)
        self.call_next(self._face.at_once)
        # What is drawn may lay out anew, which is drawn with the refresh after it.
        for _ in range(2):
            drawn = asyncio.Event()
            self.call_next(partial(self.call_after_refresh, drawn.set))
            await drawn.wait()


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
