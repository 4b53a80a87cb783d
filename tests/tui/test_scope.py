"""The screen through its keys and the engine's events."""

import itertools
import math
import re
import time
from pathlib import Path

import pytest
from msgspec.structs import replace
from textual.command import CommandPalette
from textual.events import Key, Paste
from textual.widgets import TextArea

from decodescope.backends.events import Failed, Log
from decodescope.tui.app import ScopeApp
from decodescope.tui.conversation.view import Conversation
from decodescope.tui.frame_pace import FramePace
from decodescope.tui.screens.help import HelpScreen
from decodescope.tui.session import Phase
from decodescope.tui.typed import TypedText
from decodescope.tui.widgets.counters import Counters
from decodescope.tui.widgets.header import Header
from decodescope.tui.widgets.key_bar import KeyBar
from decodescope.tui.widgets.newest_token import NewestToken
from decodescope.tui.widgets.phase_line import PhaseLine
from decodescope.tui.widgets.plot import Plot
from decodescope.tui.widgets.warning_line import WarningLine

from ..conftest import DEADLINE_SECONDS
from .fakes import MS, answer, finished, loading, progress, prompt, ready, taken, token, tokens
from .scope_app import Scope, answered, asked, default_options, scope


async def test_every_phase_is_drawn() -> None:
    async with scope() as running:
        running.engine.play(loading(0.5))
        await running.until(lambda: "50% of the model" in running.line(PhaseLine))
        running.engine.play(loading(1.0))
        await running.until(lambda: "warming up" in running.line(PhaseLine))
        await asked(running)
        running.engine.play(taken(), prompt(10 * MS, 512, 96), progress(110 * MS, 352, 512, 96))
        await running.until(lambda: "352 / 512 tokens, 96 cached" in running.line(PhaseLine))
        running.engine.play(progress(310 * MS, 512, 512, 96), *tokens(320 * MS, [b"The", b" sky"]))
        await running.until(lambda: running.line(NewestToken).strip().endswith('#2 " sky"   7.0 ms'))
        assert "The sky" in "\n".join(running.shown())
        running.engine.play(*tokens(334 * MS, [b" is", b" blue"], first=3), finished(400 * MS))
        await running.until(lambda: running.line(PhaseLine).startswith("done"))
        assert "The sky is blue" in "\n".join(running.shown())
        assert "320 ms" in running.line(Counters)  # TTFT: the first token came 320 ms after the request
        assert "516 / 4,096" in running.line(Header)
        assert "tiny · Q4_1 · 92 MiB · CPU, 2 threads · ChatML" in running.line(Header)


async def test_a_prompt_given_at_the_start_is_asked_once_the_model_is_ready() -> None:
    async with scope(options=default_options(prompt="hello")) as running:
        assert "hello" in "\n".join(running.shown())
        assert running.engine.requests == []
        running.engine.play(ready())
        await running.until(lambda: len(running.engine.requests) == 1)
        assert running.engine.requests[0].messages[-1].content == "hello"


async def test_a_prompt_typed_while_loading_waits_and_can_be_taken_back() -> None:
    async with scope() as running:
        await running.press(*"first", "enter")
        assert running.box.text == ""
        await running.press(*"second", "enter")
        assert running.box.text == "second"
        assert any("waiting" in toast for toast in running.toasts)
        await running.press("escape")
        assert running.box.text == "first"
        running.engine.play(ready())
        await running.until(lambda: running.session.phase is Phase.READY)
        assert running.engine.requests == []


async def test_asking_while_the_answer_is_written_keeps_the_text() -> None:
    async with scope() as running:
        await asked(running)
        running.engine.play(*answer([b"a", b"b"]))
        await running.press(*"next", "enter")
        assert running.box.text == "next"
        assert len(running.engine.requests) == 1
        assert any("esc" in toast for toast in running.toasts)


@pytest.mark.parametrize("focus", ["PromptBox", "Conversation", "TokenTable"])
async def test_stop_acts_whatever_has_the_focus(focus: str) -> None:
    async with scope() as running:
        await asked(running)
        running.engine.play(*answer([b"par"]))
        await running.until(lambda: running.session.phase is Phase.DECODE)
        if focus == "TokenTable":
            await running.press("ctrl+t")
        running.screen.query_one(focus).focus()
        await running.pilot.pause()
        await running.press("escape")
        assert running.engine.cancelled == 1
        running.engine.play(finished(200 * MS, "cancelled"))
        await running.until(lambda: running.line(PhaseLine).startswith("stopped"))
        if focus != "TokenTable":
            assert "stopped after 1 token" in "\n".join(running.shown())


async def test_ctrl_c_stops_too() -> None:
    async with scope() as running:
        await asked(running)
        running.engine.play(*answer([b"par"]))
        await running.until(lambda: running.session.phase is Phase.DECODE)
        await running.press("ctrl+c")
        assert running.engine.cancelled == 1


@pytest.mark.parametrize("focus", ["PromptBox", "Conversation"])
async def test_quit_acts_whatever_has_the_focus(focus: str) -> None:
    async with scope() as running:
        running.screen.query_one(focus).focus()
        await running.pilot.pause()
        await running.press("ctrl+q")
        await running.until(lambda: running.app.return_code == 0)


async def test_again_asks_the_same_prompt_anew() -> None:
    async with scope() as running:
        await answered(running, [b"first answer"])
        await running.press("ctrl+r")
        await running.until(lambda: len(running.engine.requests) == 2)
        assert running.engine.requests[0].messages == running.engine.requests[1].messages
        running.engine.play(*answer([b"second answer"]), finished(900 * MS))
        await running.until(lambda: running.session.phase is Phase.DONE)
        shown = "\n".join(running.shown())
        assert "second answer" in shown
        assert "first answer" not in shown
        assert shown.count("▌ why") == 1


async def test_again_in_mid_answer_stops_it_first() -> None:
    async with scope() as running:
        await asked(running)
        running.engine.play(*answer([b"par"]))
        await running.until(lambda: running.session.phase is Phase.DECODE)
        await running.press("ctrl+r")
        assert running.engine.cancelled == 1
        assert len(running.engine.requests) == 1
        running.engine.play(finished(200 * MS, "cancelled"))
        await running.until(lambda: len(running.engine.requests) == 2)


async def test_an_edited_prompt_replaces_its_turn_when_it_is_sent() -> None:
    async with scope() as running:
        await answered(running, [b"one"])
        running.conversation.focus()
        await running.pilot.pause()
        await running.press("f2")
        assert running.box.text == "why"
        assert running.box.has_focus
        assert "one" in "\n".join(running.shown())
        assert "enter replace the last turn" in running.line(KeyBar)
        await running.press("x", "enter")
        await running.until(lambda: len(running.engine.requests) == 2)
        assert [message.content for message in running.engine.requests[1].messages] == ["whyx"]
        assert "one" not in "\n".join(running.shown())
        assert "esc stop" in running.line(KeyBar)


async def test_esc_leaves_the_edited_turn_and_the_draft_as_they_were() -> None:
    async with scope() as running:
        await answered(running, [b"one"])
        await running.press(*"next", "f2")
        assert running.box.text == "why"
        await running.press("x", "f2", "escape")
        assert running.box.text == "next"
        assert "one" in "\n".join(running.shown())
        await running.press("enter")
        await running.until(lambda: len(running.engine.requests) == 2)
        assert [message.content for message in running.engine.requests[1].messages] == ["why", "one", "next"]


async def test_a_stop_is_seen_before_the_engine_obeys() -> None:
    async with scope() as running:
        await asked(running)
        running.engine.play(*answer([b"one"]))
        await running.until(lambda: running.session.phase is Phase.DECODE)
        await running.press("escape")
        assert "stopping" in running.line(PhaseLine)
        assert running.engine.cancelled == 1
        running.engine.play(finished(300 * MS, "cancelled"))
        await running.until(lambda: running.line(PhaseLine).startswith("stopped 1 token"))


async def test_the_gauge_keeps_what_was_there_when_a_prompt_is_refused() -> None:
    async with scope() as running:
        await answered(running, [b"one"])
        assert running.session.context_used == 101
        await running.press(*"more", "enter")
        await running.until(lambda: len(running.engine.requests) == 2)
        running.engine.play(taken(), Failed(t=5, stage="generate", what="The prompt does not fit."))
        await running.until(lambda: running.session.phase is Phase.FAILED)
        assert " 101 / 4,096" in running.line(Header)
        await running.press("ctrl+l")
        assert "   0 / 4,096" in running.line(Header)


async def test_clear_begins_a_new_conversation() -> None:
    async with scope() as running:
        await answered(running, [b"one"])
        await running.press("ctrl+l")
        assert "one" not in "\n".join(running.shown())
        assert "0 / 4,096" in running.line(Header)
        await running.press(*"new", "enter")
        await running.until(lambda: len(running.engine.requests) == 2)
        assert [message.content for message in running.engine.requests[1].messages] == ["new"]


@pytest.mark.parametrize("left", ["tab", "click", "table"])
async def test_what_is_typed_goes_to_the_box_wherever_the_focus_is(left: str) -> None:
    async with scope() as running:
        await answered(running, [b"one"])
        await running.press(*"is ")
        if left == "click":
            await running.pilot.click(Conversation, offset=(5, 1))
        else:
            await running.press(*(["ctrl+t", "tab"] if left == "table" else ["tab"]))
        assert not running.box.has_focus
        assert "f1 help" in running.line(KeyBar)
        await running.press(*"not r?", "E")
        assert running.box.text == "is not r?E"
        assert running.box.has_focus
        assert running.app.screen is running.screen
        assert len(running.engine.requests) == 1
        assert "one" in "\n".join(running.shown())


async def test_keys_that_come_at_once_stay_in_order_and_pasted_text_goes_to_the_box() -> None:
    async with scope() as running:
        for text in ("not r", "ok, then"):
            running.box.fill("")
            running.conversation.focus()
            await running.pilot.pause()
            for character in text:
                running.app.post_message(Key(character, character))
            await running.until(lambda: len(running.box.text) >= len(text))  # noqa: B023 (called within this round)
            assert running.box.text == text
        running.conversation.focus()
        await running.pilot.pause()
        running.app.post_message(Paste(" pasted"))
        await running.until(lambda: running.box.text == "ok, then pasted")


async def test_enter_goes_back_to_the_box() -> None:
    async with scope() as running:
        running.conversation.focus()
        await running.pilot.pause()
        await running.press("enter")
        assert running.box.has_focus
        assert running.box.text == ""


async def test_help_opens_from_the_box() -> None:
    async with scope() as running:
        await running.press("f1")
        assert isinstance(running.app.screen, HelpScreen)
        assert "Stop the answer." in "\n".join(running.shown())
        await running.press("f1")
        assert not isinstance(running.app.screen, HelpScreen)


@pytest.mark.parametrize(("width", "beside"), [(160, True), (80, False)])
async def test_tokens_stand_beside_the_text_where_there_is_room(width: int, beside: bool) -> None:
    async with scope(size=(width, 40)) as running:
        await answered(running, [b"one", b" two"])
        assert not running.table.display
        await running.press("ctrl+t")
        assert running.table.display
        assert running.conversation.display is beside
        await running.press("ctrl+t")
        assert not running.table.display
        assert running.conversation.display


async def test_figures_go_on_with_the_frames_while_the_prompt_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    async with scope() as running:
        await asked(running)
        # Frames that come one after another leave no leisure.
        monkeypatch.setattr(running.screen._face, "at_leisure", lambda: None)
        running.engine.play(taken(), prompt(10 * MS, 1000), progress(510 * MS, 100, 1000))
        deadline = time.monotonic() + DEADLINE_SECONDS
        for step in itertools.count(1):
            running.engine.play(progress((500 + step) * MS, 100, 1000))
            await running.pilot.pause(0.05)
            if re.search(r"read +\d", running.line(Counters)):
                break
            assert time.monotonic() < deadline, running.line(Counters)


async def test_the_plot_of_the_answer_before_is_gone_with_the_next_one(monkeypatch: pytest.MonkeyPatch) -> None:
    async with scope() as running:
        await answered(running, [b"tok"] * 60)
        assert "median" in running.line(Plot)
        monkeypatch.setattr(running.screen._face, "_plot_due", math.inf)
        await running.press("ctrl+r")
        await running.until(lambda: len(running.engine.requests) == 2)
        running.engine.play(*answer([b"one"]))
        await running.until(lambda: running.session.phase is Phase.DECODE)
        assert "median" not in running.line(Plot)


def tokens_told(running: Scope) -> int:
    return 0 if running.session.run is None else running.session.run.token_count


async def test_no_row_stays_free_once_the_answer_is_over() -> None:
    async with scope(size=(160, 40)) as running:
        await asked(running)
        await running.press("ctrl+t")
        views = (running.conversation, running.table)
        count = 3 * running.table.view_rows
        events = answer([f"line {number}\n".encode() for number in range(count)])
        was_free = False
        running.engine.play(*events[:3])
        for number, event in enumerate(events[3:], start=1):
            running.engine.play(event)
            await running.until(lambda told=number: tokens_told(running) == told)  # type: ignore[misc]
            text = running.conversation
            was_free |= text.scroll_offset.y + text.view_rows > text.content_rows() > text.view_rows
        running.engine.play(finished(60_000 * MS))
        await running.until(lambda: running.session.phase is Phase.DONE)
        assert was_free
        for view in views:
            assert view.content_rows() > view.view_rows
            assert view.scroll_offset.y + view.view_rows == view.content_rows()


async def test_what_comes_after_enter_stands_in_the_box_whether_the_prompt_is_taken_or_not() -> None:
    async with scope() as running:
        running.engine.play(ready())
        await running.until(lambda: running.session.phase is Phase.READY)
        for key in (*"one", "enter", *"two"):
            running.app.post_message(Key(key, key if len(key) == 1 else "\r"))
        await running.until(lambda: running.box.text == "two")
        assert [request.messages[-1].content for request in running.engine.requests] == ["one"]
        for key in ("enter", *"three"):
            running.app.post_message(Key(key, key if len(key) == 1 else "\r"))
        await running.until(lambda: running.box.text == "twothree")
        assert len(running.engine.requests) == 1
        assert any("still being written" in toast for toast in running.toasts)
        await running.press("home", "enter")
        await running.until(lambda: running.box.text == "twothree" and running.box.cursor_location == (0, 0))


async def test_no_key_overtakes_another() -> None:
    async with scope() as running:
        running.engine.play(ready())
        await running.until(lambda: running.session.phase is Phase.READY)
        keys = [*"is xt", "backspace", "backspace", *"it", "home", *"so, ", "end", "?", "enter", "escape", *"left"]
        for key in keys:
            running.app.post_message(Key(key, key if len(key) == 1 else None))
        await running.until(lambda: running.box.text == "left")
        assert [request.messages[-1].content for request in running.engine.requests] == ["so, is it?"]
        assert running.engine.cancelled == 1


async def test_text_that_comes_at_once_is_a_paste_in_an_input_and_keys_elsewhere() -> None:
    async with scope() as running:
        await running.press("tab")
        running.app.post_message(TypedText("a\rb\x1b[31m"))
        await running.until(lambda: running.box.text == "a\nb␛[31m")
        await running.press("f1")
        await running.until(lambda: running.app.screen is not running.screen)
        running.app.post_message(TypedText("x\ry\x1bOP"))
        await running.until(lambda: running.app.screen is running.screen)
        assert running.box.text == "a\nb␛[31m"


async def test_copy_goes_through_the_driver(monkeypatch: pytest.MonkeyPatch) -> None:
    async with scope() as running:
        await running.press("ctrl+y")
        assert any("no answer" in toast for toast in running.toasts)
        await answered(running, [b"a\x1b[2J", b" b"])
        copied: list[str] = []
        monkeypatch.setattr(ScopeApp, "copy_to_clipboard", lambda self, text, what: copied.append(text))
        await running.press("ctrl+y")
        assert copied == ["a\x1b[2J b"]


async def test_save_says_where_and_never_overwrites(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    async with scope() as running:
        await answered(running, [b"blue"])
        await running.press("ctrl+s")
        await running.press("ctrl+s")
        assert (tmp_path / "why.md").read_text() == "blue\n"
        assert (tmp_path / "why-2.md").read_text() == "blue\n"
        assert any(str(tmp_path / "why-2.md") in toast for toast in running.toasts)


async def test_history_is_walked_with_up_and_down(tmp_path: Path) -> None:
    path = tmp_path / "history.jsonl"
    async with scope(history=path) as running:
        await answered(running, [b"one"], text="first")
        await running.press(*"dra", "up")
        assert running.box.text == "first"
        await running.press("down")
        assert running.box.text == "dra"
    async with scope(history=path) as running:
        await running.press("up")
        assert running.box.text == "first"


async def test_the_box_takes_several_lines_and_grows() -> None:
    async with scope() as running:
        assert running.box.size.height == 1
        await running.press("a", "ctrl+j", "b", "shift+enter", "c", "alt+enter", "d")
        assert running.box.text == "a\nb\nc\nd"
        await running.until(lambda: running.box.size.height == 4)
        await running.press("up", "up", "up")
        assert running.box.text == "a\nb\nc\nd"


async def test_warnings_of_the_engine_are_shown_and_its_chatter_is_not() -> None:
    async with scope() as running:
        running.engine.play(Log(t=1, level="info", text="chatter"), Log(t=2, level="warning", text="odd [/x]"))
        await running.until(lambda: "odd [/x]" in running.line(WarningLine))
        assert "chatter" not in "\n".join([*running.shown(), *running.toasts])
        assert not running.toasts


async def test_a_warning_stays_until_it_is_read_in_full_and_comes_once() -> None:
    async with scope(options=default_options(prompt="q")) as running:
        long = "The answers are odd. " * 12 + "Get another one."
        running.engine.play(Log(t=1, level="warning", text=long), ready(), Log(t=2, level="warning", text="more"))
        await running.until(lambda: bool(running.engine.requests))
        running.engine.play(*answer([b"a", b"b"]), Log(t=3, level="warning", text=long), finished(300 * MS))
        await running.until(lambda: running.session.phase is Phase.DONE)
        assert "1 more" in running.line(WarningLine)
        assert "Get another one." not in running.line(WarningLine)
        await running.press("f1")
        await running.until(lambda: isinstance(running.app.screen, HelpScreen))
        assert running.session.warnings == [long, "more"]
        await running.press("escape")
        await running.until(lambda: not running.screen.query_one(WarningLine).display)
        running.engine.play(Log(t=4, level="warning", text="news"))
        await running.until(lambda: "news" in running.line(WarningLine))


async def test_a_model_without_a_template_is_asked_raw_and_that_is_said() -> None:
    async with scope() as running:
        running.engine.play(replace(ready(template=""), template_note="This model has no chat template."))
        await running.until(lambda: "no chat template" in running.line(WarningLine))
        await running.press(*"once", "enter")
        await running.until(lambda: bool(running.engine.requests))
        assert running.engine.requests[0].prompt == "once"
        assert "no chat template" in running.line(Header)


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 60), (40, 12), (20, 5), (10, 3)])
async def test_any_size_in_mid_stream(size: tuple[int, int]) -> None:
    async with scope() as running:
        await asked(running)
        running.engine.play(*answer([b"word "] * 100))
        await running.until(lambda: running.session.phase is Phase.DECODE)
        await running.pilot.resize_terminal(*size)
        running.engine.play(token(900 * MS, 101, b"more"), token(990 * MS, 102, b"and"))
        await running.until(lambda: running.session.run is not None and running.session.run.token_count == 102)
        await running.press("ctrl+t")
        await running.pilot.resize_terminal(120, 40)
        running.engine.play(finished(1_000 * MS))
        await running.until(lambda: running.line(PhaseLine).startswith("done"))
        await running.until(lambda: "median" in running.line(Plot))
        assert all(len(line) == 120 for line in running.shown())


async def test_the_palette_knows_every_key() -> None:
    async with scope() as running:
        titles = {command.title for command in running.app.get_system_commands(running.screen)}
        assert {"Theme", "Quit"} <= titles
        assert "Screenshot" not in titles
        for label in ("Stop (esc)", "Again (^r)", "Edit (f2)", "Tokens (^t)", "Copy (^y)", "Save (^s)", "Clear (^l)"):
            assert label in titles
        await running.press("ctrl+p")
        await running.until(lambda: isinstance(running.app.screen, CommandPalette))


async def test_nothing_is_drawn_while_the_terminal_takes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    async with scope() as running:
        await asked(running)
        full = True
        monkeypatch.setattr(FramePace, "congested", property(lambda pace: full))
        running.engine.play(*answer([b"late"]))
        await running.until(lambda: running.session.phase is Phase.DECODE)
        assert "late" not in "\n".join(running.shown())
        full = False
        await running.until(lambda: "late" in "\n".join(running.shown()))


async def test_the_box_is_a_text_area_that_does_not_blink() -> None:
    async with scope() as running:
        assert isinstance(running.box, TextArea)
        assert not running.box.cursor_blink
