"""Pictures of an opened lane; times come from the events, so that they never change by themselves."""

from collections.abc import Callable

import pytest
from textual.pilot import Pilot

from decodescope.tui.compare.opened import OpenedLane
from decodescope.tui.session import Phase

from ..scope_app import happened
from .opened_app import OpenedApp
from .opened_lanes import two_lanes

Snapshot = Callable[..., bool]


@pytest.fixture
def snapshot_folder(snapshot_tempdir: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Give the plugin back the one variable of its own that it cannot do without."""
    if snapshot_tempdir is not None:
        monkeypatch.setenv("TEXTUAL_SNAPSHOT_TEMPDIR", snapshot_tempdir)


@pytest.mark.usefixtures("snapshot_folder")
@pytest.mark.parametrize(
    ("size", "theme", "keys"),
    [
        ((80, 24), "textual-dark", ()),
        ((80, 24), "textual-dark", ("l", "i")),
        ((120, 40), "textual-dark", ("l", "i")),
        ((120, 40), "textual-light", ("l", "i", "right", "right", "right", "right")),
        ((160, 50), "textual-dark", ("l", "i", "ctrl+t")),
    ],
)
def test_opened_lane(snap_compare: Snapshot, size: tuple[int, int], theme: str, keys: tuple[str, ...]) -> None:
    reference, other = two_lanes()
    app = OpenedApp(other, reference, theme)

    async def reach(pilot: Pilot[None]) -> None:
        screen = app.opened
        assert isinstance(screen, OpenedLane)
        await happened(lambda: screen.session.phase is Phase.DONE)
        await pilot.pause()
        if keys:
            await pilot.press(keys[0])
            await happened(lambda: screen._face.instead is not None)
            await pilot.press(*keys[1:])
        await pilot.pause()
        screen._slow_timer.pause()
        screen._face.all()
        await pilot.pause()

    assert snap_compare(app, terminal_size=size, run_before=reach)
