"""Lines that are finished cells look as Textual would make them."""

from collections.abc import Callable

import pytest
from textual.app import App, ComposeResult
from textual.containers import Container
from textual.geometry import Region
from textual.strip import Strip
from textual.widget import Widget

from decodescope.tui.widgets.cells import Cells
from decodescope.tui.widgets.prepared import PreparedLines

from .fakes import answer, ready
from .scope_app import default_options, scope


def looks(strips: list[Strip]) -> list[list[tuple[str, str]]]:
    """Every character with the SGR parameters of its style."""
    return [
        [(character, "" if style is None else style.render("x")) for text, style, _ in strip for character in text]
        for strip in strips
    ]


def theirs(widget: Widget, crop: Region) -> list[Strip]:
    widget._styles_cache.clear()
    return Widget.render_lines(widget, crop)


@pytest.mark.parametrize("theme", ["textual-dark", "textual-light", "nord", "ansi-dark"])
async def test_all_of_the_scope(theme: str) -> None:
    async with scope(options=default_options(prompt="q", theme=theme)) as running:
        running.engine.play(ready())
        await running.until(lambda: bool(running.engine.requests))
        running.engine.play(*answer([b"word \x1b"] * 50))
        await running.until(lambda: "word" in running.conversation.answer_text)
        await running.press("escape", "ctrl+t")
        compared = 0
        for widget in running.screen.query(Widget):
            if isinstance(widget, PreparedLines) and widget.is_on_screen and widget.outer_size:
                width, height = widget.outer_size
                for crop in (Region(0, 0, width, height), Region(width // 3, height // 2, width // 2, 1)):
                    assert looks(widget.render_lines(crop)) == looks(theirs(widget, crop)), widget
                compared += 1
        assert compared > 6


class Boxes(App[None]):
    CSS = """
    Cells { height: 3; }
    #padded { padding: 0 2 0 1; background: red 40%; }
    #above { padding: 1 1 0 1; }
    #border { border-left: thick green; }
    #outline { outline: round green; }
    #tint { tint: red 30%; }
    #faint { text-opacity: 50%; }
    #within { height: 3; opacity: 60%; }
    """

    def compose(self) -> ComposeResult:
        for name in ("padded", "above", "border", "outline", "tint", "faint"):
            yield Cells(id=name)
        with Container(id="within"):
            yield Cells(id="inner")


async def test_boxes_of_all_kinds() -> None:
    app = Boxes()
    async with app.run_test(size=(30, 24)) as pilot:
        for cells in app.query(Cells):
            cells.show_rows([(("text ", "strong"), ("more", "dim"))])
        await pilot.pause()
        drawn = {}
        for cells in app.query(Cells):
            crop = Region(0, 0, *cells.outer_size)
            drawn[cells.id] = looks(cells.render_lines(crop))
            assert drawn[cells.id] == looks(theirs(cells, crop)), cells.id
        assert len({str(lines) for lines in drawn.values()}) == len(drawn)


async def test_changes_of_style_are_seen() -> None:
    app = Boxes()
    async with app.run_test(size=(30, 24)) as pilot:
        cells = app.query_one("#padded", Cells)
        within = app.query_one("#inner", Cells)
        for one in (cells, within):
            one.show_rows([(("text", ""),)])
        changes: list[tuple[Cells, Callable[[], object]]] = [
            (cells, lambda: cells.set_styles("background: blue;")),
            (cells, lambda: cells.set_styles("padding: 0 3;")),
            (cells, lambda: cells.set_styles("tint: white 50%;")),
            (within, lambda: setattr(app, "theme", "textual-light")),
        ]
        for changed, change in changes:
            crop = Region(0, 0, *changed.outer_size)
            before = looks(changed.render_lines(crop))
            change()
            await pilot.pause()
            after = looks(changed.render_lines(crop))
            assert after != before
            assert after == looks(theirs(changed, crop))
