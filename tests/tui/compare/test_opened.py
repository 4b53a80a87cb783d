"""One lane of a comparison as the single scope."""

import dataclasses
import threading

import pytest

from decodescope.backends.events import Failed
from decodescope.comparison.lane import Lane, LanePhase
from decodescope.tui.conversation.view import Conversation
from decodescope.tui.keys import KEYS, RECORDING_KEYS
from decodescope.tui.lens import Lens
from decodescope.tui.screens.help import HelpScreen, help_table, scope_sections
from decodescope.tui.screens.why import WhyScreen
from decodescope.tui.session import Phase

from .opened_app import BELOW, Opened, opened
from .opened_lanes import HOSTILE, SEA, SKY, TEXT, events_of, lane, round_of, scored, two_lanes


def styled(running: Opened, attribute: str) -> list[str]:
    """What is drawn of the text with a style."""
    view = next(view for view in running.screen.query(Conversation) if view.region.area)
    strips = [view.render_line(y) for y in range(view.size.height)]
    return [part.text for strip in strips for part in strip if part.style and getattr(part.style, attribute)]


async def test_the_run_is_shown_with_its_figures() -> None:
    reference, other = two_lanes()
    async with opened(other, reference) as running:
        await running.sees("done")
        shown = running.shown()
        assert "▌ why?" in shown
        assert "SmolLM2-135M-Instruct · Q4_1" in shown
        assert "8 tokens in" in shown
        assert "replay of Q2_K · its only round" in shown
        assert "11 / 4,096" in shown
        assert "The sky is blue like the sea." not in shown  # it is interrupted where the lane goes its own way
        rows = [row.strip() for row in shown.splitlines()]
        place = rows.index("── from here on another answer than Q8_0's: token 5 ──")
        assert rows[place - 1] == "The sky is blue"
        assert rows[place + 2] == "like the sea."


async def test_the_reference_is_not_interrupted() -> None:
    reference, _ = two_lanes()
    async with opened(reference, reference) as running:
        await running.sees("The sky is blue because of light.")
        assert "another answer" not in running.shown()
        assert "the reference" in running.shown()


async def test_the_lenses_show_the_common_text() -> None:
    reference, other = two_lanes()
    async with opened(other, reference) as running:
        await running.sees("done")
        await running.press("l")
        await running.sees("prompt and answer of Q8_0 · scored by Q2_K against Q8_0 · 10 of 11 tokens")
        assert running.screen._face.view is not None
        assert running.screen._face.view.lens is Lens.DIVERGENCE
        shown = running.shown()
        assert "▌ <|im_start|>why?" in shown
        assert "The sky is blue because of light." in shown
        assert "like the sea" not in shown
        assert "shifted ≥ 0.5  different ≥ 1  contrary ≥ 2 nats  other top" in shown
        assert "Mean KLD 0.4461  same top 80.0 %" in shown
        assert styled(running, "underline") == ["is", "blue"]
        assert styled(running, "reverse") == ["because"]
        assert styled(running, "italic") == ["blue", " light"]  # on a space it is not seen
        await running.press("l")
        assert "less likely < 20 %" in running.shown()
        assert styled(running, "underline") == ["blue", "because"]
        await running.press("l")
        assert "unsure ≥ 4" in running.shown()
        await running.press("l")
        await running.sees("like the sea.")
        assert "slow ≥ 1.5×" in running.shown()


async def test_the_reference_has_no_divergence_from_itself() -> None:
    reference, _ = two_lanes()
    async with opened(reference, reference) as running:
        await running.sees("done")
        await running.press("l")
        await running.sees("scored by Q8_0, the reference")
        assert "less likely < 20 %" in running.shown()
        await running.press("l", "l")
        await running.sees("slow ≥ 1.5×")


async def test_without_scores_there_is_one_lens_and_it_says_why() -> None:
    reference, other = two_lanes()
    other.scores, other.scores_note = None, "another vocabulary [/b]\x1b"
    async with opened(other, reference) as running:
        await running.sees("done")
        await running.press("l")
        assert "slow ≥ 1.5×" in running.shown()
        assert running.toasts == ["There is no other lens: another vocabulary [/b]␛."]
        await running.press("i")
        await running.sees("not recorded")


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (160, 50), (40, 12)])
async def test_walking_through_the_scored_text(size: tuple[int, int]) -> None:
    reference, other = two_lanes()
    async with opened(other, reference, size=size) as running:
        await happened_done(running)
        await running.press("l")
        await running.sees("prompt and answer of")
        await running.press("i")
        await running.sees("#4 The")
        await running.press("right", "right", "right", "right")
        await running.sees("#8 ·because")
        shown = running.shown()
        assert "KLD 2.5000" in shown or size[0] == 40
        if size[0] >= 80:
            assert "Q2_K" in shown
            assert "Q8_0, the reference" in shown
            assert "2.0 % · rank 1" in shown
            assert "60.0 % · rank 1" in shown
        await running.press("home")
        await running.sees("#1 <|im_start|>")
        await running.press("end")
        await running.sees("#11 .")


async def happened_done(running: Opened) -> None:
    await running.sees("like the sea" if running.app.size.height > 20 else "done")


@pytest.mark.parametrize("size", [(100, 30), (160, 50)])
async def test_the_table_tells_of_the_scored_text(size: tuple[int, int]) -> None:
    reference, other = two_lanes()
    async with opened(other, reference, size=size) as running:
        await happened_done(running)
        await running.press("l")
        await running.sees("prompt and answer of")
        await running.press("ctrl+t")
        await running.sees("in ref.")
        assert any(
            row.split()[-5:] == ["60.0", "%", "1", "1.5", *row.split()[-1:]] or "2.5000 !!! same" in row
            for row in running.shown().splitlines()
        )
        await running.press("i")
        await running.sees("Q8_0, the reference")
        await running.press("l", "l", "l")
        await running.sees("× median")


async def test_an_open_inspector_comes_along_to_the_other_text() -> None:
    reference, other = two_lanes()
    async with opened(other, reference) as running:
        await running.sees("done")
        await running.press("i")
        await running.sees("#8 .")
        await running.press("l")
        await running.sees("#4 The")
        await running.press("l", "l", "l", "left")
        await running.sees("#7 ·sea")


@pytest.mark.parametrize("key", ["ctrl+r", "r", "f2", "e", "f6", "u", "f7", "o", "f8", "m", "ctrl+l"])
async def test_what_needs_an_engine_is_refused_in_words(key: str) -> None:
    reference, other = two_lanes()
    async with opened(other, reference) as running:
        await running.sees("done")
        await running.press(key)
        assert any("This is a recording" in toast for toast in running.toasts)
        assert running.app.screen is running.screen


async def test_only_keys_that_work_are_told() -> None:
    reference, other = two_lanes()
    async with opened(other, reference) as running:
        await running.sees("done")
        bar = running.shown().splitlines()[-1]
        assert "q back" in bar
        assert not any(word in bar for word in ("again", "edit", "options", "model", "clear", "stop", "cost"))
        await running.press("question_mark")
        assert running.on_top(HelpScreen)
        await running.press("escape")
        await running.press("w")
        assert running.on_top(WhyScreen)
        await running.press("escape")
        assert running.app.screen is running.screen
    told = [str(cell) for cell in help_table(scope_sections(RECORDING_KEYS)).columns[1].cells]
    assert not any("prompt box" in text for text in told)
    assert all(key in KEYS or key.action == "back" for key in RECORDING_KEYS)


@pytest.mark.parametrize("key", ["escape", "q"])
async def test_going_back_ends_the_replay(key: str) -> None:
    reference, other = two_lanes()
    async with opened(other, reference) as running:
        await running.sees("done")
        assert any(thread.name == "replay" for thread in threading.enumerate())
        await running.press(key)
        await running.sees(BELOW)
        assert not any(thread.name == "replay" for thread in threading.enumerate())


async def test_a_lane_that_failed_says_why() -> None:
    reference, other = two_lanes()
    failed = Failed(t=1, stage="load", what="The model cannot be loaded.", reason="[/b]\x1b[2J")
    broken = dataclasses.replace(
        other, phase=LanePhase.FAILED, opening=[], model=None, rounds=[], scores=None, failed=failed
    )
    async with opened(broken, reference) as running:
        await running.sees("The model cannot be loaded.")
        assert "[/b]␛[2J" in running.shown()
        assert "^r" not in running.shown()
        await running.press("l", "i", "ctrl+t", "left", "home", "l")
        await running.press("escape")
        await running.sees(BELOW)


async def test_a_lane_under_way_is_followed() -> None:
    reference, other = two_lanes()
    events = events_of(SEA)
    under_way = dataclasses.replace(other, phase=LanePhase.RUNNING, rounds=[round_of(events[:5])], scores=None)
    async with opened(under_way, reference) as running:
        await running.sees("The sky")
        assert running.reached(Phase.DECODE)
        for event in events[5:]:
            under_way.rounds[0].run.apply(event)
            under_way.rounds[0].events.append(event)
        await running.sees("like the sea.")
        await running.sees("another answer than Q8_0's")
        assert running.reached(Phase.DONE)
        under_way.scores = other.scores
        await running.press("l")
        await running.sees("scored by Q2_K against Q8_0")


@pytest.mark.parametrize("inspecting", [False, True])
async def test_a_divergence_is_marked_when_it_becomes_known(inspecting: bool) -> None:
    reference, other = two_lanes()
    events = events_of(SKY)
    behind = dataclasses.replace(reference, phase=LanePhase.RUNNING, rounds=[round_of(events[:5])])
    async with opened(other, behind) as running:
        await running.sees("The sky is blue like the sea.")
        assert "another answer" not in running.shown()
        if inspecting:
            await running.press("i", "left")
            await running.sees("#7 ·sea")
        for event in events[5:]:
            behind.rounds[0].run.apply(event)
            behind.rounds[0].events.append(event)
        await running.sees("from here on another answer than Q8_0's: token 5")
        rows = [row.strip("❯ ") for row in running.shown().splitlines()]
        place = rows.index("── from here on another answer than Q8_0's: token 5 ──")
        assert rows[place - 1] == "The sky is blue"
        assert rows[place + 2] == "like the sea."
        assert styled(running, "reverse") == ([" sea"] if inspecting else [])


async def test_a_reference_that_begins_later_is_looked_at_too() -> None:
    reference, other = two_lanes()
    rounds = reference.rounds
    reference.rounds = []
    async with opened(other, reference) as running:
        await running.sees("The sky is blue like the sea.")
        reference.rounds = rounds
        await running.sees("from here on another answer than Q8_0's: token 5")


async def test_the_newest_whole_round_is_shown() -> None:
    reference, other = two_lanes()
    other.rounds += [round_of(events_of(SKY), 2), round_of(events_of(SEA)[:4], 3)]
    async with opened(other, reference) as running:
        await running.sees("round 2 of 3")
        await running.sees("The sky is blue because of light.")


async def test_hostile_text_is_shown_as_it_stands() -> None:
    pieces = (*TEXT[:10], HOSTILE)
    reference: Lane = lane(0, "[@click=app.quit]x[/]\x1b", (*SKY[:7], HOSTILE), scored(pieces, [0.5] * 10))
    other = lane(
        1, "e [/tmp/x]\x9b", SEA, scored(pieces, [0.5] * 10, [3.0] * 10, other=(HOSTILE, b"\n", b"[/]", b"\t"))
    )
    async with opened(other, reference, size=(160, 50)) as running:
        await running.sees("like the sea.")
        assert "another answer than [@click=app.quit]x[/]␛'s" in running.shown()
        await running.press("l", "i", "ctrl+t")
        await running.sees("scored by e [/tmp/x]\ufffd against [@click=app.quit]x[/]␛")
        await running.press("end")
        await running.sees("[/b]␛[2J\ufffd\\xff")
        assert not any(sign in running.shown() for sign in "\x1b\x9b\x07")


@pytest.mark.parametrize("scored", [True, False])
async def test_it_is_told_when_another_lens_comes(scored: bool) -> None:
    reference, other = two_lanes()
    other.scores = None
    async with opened(other, reference, scored=scored) as running:
        await running.sees("done")
        await running.press("l")
        assert ("comes after the rounds" in running.toasts[0]) is scored


async def test_a_token_longer_than_the_view_leaves_no_empty_rows() -> None:
    reference, other = two_lanes()
    other.rounds = [round_of(events_of([b"A" * 10_000, b"[red]", b"[red]"]))]
    async with opened(other, reference) as running:
        await running.sees("[red]")
        text = running.screen.query_one(Conversation)
        rows = running.shown().splitlines()[text.region.y : text.region.bottom]
        assert all(row.strip() for row in rows)
