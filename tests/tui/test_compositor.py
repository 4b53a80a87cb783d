"""Partial updates show what full ones show, and ask no widget for more than has changed."""

import random
from collections.abc import Iterator

import pytest
from rich.segment import Segment
from rich.style import Style
from textual._compositor import ChopsUpdate
from textual.app import App, ComposeResult
from textual.containers import Container
from textual.geometry import Region
from textual.screen import ModalScreen, Screen
from textual.strip import Strip
from textual.widget import Widget

from decodescope.tui.compositor import SparingScreen
from decodescope.tui.frame_encoder import _parts
from decodescope.tui.widgets.cells import Cells

WIDTH, HEIGHT = 60, 16

Cell = tuple[str, Style | None]


class Noise(Widget):
    """Rows of text that change one by one."""

    def __init__(self, id: str, seed: int) -> None:
        super().__init__(id=id)
        self._random = random.Random(seed)
        self._rows: dict[int, str] = {}
        self.asked: list[Region] = []

    def change(self, first: int, last: int) -> None:
        for y in range(first, last):
            self._rows[y] = "".join(self._random.choices("abc日 ", k=40))
        self.refresh(Region(0, first, self.size.width, last - first))

    def render_lines(self, crop: Region) -> list[Strip]:
        self.asked.append(crop)
        return super().render_lines(crop)

    def render_line(self, y: int) -> Strip:
        style = Style(color="#ffffff", bgcolor="#102030")
        return Strip([Segment(self._rows.get(y, self.id or ""), style)]).adjust_cell_length(self.size.width, style)


class Layers(SparingScreen, Screen[None]):
    """Side by side, one over the other, and one that reaches beyond the edge."""

    def compose(self) -> ComposeResult:
        with Container(id="row"):
            yield Noise("left", 1)
            yield Noise("right", 2)
        yield Cells(id="first")
        yield Cells(id="second")
        yield Noise("over", 3)
        yield Noise("beyond", 4)


class Over(ModalScreen[None]):
    """Something to look at instead."""


class LayersApp(App[None]):
    """Counts the frames."""

    CSS = """
    Layers { layers: default above; }
    #row { layout: horizontal; height: 10; }
    Noise { height: 100%; }
    #left { width: 20; } #right { width: 1fr; border: round white; }
    #over { layer: above; width: 13; height: 5; offset: 14 3; }
    #beyond { layer: above; width: 20; height: 6; offset: 50 7; }
    Cells { height: 2; padding: 0 1; }
    """

    frames = 0

    def get_default_screen(self) -> Layers:
        self.layers = Layers()
        return self.layers

    def post_display_hook(self) -> None:
        self.frames += 1

    def cells(self, id: str) -> Cells:
        return self.layers.query_one(f"#{id}", Cells)

    def shown(self) -> list[list[Cell]]:
        return [list(by_cell(strip)) for strip in self.layers._compositor.render_strips()]


def by_cell(strip: Strip) -> Iterator[Cell]:
    """A character of two cells is one, followed by nothing."""
    for text, style, _ in strip:
        for character in text:
            yield character, style
            yield from [("", style)] * (Segment(character).cell_length - 1)


@pytest.mark.parametrize("seed", range(6))
async def test_a_partial_update_shows_what_a_full_one_shows(seed: int) -> None:
    chance = random.Random(seed)
    app = LayersApp()
    async with app.run_test(size=(WIDTH, HEIGHT)) as pilot:
        await pilot.pause()
        compositor = app.layers._compositor
        terminal = app.shown()
        names = list(app.layers.query(Noise))
        updates = 0
        for _ in range(40):
            with app.batch_update():  # nothing is drawn but here
                changed: set[Widget] = set(chance.sample(names, chance.randint(1, 3)))
                for widget in changed:
                    assert isinstance(widget, Noise)
                    first = chance.randrange(max(widget.size.height, 1))
                    widget.change(first, chance.randint(first + 1, widget.size.height))
                compositor.update_widgets(changed)
                update = compositor.render_update()
            if update is None:  # all of it is beyond the edge
                continue
            updates += 1
            assert isinstance(update, ChopsUpdate)
            for y, x, strip in _parts(update):
                cells = list(by_cell(strip))
                terminal[y][x : x + len(cells)] = cells
            assert ["".join(text for text, _ in row) for row in terminal] == [
                "".join(text for text, _ in row) for row in app.shown()
            ]
        assert updates > 20


async def test_only_what_changed_is_asked_and_only_for_its_rows() -> None:
    app = LayersApp()
    async with app.run_test(size=(WIDTH, HEIGHT)) as pilot:
        await pilot.pause()
        widgets = {widget.id: widget for widget in app.layers.query(Noise)}
        for widget in widgets.values():
            widget.asked.clear()
        widgets["left"].change(8, 9)
        await pilot.pause()
        assert {name: widget.asked for name, widget in widgets.items()} == {
            "left": [Region(0, 8, 20, 1)],
            "right": [],
            "over": [],
            "beyond": [],
        }


async def test_only_the_cells_that_changed_are_part_of_an_update() -> None:
    app = LayersApp()
    async with app.run_test(size=(WIDTH, HEIGHT)) as pilot:
        cells = app.cells("second")
        cells.show_rows([(("tokens ", ""), ("41", "strong"), (" elapsed", ""))])
        await pilot.pause()
        compositor = app.layers._compositor
        with app.batch_update():  # nothing is drawn but here
            cells.show_rows([(("tokens ", ""), ("42", "strong"), (" elapsed", ""))])
            compositor.update_widgets({cells})
            update = compositor.render_update()
        assert isinstance(update, ChopsUpdate)
        at = cells.content_region
        assert [(y, x, strip.text) for y, x, strip in _parts(update)] == [(at.y, at.x + len("tokens "), "42")]


async def test_what_covers_a_change_is_seen_and_not_what_is_behind() -> None:
    app = LayersApp()
    async with app.run_test(size=(WIDTH, HEIGHT)) as pilot:
        await pilot.pause()
        left, right, over, _ = app.layers.query(Noise)
        for widget in (left, right, over):
            widget.asked.clear()
        over.change(0, 1)
        await pilot.pause()
        assert over.asked
        assert left.asked == right.asked == []


async def test_what_is_refreshed_together_is_one_frame_at_once() -> None:
    app = LayersApp()
    async with app.run_test(size=(WIDTH, HEIGHT)) as pilot:
        await pilot.pause()
        before = app.frames
        with app.layers.one_update():
            app.cells("first").show_rows([(("one", ""),)])
            app.cells("second").show_rows([(("two", ""),)])
            assert app.frames == before
        assert app.frames == before + 1
        await pilot.pause()
        assert app.frames == before + 1
        with app.layers.one_update():
            app.cells("first").show_rows([(("one", ""),)])
        assert app.frames == before + 1


async def test_what_cannot_be_shown_at_once_is_shown_later() -> None:
    app = LayersApp()
    async with app.run_test(size=(WIDTH, HEIGHT)) as pilot:
        await pilot.pause()
        await app.push_screen(Over())
        with app.layers.one_update():
            app.cells("first").show_rows([(("while covered", ""),)])
        await pilot.pause()
        app.pop_screen()
        await pilot.pause()
        assert "while covered" in app.cells("first").plain
        before = app.frames
        with app.layers.one_update():
            app.cells("first").styles.height = 1
            app.cells("first").show_rows([(("lower", ""),)])
            assert app.frames == before
        await pilot.pause()
        assert app.frames > before
        assert app.cells("first").size.height == 1


async def test_what_is_hidden_is_drawn_when_it_is_seen() -> None:
    app = LayersApp()
    async with app.run_test(size=(WIDTH, HEIGHT)) as pilot:
        await pilot.pause()
        app.cells("first").display = False
        await pilot.pause()
        with app.layers.one_update():
            app.cells("first").show_rows([(("hidden", ""),)])
            app.cells("second").show_rows([(("seen", ""),)])
        await pilot.pause()
        app.cells("first").display = True
        await pilot.pause()
        rows = ["".join(text for text, _ in row).split() for row in app.shown()]
        assert ["hidden"] in [row[:1] for row in rows]
