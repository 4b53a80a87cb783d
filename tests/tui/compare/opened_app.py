"""An app with one opened lane on top of another screen."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from textual.app import App, ComposeResult
from textual.pilot import Pilot
from textual.screen import Screen
from textual.widgets import Static

from decodescope.comparison.lane import Lane
from decodescope.tui.compare.opened import OpenedLane, open_lane
from decodescope.tui.session import Phase

from ..scope_app import happened

BELOW = "the comparison"


class OpenedApp(App[None]):
    CSS = "ToastRack { dock: top; align: right top; }"

    def __init__(self, lane: Lane, reference: Lane, theme: str = "textual-dark", *, scored: bool = True) -> None:
        super().__init__()
        self.animation_level = "none"
        self.opened = open_lane(lane, reference, scored=scored)
        self._theme_wanted = theme

    def compose(self) -> ComposeResult:
        yield Static(BELOW)

    def on_mount(self) -> None:
        self.theme = self._theme_wanted
        self.push_screen(self.opened)


class Opened:
    def __init__(self, app: OpenedApp, pilot: Pilot[None]) -> None:
        self.app = app
        self.pilot = pilot

    @property
    def screen(self) -> OpenedLane:
        assert isinstance(self.app.opened, OpenedLane)
        return self.app.opened

    def reached(self, phase: Phase) -> bool:
        return self.screen.session.phase is phase

    def on_top(self, kind: type[Screen[None]]) -> bool:
        return isinstance(self.app.screen, kind)

    def shown(self) -> str:
        return "\n".join(strip.text.rstrip() for strip in self.app.screen._compositor.render_strips())

    async def sees(self, text: str) -> None:
        """Wait for something that has to be drawn; only a hang takes long."""
        await happened(lambda: text in self.shown())
        await self.pilot.pause()

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)
        await self.pilot.pause()

    @property
    def toasts(self) -> list[str]:
        return [notification.message for notification in self.app._notifications]


@asynccontextmanager
async def opened(
    lane: Lane, reference: Lane, *, size: tuple[int, int] = (120, 40), scored: bool = True
) -> AsyncIterator[Opened]:
    app = OpenedApp(lane, reference, scored=scored)
    async with app.run_test(size=size) as pilot:
        running = Opened(app, pilot)
        await happened(lambda: running.screen._face.reading is not None)
        yield running
