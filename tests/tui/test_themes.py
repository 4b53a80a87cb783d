"""Themes, also switched in mid-run; colours that are missing."""

from pathlib import Path

import pytest
from textual.color import Color
from textual.constants import DEFAULT_THEME
from textual.screen import Screen
from textual.theme import BUILTIN_THEMES

from decodescope.tui.options import ScopeOptions
from decodescope.tui.replay.app import ReplayApp
from decodescope.tui.session import Phase
from decodescope.tui.widgets.cells import Cells
from decodescope.tui.widgets.counters import Counters
from decodescope.tui.widgets.plot import Plot

from .fakes import answer, ready, tokens
from .scope_app import Scope, default_options, happened, scope


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


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    return tmp_path / "state" / "theme"


def content_of(kept: Path) -> bytes:
    return kept.read_bytes() if kept.exists() else b""


def fill(kept: Path, content: bytes) -> None:
    kept.parent.mkdir()
    kept.write_bytes(content)


async def theme_at_start(kept: Path, given: str | None = None, chosen: str | None = None) -> str:
    """The theme that an app begins with; ``chosen`` is chosen in it then."""
    app = ReplayApp([], ScopeOptions(theme=given))
    app.get_default_screen = Screen  # type: ignore[method-assign]
    app.keep_theme(kept)
    async with app.run_test():
        begun = app.theme
        if chosen is not None:
            before = len(app._notifications)
            app.theme = chosen
            await happened(lambda: content_of(kept) == f"{chosen}\n".encode())
            await happened(lambda: len(app._notifications) > before or given is None)
    return begun


async def test_a_chosen_theme_is_that_of_the_next_start(kept: Path) -> None:
    assert await theme_at_start(kept) == DEFAULT_THEME
    assert content_of(kept) == b""
    assert await theme_at_start(kept, chosen="nord") == DEFAULT_THEME
    assert await theme_at_start(kept, chosen=DEFAULT_THEME) == "nord"
    assert await theme_at_start(kept) == DEFAULT_THEME


def test_it_is_known_before_anything_runs(kept: Path) -> None:
    fill(kept, b"nord\n")
    kept.chmod(0o400)
    before = kept.stat().st_mtime_ns
    app = ReplayApp([], ScopeOptions())
    app.keep_theme(kept)
    assert app.theme == "nord"
    assert kept.stat().st_mtime_ns == before


async def test_a_theme_that_is_given_wins_and_is_not_kept(kept: Path) -> None:
    await theme_at_start(kept, chosen="nord")
    assert await theme_at_start(kept, given="dracula") == "dracula"
    assert content_of(kept) == b"nord\n"
    assert await theme_at_start(kept, given="dracula", chosen="gruvbox") == "dracula"
    assert await theme_at_start(kept) == "gruvbox"


@pytest.mark.parametrize("content", [b"gone-theme\n", b"", b"nord,dracula", b"\xff\xfe", b"x" * 100_000])
async def test_what_is_no_theme_is_passed_over(kept: Path, content: bytes) -> None:
    fill(kept, content)
    assert await theme_at_start(kept, chosen="nord") == DEFAULT_THEME
    assert await theme_at_start(kept) == "nord"


async def test_a_theme_that_cannot_be_kept_is_used_all_the_same(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    async with scope() as running:
        running.app.keep_theme(tmp_path / "file" / "theme")
        running.app.theme = "nord"
        await running.until(lambda: any("could not be saved" in toast for toast in running.toasts))
        assert running.app.theme == "nord"


@pytest.mark.parametrize("theme", ["nord", "ansi-light"])
async def test_no_color_and_a_kept_theme(kept: Path, monkeypatch: pytest.MonkeyPatch, theme: str) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    fill(kept, theme.encode())
    assert await theme_at_start(kept) == theme
