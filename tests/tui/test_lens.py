"""Lenses, the inspector and folding, through their keys."""

import pytest
from msgspec.structs import replace
from textual.widget import Widget

from decodescope.backends.events import Event
from decodescope.backends.token_facts import Scheduling
from decodescope.tui.conversation.view import Conversation
from decodescope.tui.session import Phase
from decodescope.tui.token_table import TokenTable
from decodescope.tui.widgets.inspector import NOT_COMPUTED, Inspector
from decodescope.tui.widgets.newest_token import NewestToken

from .fakes import MS, answer, finished, likely, progress, prompt, taken, token
from .scope_app import Scope, answered, asked, default_options, scope

HOSTILE = "[@click=app.quit]\x1b[2J你\u202e".encode()


def legend(running: Scope) -> str:
    return str(running.screen._face.legend.render())


def selected(running: Scope) -> str:
    """The characters of the conversation that are drawn in reverse."""
    view = running.conversation
    found = [
        segment.text
        for y in range(view.size.height)
        for segment in view.render_line(y)
        if segment.style is not None and segment.style.reverse
    ]
    return "".join(found)


def inspected(running: Scope) -> str:
    return running.line(Inspector).splitlines()[0].split(" ")[0]


async def test_the_lens_goes_round_and_asks_the_engine_only_while_it_needs_to() -> None:
    async with scope() as running:
        await asked(running)
        assert not running.engine.requests[0].probabilities
        running.engine.play(*answer([b"a", b"b"]))
        await running.until(lambda: running.session.phase is Phase.DECODE)
        assert legend(running).startswith("slow ≥ 1.5×")
        await running.press("f3")
        assert legend(running).endswith("not computed yet")
        assert running.engine.asked_for_probabilities == [True]
        running.engine.play(token(140 * MS, 3, b"c", probability=likely(-0.1)), finished(150 * MS))
        await running.until(lambda: running.session.phase is Phase.DONE)
        assert "from token 3 on" in legend(running)
        assert '"c"   90.5 %' in running.line(NewestToken)
        await running.press("f3")
        assert legend(running).startswith("unsure ≥ 4")
        assert "1.4 bits" in running.line(NewestToken)
        await running.press(*"more", "enter")
        await running.until(lambda: len(running.engine.requests) == 2)
        assert running.engine.requests[1].probabilities
        await running.press("f3")
        assert running.engine.asked_for_probabilities == [True, False]
        assert not running.session.probabilities


async def test_probabilities_that_were_asked_for_at_the_start_stay_whatever_is_looked_at() -> None:
    async with scope(options=replace(default_options(), probabilities=True)) as running:
        await asked(running)
        assert running.engine.requests[0].probabilities
        await running.press("f3", "f3", "f3", "f4", "f4")
        assert running.engine.asked_for_probabilities == []
        assert running.session.probabilities


async def test_the_lens_and_the_inspector_ask_once_for_the_facts() -> None:
    async with scope() as running:
        await answered(running, [b"a", b"b"])
        await running.press("f3")
        assert legend(running).startswith("less likely")
        await running.press("f4")
        assert running.screen.query_one(Inspector).display
        await running.press("f3", "f3")
        # The inspector still needs the facts.
        assert running.engine.asked_for_probabilities == [True]
        await running.press("f4")
        assert running.engine.asked_for_probabilities == [True, False]
        assert not running.screen.query_one(Inspector).display


async def test_unlikely_tokens_are_tinted_through_that_lens_only() -> None:
    async with scope() as running:
        await asked(running)
        events: list[Event] = [taken(), prompt(MS, 9), progress(2 * MS, 9, 9)]
        events += [token(index * 7 * MS, index, b" fine", probability=likely(-0.1)) for index in range(1, 12)]
        events.append(token(12 * 7 * MS, 12, b" odd", probability=likely(-2.5)))
        running.engine.play(*events, finished(900 * MS))
        await running.until(lambda: running.session.phase is Phase.DONE)

        def underlined() -> list[str]:
            strips = [running.conversation.render_line(y) for y in range(running.conversation.size.height)]
            return [part.text for strip in strips for part in strip if part.style and part.style.underline]

        assert underlined() == []
        await running.press("f3")
        assert underlined() == ["odd"]
        await running.press("f3")
        assert underlined() == []


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 60), (40, 12)])
async def test_walking_from_token_to_token(size: tuple[int, int]) -> None:
    async with scope(size=size) as running:
        await answered(running, [b"The", b" sky", b" is", b" blue"])
        await running.press("f4")
        await running.until(lambda: inspected(running) == "#4")
        assert selected(running) == " blue"
        await running.press("left", "left")
        assert (inspected(running), selected(running)) == ("#2", " sky")
        await running.press("home", "left")
        assert (inspected(running), selected(running)) == ("#1", "The")
        await running.press("right")
        assert inspected(running) == "#2"
        await running.press("end")
        assert (inspected(running), selected(running)) == ("#4", " blue")
        await running.press("f4")
        assert selected(running) == ""


async def test_the_inspector_follows_the_newest_until_the_reader_walks() -> None:
    async with scope() as running:
        await asked(running)
        running.engine.play(*answer([b"a", b"b"]))
        await running.until(lambda: running.session.phase is Phase.DECODE)
        await running.press("f4")
        await running.until(lambda: inspected(running) == "#2")
        running.engine.play(token(140 * MS, 3, b"c"))
        await running.until(lambda: inspected(running) == "#3")
        await running.press("left")
        assert inspected(running) == "#2"
        running.engine.play(token(150 * MS, 4, b"d"), finished(160 * MS))
        await running.until(lambda: running.session.phase is Phase.DONE)
        assert (inspected(running), selected(running)) == ("#2", "b")


async def test_a_click_picks_a_token() -> None:
    async with scope() as running:
        await answered(running, [b"The", b" sky", b" is", b" blue"])
        await running.pilot.click(Conversation, offset=(3, 2))
        assert not running.screen.has_class("-inspects")
        await running.press("f4")
        await running.pilot.click(Conversation, offset=(7, 2))
        await running.pilot.pause()
        assert (inspected(running), selected(running)) == ("#2", " sky")


@pytest.mark.parametrize("size", [(160, 50), (100, 40)])
async def test_the_table_and_the_inspector_look_at_the_same_token(size: tuple[int, int]) -> None:
    async with scope(size=size) as running:
        await answered(running, [b"The", b" sky", b" is", b" blue"])
        await running.press("f4", "left")
        await running.press("ctrl+t")
        assert running.table.cursor_index == 3
        running.table.focus()
        await running.press("up")
        assert inspected(running) == "#2"
        await running.press("end")
        assert inspected(running) == "#4"
        await running.until(lambda: running.table.cursor_index is None)
        if running.conversation.display:
            assert selected(running) == " blue"
            running.conversation.focus()
            await running.press("home")
            assert running.table.cursor_index == 1


async def test_a_new_answer_is_followed_again() -> None:
    async with scope() as running:
        await answered(running, [b"The", b" sky"])
        await running.press("f4", "home")
        await running.press("ctrl+r")
        await running.until(lambda: len(running.engine.requests) == 2)
        running.engine.play(*answer([b"one", b"two", b"three"]), finished(900 * MS))
        await running.until(lambda: running.session.phase is Phase.DONE)
        assert (inspected(running), selected(running)) == ("#3", "three")


async def test_why_a_token_was_slow_is_said() -> None:
    async with scope() as running:
        await asked(running)
        waited = Scheduling(involuntary_switches=37, wait_ns=80 * MS, longest_wait_ns=80 * MS)
        slow = token((112 + 19 * 7 + 92) * MS, 21, b" slow", scheduling=waited)
        running.engine.play(*answer([b" tok"] * 20), slow, finished(900 * MS))
        await running.until(lambda: running.session.phase is Phase.DONE)
        await running.press("f4")
        await running.until(lambda: inspected(running) == "#21")
        said = running.line(Inspector)
        assert "13× the usual 7.0 ms: pre-empted 37 times" in said
        assert NOT_COMPUTED[:12] in said
        await running.press("ctrl+t")
        await running.until(lambda: any("pre-empted 37×" in row for row in running.shown()))


async def test_hostile_tokens_are_shown_as_they_stand() -> None:
    async with scope(size=(160, 50)) as running:
        await answered(running, [b"a", HOSTILE])
        await running.press("f4", "f3", "ctrl+t")
        shown = "\n".join(running.shown())
        assert "#2 [@click=app.quit]␛[2J你\ufffd" in shown
        assert all(len(row) <= 160 for row in shown.splitlines())
        assert not any(sign in shown for sign in "\x1b\u202e\x07")


async def test_reasoning_folds_by_key_and_says_how_long_it_took() -> None:
    async with scope() as running:
        await asked(running)
        events: list[Event] = [taken(), prompt(MS, 9), progress(2 * MS, 9, 9)]
        for index, piece in enumerate([b"<think>", b"hm", b"</think>"], start=1):
            events.append(token(index * 1_000 * MS, index, piece, thinking=True))
        running.engine.play(*events, token(4_000 * MS, 4, b"Because"), finished(4_100 * MS))
        await running.until(lambda: running.session.phase is Phase.DONE)
        shown = running.shown()
        assert any(row.startswith("┊ hm ") for row in shown)
        assert not any("think>" in row for row in shown[:30])
        await running.press("f9")
        assert any(row.startswith("▸ reasoned for 2.0 s · 3 tokens · f9 unfolds") for row in running.shown())
        await running.press("f9")
        assert any(row.startswith("┊ hm ") for row in running.shown())


async def test_the_keys_do_nothing_harmful_before_there_is_anything() -> None:
    async with scope() as running:
        await running.press(
            "f3", "f4", "f9", "left", "right", "up", "down", "home", "end", "ctrl+t", "left", "f4", "f3"
        )
        assert running.app.return_code is None
        for kind in (Inspector, TokenTable, Conversation):
            assert isinstance(running.screen.query_one(kind), Widget)


async def test_home_and_end_before_the_first_token_change_nothing() -> None:
    async with scope() as running:
        await asked(running)
        running.engine.play(taken(), prompt(10 * MS, 100))
        await running.until(lambda: running.session.phase is Phase.PREFILL)
        await running.press("f4", "home", "left", "end", "home")
        assert "no token yet" in "\n".join(running.shown())
        running.engine.play(*answer([b"one", b" two"])[3:], finished(900 * MS))
        await running.until(lambda: running.session.phase is Phase.DONE)
        await running.press("home")
        await running.until(lambda: "#1 one" in "\n".join(running.shown()))


async def test_the_walk_goes_on_when_the_table_is_closed() -> None:
    async with scope(size=(100, 40)) as running:
        await answered(running, [b"one", b" two", b" three"])
        await running.press("f4", "left", "ctrl+t", "ctrl+t")
        await running.until(lambda: running.conversation.has_focus)
        await running.press("left", "left")
        await running.until(lambda: "#1 one" in "\n".join(running.shown()))
