"""Pictures of the compare screen at three sizes; all times come from the events and from a clock that stands still."""

import pytest
from textual.pilot import Pilot

from decodescope.tui.compare.app import CompareApp
from decodescope.tui.options import ScopeOptions

from ..scope_app import happened
from ..test_snapshots import Snapshot, snapshot_folder
from .fakes import MS, Clock, FakeComparison, plan_of

__all__ = ["snapshot_folder"]


@pytest.mark.usefixtures("snapshot_folder")
@pytest.mark.parametrize(
    ("size", "count", "theme", "at"),
    [
        ((80, 24), 4, "textual-dark", 250),
        ((120, 40), 4, "textual-dark", 290),
        ((120, 40), 4, "textual-light", 5000),
        ((200, 60), 6, "textual-dark", 300),
    ],
)
def test_race(snap_compare: Snapshot, size: tuple[int, int], count: int, theme: str, at: int) -> None:
    made: list[FakeComparison] = []

    def make(plan: object) -> FakeComparison:
        made.append(FakeComparison(plan_of(count)))
        return made[-1]

    clock = Clock()
    app = CompareApp(plan_of(count), make, ScopeOptions(theme=theme), clock=clock)

    async def reach(pilot: Pilot[None]) -> None:
        screen = app.compare
        await happened(lambda: screen.board is not None and screen._feed is not None)
        made[0].play(lambda: made[0].failed(1, "It cannot be loaded.", "out of memory"))
        made[0].play(made[0].all_written)
        await happened(lambda: screen.board is not None and screen.board.race is not None)
        app.clear_notifications()
        assert screen.board is not None
        assert screen.board.race is not None
        clock.now = at * MS
        screen.board.race.pause()
        screen._leisure.pause()
        await pilot.pause()
        screen._draw_all()
        await pilot.pause()

    assert snap_compare(app, terminal_size=size, run_before=reach)
