"""Every dash has a reason, beside the pointer and among the keys' help."""

import pytest
from textual.widget import Widget

from decodescope.comparison.table import columns, reason
from decodescope.metrics import numbers
from decodescope.tui.compare.help import sections
from decodescope.tui.compare.result_table import ResultTable
from decodescope.tui.lens import Lens
from decodescope.tui.paged_table import PagedTable
from decodescope.tui.screens.help import HelpScreen
from decodescope.tui.session import Phase
from decodescope.tui.widgets.counters import LABELS, Counters, Figures, figure_at, figures, grid, reasons

from .compare.fakes import comparing
from .fakes import MS, answer, finished
from .scope_app import Scope, answered, asked, scope


def dashes(lines: list[str]) -> list[tuple[int, int]]:
    return [
        (x, y)
        for y, line in enumerate(lines)
        for x, character in enumerate(line)
        if character == numbers.MISSING and (x == 0 or line[x - 1] == " ")
    ]


async def told(running: Scope, widget: Widget, x: int, y: int) -> str | None:
    await running.pilot.hover(offset=(widget.content_region.x + x, widget.content_region.y + y))
    await running.pilot.pause()
    return None if widget.tooltip is None else str(widget.tooltip)


@pytest.mark.parametrize("width", [19, 40, 59, 79, 98, 118, 198, 240])
def test_every_cell_of_the_grid_is_told_by_its_figure(width: int) -> None:
    for y, row in enumerate(grid(Figures(), width, 12)):
        x = 0
        for text, _ in row:
            label = text.strip()
            if label in LABELS.values():
                name = figure_at(width, x + len(text) - len(text.lstrip()), y)
                assert name is not None
                assert LABELS[name] == label
            x += len(text)


@pytest.mark.parametrize("size", [(120, 40), (80, 24), (200, 60)])
async def test_every_dash_of_the_counters_tells_why(size: tuple[int, int]) -> None:
    async with scope(size=size) as running:
        counters = running.screen.query_one(Counters)
        await asked(running)
        running.engine.play(*answer([b"a", b"b"], total=100, cached=95))
        await running.until(lambda: running.session.phase is Phase.DECODE)
        running.engine.play(finished(200 * MS))
        await running.until(lambda: running.session.phase is Phase.DONE)
        found = dashes(counters.plain.split("\n"))
        assert {figure_at(counters.content_size.width, x, y) for x, y in found} == {"slowdown"}
        for x, y in found:
            assert await told(running, counters, x, y) in dict(reasons(running.session)).values()
        # Where there is a value there is nothing to say.
        assert await told(running, counters, 2, 0) is None
        await running.press("f1")
        assert isinstance(running.app.screen, HelpScreen)
        told_by_key = {text for _, entries, _ in running.app.screen._sections for _, text in entries}
        for label, why in reasons(running.session):
            assert any(label in text and why in text for text in told_by_key)
        shown = figures(running.session, 0)
        missing = {LABELS[name] for name in LABELS if getattr(shown, name) == numbers.MISSING}
        assert {label for label, _ in reasons(running.session)} == missing


async def test_every_dash_of_the_table_of_tokens_tells_why() -> None:
    async with scope(size=(160, 40)) as running:
        await answered(running, [b"one", b" two", b" three"])
        await running.press("ctrl+t")
        for lens in (Lens.TIME, Lens.PROBABILITY, Lens.ENTROPY):
            running.table.lens = lens
            await running.pilot.pause()
            await assert_told(running, running.table, fewest=1)


async def assert_told(running: Scope, table: PagedTable, *, fewest: int) -> None:
    lines = [table.render_line(y).text for y in range(table.content_size.height)]
    found = [(x, y) for x, y in dashes(lines) if y]
    assert len(found) >= fewest
    for x, y in found:
        assert await told(running, table, x, y) in dict(table.reasons()).values()


async def test_every_dash_of_a_comparison_tells_why() -> None:
    async with comparing(3, size=(200, 60)) as running:
        table = running.screen.query_one(ResultTable)
        await running.play(lambda: running.comparison.failed(1, "It cannot be loaded.", "out of memory"))
        await running.play(lambda: running.comparison.generated(0, answer([b"a"] * 30)))
        found = dashes(table.plain.split("\n"))
        assert found
        for x, y in found:
            assert table.reason_at(x, y)
        now = running.board.results
        for row in now.rows:
            for column in columns(now, wide=True):
                assert (reason(column, row) is None) == (column.cell(row) != numbers.MISSING)
        failed = now.rows[1].failure
        why = [text for heading, entries, _ in sections(now) for label, text in entries if label == now.rows[1].label]
        assert any(failed in text for text in why)
