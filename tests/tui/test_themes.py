"""Themes, also switched in mid-run; colours that are missing."""

import pytest
from textual.color import Color
from textual.theme import BUILTIN_THEMES

from decodescope.tui.session import Phase
from decodescope.tui.widgets.cells import Cells
from decodescope.tui.widgets.counters import Counters
from decodescope.tui.widgets.plot import Plot

from .fakes import answer, ready, tokens
from .scope_app import Scope, default_options, scope


def contrasts(running: Scope, kind: type[Cells]) -> set[float]:
    """How far every drawn character of a widget stands out from what is behind it, in brightness from 0 to 1."""
    widget = running.screen.query_one(kind)
    found = set()
    for y in range(widget.content_size.height):
        for segment in widget.render_line(y):
            style = segment.style
            if segment.text.strip() and style is not None and style.color is not None and style.bgcolor is not None:
                front, back = (Color(*color.get_truecolor()) for color in (style.color, style.bgcolor))
                found.add(abs(front.brightness - back.brightness))
    return found


async def running_answer(running: Scope) -> None:
    running.engine.play(ready())
    await running.until(lambda: bool(running.engine.requests))
    running.engine.play(*answer([b"word "] * 50))
    await running.until(lambda: running.session.phase is Phase.DECODE)
    await running.until(lambda: "median" in running.line(Plot))


@pytest.mark.parametrize("other", ["textual-light", "nord", "solarized-light"])
async def test_switching_in_mid_run_keeps_everything_readable(other: str) -> None:
    async with scope(options=default_options(prompt="q", theme="textual-dark")) as running:
        await running_answer(running)
        for kind in (Counters, Plot):
            assert min(contrasts(running, kind)) > 0.15
        before = running.screen.query_one(Counters).render_line(0)
        running.app.theme = other
        await running.until(lambda: running.screen.query_one(Counters).render_line(0) != before)
        for kind in (Counters, Plot):
            assert min(contrasts(running, kind)) > 0.15
        running.engine.play(*tokens(900_000_000, [b"x"] * 5, first=51))
        await running.until(lambda: running.session.run is not None and running.session.run.token_count == 55)


def luminance(color: Color) -> float:
    """Return the relative luminance as WCAG has it."""
    parts = (part / 255 for part in color.rgb)
    red, green, blue = (part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize("theme", sorted(name for name in BUILTIN_THEMES if "ansi" not in name))
async def test_who_spoke_is_readable(theme: str) -> None:
    """WCAG asks for a contrast of 4.5 of text as small as this."""
    async with scope(options=default_options(prompt="q", theme=theme)) as running:
        segments = [one for one in running.conversation.render_line(0) if one.text.strip() in ("▌", "you")]
        assert len(segments) == 2
        for segment in segments:
            assert segment.style is not None
            assert segment.style.color is not None
            assert segment.style.bgcolor is not None
            front, back = (
                luminance(Color(*color.get_truecolor())) for color in (segment.style.color, segment.style.bgcolor)
            )
            assert (max(front, back) + 0.05) / (min(front, back) + 0.05) >= 4.5


@pytest.mark.parametrize("theme", ["ansi-dark", "ansi-light"])
async def test_the_terminals_own_colours_are_left_to_the_terminal(theme: str) -> None:
    async with scope(options=default_options(prompt="q", theme=theme)) as running:
        await running_answer(running)
        for kind in (Counters, Plot):
            for y in range(2):
                for segment in running.screen.query_one(kind).render_line(y):
                    assert segment.style is not None
                    assert segment.style.color is not None
                    assert segment.style.color.triplet is None


async def test_no_color_draws_in_shades_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    async with scope(options=default_options(prompt="q")) as running:
        await running_answer(running)
        for strip in running.app.screen._compositor.render_strips():
            for segment in strip:
                color = None if segment.style is None else segment.style.color
                if color is not None:
                    assert len(set(color.get_truecolor())) == 1
