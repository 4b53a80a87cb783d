"""Changing the settings, through the keys."""

from typing import Any

import pytest
from textual import events

from decodescope.backends.requests import EngineSettings, Sampling
from decodescope.backends.text import visible
from decodescope.tui.options import ScopeOptions
from decodescope.tui.screens.settings import SettingsScreen
from decodescope.tui.session import Phase
from decodescope.tui.widgets.area import Area
from decodescope.tui.widgets.field import Field
from decodescope.tui.widgets.header import Header
from decodescope.tui.widgets.phase_line import PhaseLine

from .fakes import MS, answer, finished, ready
from .scope_app import Scope, answered, asked, default_options, scope
from .test_hostile import CONTROL, MARKUP, harmless


def panel(running: Scope) -> SettingsScreen:
    screen = running.app.screen
    assert isinstance(screen, SettingsScreen)
    return screen


async def opened(running: Scope, key: str = "f7") -> None:
    await running.press(key)
    await running.until(lambda: isinstance(running.app.screen, SettingsScreen) and running.app.focused is not None)


async def typed(running: Scope, name: str, text: str) -> None:
    """Put ``text`` into a field by keys."""
    panel(running).query_one(f"#{name}").focus()
    await running.pilot.pause()
    await running.press("ctrl+u", *text)


def text(running: Scope) -> str:
    return " ".join("\n".join(running.shown()).split())


async def test_a_change_holds_from_the_next_prompt_on() -> None:
    async with scope() as running:
        await answered(running, [b"one"])
        await opened(running)
        await typed(running, "temp", "0.2")
        await typed(running, "seed", "7")
        await typed(running, "max_tokens", "9")
        await running.press("enter")
        assert running.app.screen is running.screen
        assert len(running.engines) == 1
        assert any("temp 0.2, seed 7" in toast for toast in running.toasts)
        assert "temp 0.2" in running.line(Header)
        await running.press(*"more", "enter")
        await running.until(lambda: len(running.engine.requests) == 2)
        request = running.engine.requests[1]
        assert request.sampling == Sampling(temp=0.2, seed=7)
        assert request.max_tokens == 9
        running.engine.play(*answer([b"x"]))
        await running.until(lambda: "of at most 9" in running.line(PhaseLine))


async def test_again_answers_with_the_changed_settings() -> None:
    async with scope() as running:
        await answered(running, [b"one"])
        running.conversation.focus()
        await running.pilot.pause()
        await opened(running, "f7")
        await typed(running, "temp", "0")
        panel(running).query_one("#system").focus()
        await running.pilot.pause()
        await running.press(*"be", "enter", *"brief")
        panel(running).query_one("#stop").focus()
        await running.pilot.pause()
        await running.press(*"END", "enter", *"\\n", "ctrl+s")
        await running.press("ctrl+r")
        await running.until(lambda: len(running.engine.requests) == 2)
        request = running.engine.requests[1]
        assert request.sampling.temp == 0
        assert request.stop == ("END", "\n")
        assert [(message.role, message.content) for message in request.messages] == [
            ("system", "be\nbrief"),
            ("user", "why"),
        ]


async def test_what_is_in_force_is_shown() -> None:
    options = ScopeOptions(model=default_options().model, sampling=Sampling(temp=0.5, seed=3))
    async with scope(options=options) as running:
        running.engine.play(ready())
        await running.until(lambda: "temp 0.5 · seed 3" in running.line(PhaseLine))
        assert "temp 0.5" in running.line(Header)


async def test_esc_leaves_everything_as_it_was() -> None:
    async with scope() as running:
        await asked(running)
        running.engine.play(*answer([b"x"]), finished(900 * MS))
        await opened(running)
        await typed(running, "temp", "2")
        await typed(running, "context", "99")
        await running.press("escape")
        await opened(running)
        assert panel(running).query_one("#temp", Field).value == "0.8"
        await running.press("escape", "ctrl+r")
        await running.until(lambda: len(running.engine.requests) == 2)
        assert running.engine.requests[1].sampling == Sampling()
        assert len(running.engines) == 1


async def test_nothing_changed_says_nothing() -> None:
    async with scope() as running:
        await opened(running)
        await running.press("enter")
        assert running.app.screen is running.screen
        assert running.toasts == []


async def test_what_cannot_be_taken_is_said_and_focused() -> None:
    async with scope(size=(80, 24)) as running:
        await opened(running)
        await typed(running, "top_p", "1.5")
        assert "Top-p: 1.5 is too large: the most is 1." in text(running)
        panel(running).query_one("#seed").focus()
        await running.pilot.pause()
        await running.press("enter")
        assert panel(running).focused is panel(running).query_one("#top_p")
        await running.press("ctrl+u", *"0.5")
        assert "too large" not in text(running)
        await running.press("ctrl+s")
        assert running.app.screen is running.screen
        assert running.session.sampling.top_p == 0.5


async def test_another_context_loads_the_model_again_after_a_second_enter() -> None:
    async with scope(size=(80, 24)) as running:
        await answered(running, [b"one"])
        await opened(running)
        await typed(running, "context", "2048")
        assert "loads the model again" in text(running)
        await running.press("enter")
        assert "once more" in text(running)
        assert len(running.engines) == 1
        await running.press("0")  # another value has to be confirmed anew
        await running.press("enter")
        assert len(running.engines) == 1
        await running.press("enter")
        await running.until(lambda: len(running.engines) == 2)
        assert running.launches[1] == (running.launches[0][0], EngineSettings(context=20480))
        running.engine.play(ready())
        await running.until(lambda: running.session.phase is Phase.READY)
        running.box.focus()
        await running.press(*"more", "enter")
        await running.until(lambda: len(running.engine.requests) == 1)
        assert [message.content for message in running.engine.requests[0].messages] == ["why", "one", "more"]


async def test_the_tick_and_the_threads() -> None:
    async with scope() as running:
        await opened(running)
        panel(running).query_one("#ignore_eos").focus()
        await running.pilot.pause()
        await running.press("space")
        assert "[x] go on" in text(running)
        await running.pilot.click("#ignore_eos", offset=(1, 0))
        assert "[ ] go on" in text(running)
        await running.press("space")
        await typed(running, "threads", "1")
        await running.press("enter", "enter")
        await running.until(lambda: len(running.engines) == 2)
        assert running.launches[1][1].threads == 1
        assert running.session.sampling.ignore_eos


@pytest.mark.parametrize("size", [(80, 24), (200, 60), (40, 12), (20, 5), (10, 3)])
async def test_any_size(size: tuple[int, int]) -> None:
    async with scope() as running:
        await opened(running)
        await running.pilot.resize_terminal(*size)
        await running.press("tab", "shift+tab", "down", "up")
        assert all(len(line) == size[0] for line in running.shown())
        if size[1] >= 24:
            for words in ("temperature", "threads", "stop strings", "esc leave"):
                assert words in text(running)


@pytest.mark.parametrize("hostile", [*MARKUP, CONTROL])
async def test_texts_from_outside_are_shown_character_for_character(hostile: str) -> None:
    options: dict[str, Any] = {"system": hostile, "stop": (hostile,)}
    async with scope(options=ScopeOptions(model=default_options().model, **options)) as running:
        await opened(running)
        assert visible(hostile) in panel(running).query_one("#system", Area).text
        assert harmless(running)
        for widget in (panel(running).query_one("#stop", Area), panel(running).query_one("#temp", Field)):
            widget.post_message(events.Paste(CONTROL))
        await running.until(lambda: visible(CONTROL) in panel(running).query_one("#stop", Area).text)
        await running.until(lambda: "is not a number" in text(running))
        assert harmless(running)
        await typed(running, "temp", "1")
        panel(running).query_one("#stop", Area).text = ""
        await running.press("ctrl+s")
        assert running.session.sampling.temp == 1
        running.engine.play(ready())
        await running.until(lambda: running.session.phase is Phase.READY)
        running.box.focus()
        await running.press("q", "enter")
        await running.until(lambda: bool(running.engine.requests))
        assert running.engine.requests[0].messages[0].content == hostile
        running.app.clear_notifications()


@pytest.mark.parametrize("theme", ["textual-light", "textual-dark"])
async def test_wrong_fields_stand_out_in_words_and_in_colour(theme: str) -> None:
    async with scope(options=default_options(theme=theme)) as running:
        await opened(running)
        await typed(running, "temp", "x")
        assert panel(running).query_one("#temp").has_class("-invalid")
        assert not panel(running).query_one("#seed").has_class("-invalid")
