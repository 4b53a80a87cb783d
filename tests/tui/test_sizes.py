"""Whatever size the terminal takes, and after whatever sizes: nothing is cut, and every plot is whole."""

import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from textual.screen import Screen
from textual.widgets import Static

from decodescope.backends.events import Event
from decodescope.tui.session import Phase
from decodescope.tui.widgets.cells import Cells, row_width
from decodescope.tui.widgets.newest_token import NewestToken
from decodescope.tui.widgets.plot import Plot

from .compare.fakes import comparing
from .fakes import MS, answer, finished, progress, prompt, ready, taken, token
from .replay.replay_app import opened, replay, whole
from .scope_app import scope

SIZES = [(80, 24), (61, 17), (200, 60), (79, 23), (100, 30), (40, 12), (120, 40)]
"""Down and up, each after another one."""


def overflowing(screen: Screen[Any]) -> Iterator[tuple[str, str]]:
    """Yield what does not fit where it is drawn: (widget, its text)."""
    for cells in screen.query(Cells):
        if cells.is_on_screen and cells.display and cells.content_size:
            width, height = cells.content_size
            for row in cells._rows:
                if row_width(row) > width:
                    yield type(cells).__name__, "".join(text for text, _ in row)
            if len(cells._rows) > height:
                yield type(cells).__name__, cells.plain


def assert_whole(screen: Screen[Any]) -> None:
    assert list(overflowing(screen)) == []
    for legend in screen.query("#legend").results(Static):
        assert len(str(legend.render())) <= legend.content_size.width
    for newest in screen.query(NewestToken):
        assert not newest.plain.strip() or newest.plain.strip().startswith("#")
    for plot in screen.query(Plot):
        if plot.display and plot.content_size.height >= 3 and plot.plain:
            rows = plot.plain.split("\n")
            assert len(rows) == plot.content_size.height
            # The axis ends with its zero, in the last row.
            assert re.match(r" *0 ┤", rows[-1]), rows
            for figure in re.findall(r"(?:median|floor|up to) +[\d.,]+(.*?)(?:  |$)", rows[0]):
                assert re.match(r" (ms|s)$", figure), rows[0]


PHASES: dict[str, Callable[[], list[Event]]] = {
    "read": lambda: [
        taken(),
        prompt(10 * MS, 3000, 96),
        *(progress((10 + n) * MS, 96 + n * 200, 3000, 96) for n in range(1, 9)),
    ],
    "written": lambda: [*answer([b" word"] * 60), token(112 * MS + 59 * 7 * MS + 700 * MS, 61, b"x")],
    "done": lambda: [
        *answer([b" word"] * 60),
        token(112 * MS + 59 * 7 * MS + 700 * MS, 61, b"x"),
        finished(2_000 * MS),
    ],
}


@pytest.mark.parametrize("phase", PHASES)
async def test_the_scope_fits_after_every_change_of_size(phase: str) -> None:
    async with scope() as running:
        running.engine.play(ready(weights=90_000_000))
        await running.until(lambda: running.session.phase is Phase.READY)
        running.session.bandwidth = 20e9
        await running.press(*"why", "enter")
        await running.until(lambda: bool(running.engine.requests))
        running.engine.play(*PHASES[phase]())
        wanted = {"read": Phase.PREFILL, "written": Phase.DECODE, "done": Phase.DONE}[phase]
        await running.until(lambda: running.session.phase is wanted)
        # A plot is dear: while tokens come it waits, but not with an old size.
        running.screen._face._plot_due = float("inf")
        for panels in ((), ("f4", "ctrl+t", "f6")):
            await running.press(*panels)
            for size in SIZES:
                await running.pilot.resize_terminal(*size)
                await running.pilot.pause()
                await running.pilot.pause()
                assert_whole(running.screen)


@pytest.mark.parametrize("count", [2, 6])
@pytest.mark.parametrize("raced", [False, True])
async def test_a_comparison_fits_after_every_change_of_size(count: int, raced: bool) -> None:
    async with comparing(count) as running:
        if raced:
            await running.play(lambda: running.comparison.failed(1, "It cannot be loaded.", "out of memory"))
            await running.play(running.comparison.all_written)
            await running.raced(300)
        else:
            await running.play(lambda: running.comparison.generated(0, answer([b" word"] * 60)))
        for chosen in range(2):
            await running.press(str(chosen + 1))
            for size in SIZES:
                await running.pilot.resize_terminal(*size)
                await running.pilot.pause()
                await running.pilot.pause()
                assert_whole(running.screen)


async def test_a_replay_fits_after_every_change_of_size() -> None:
    async with replay(opened(whole([b" word"] * 60)), paused=True) as running:
        await running.went("end")
        for panels in ((), ("i", "t")):
            await running.press(*panels)
            for size in SIZES:
                await running.pilot.resize_terminal(*size)
                await running.pilot.pause()
                await running.pilot.pause()
                assert_whole(running.screen)
