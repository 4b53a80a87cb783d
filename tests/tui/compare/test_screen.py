"""The compare screen through the pilot, on a fake comparison and a clock that stands still."""

from pathlib import Path

import pytest

from decodescope.comparison.lane import LanePhase
from decodescope.tui.compare.app import CompareApp
from decodescope.tui.compare.opened import OpenedLane
from decodescope.tui.compare.title import sampling_facts, title_row

from .fakes import MS, Comparing, answer, comparing, plan_of


async def test_lanes_are_drawn_as_they_come() -> None:
    async with comparing() as running:
        assert "waiting" in running.shown()
        await running.play(lambda: running.comparison.generated(1, answer(6 * MS)[:10]))
        shown = running.shown()
        assert "word5" in shown
        assert "token 6" in shown
        assert "running round 1 of 1" in shown
        # Nothing races while lanes run.
        assert running.board.race is None


async def test_text_from_outside_is_never_markup() -> None:
    async with comparing(6, size=(200, 50)) as running:
        await running.play(lambda: running.comparison.generated(0, answer(6 * MS, [b"[b]x[/] ", b"\x1b[2J", b"[/q8]"])))
        shown = running.shown()
        assert "[b]x/[/q8]" in shown
        assert "Why is [i]the sky[/i] blue?" in shown
        assert "[b]x[/] ␛[2J[/q8]" in shown
        assert "\x1b" not in shown


async def test_the_race_begins_when_all_is_done() -> None:
    async with comparing() as running:
        await running.play(running.comparison.all_written)
        assert running.board.race is not None
        await running.raced(128)
        shown = running.shown()
        assert "race round 1 of 1" in shown
        assert "token 3" in shown
        await running.raced(112 + 39 * 4 - 128)
        assert "1st" in running.shown()
        assert "2nd" not in running.shown()
        await running.raced(1000)
        shown = running.shown()
        assert [place in shown for place in ("1st", "2nd", "3rd", "4th")] == [True] * 4
        assert "over" in shown


async def test_the_race_obeys_its_keys() -> None:
    async with comparing() as running:
        await running.play(running.comparison.all_written)
        race = running.board.race
        assert race is not None
        await running.raced(100)
        await running.press("space")
        await running.raced(100)
        assert race.at == 100 * MS
        await running.press("plus", "space")
        await running.raced(10)
        assert race.at == 120 * MS
        await running.press("minus", "minus")
        assert race.speed == 0.5
        await running.press("a")
        assert race.at == 0
        await running.press("full_stop")
        assert race.at == pytest.approx(race.length / 20, abs=2)
        await running.press("comma")
        assert race.at == 0


async def test_going_back_takes_text_away() -> None:
    async with comparing() as running:
        await running.play(running.comparison.all_written)
        await running.raced(5000)
        assert "word39" in running.shown()
        await running.press("a")
        assert "word" not in running.shown()


async def test_a_failed_lane_says_why_and_the_others_race() -> None:
    async with comparing() as running:
        await running.play(lambda: running.comparison.failed(1, "It cannot be loaded.", "bad [/magic]"))
        await running.play(running.comparison.all_written)
        await running.raced(5000)
        shown = running.shown()
        assert "failed" in shown
        assert "bad [/magic]" in shown
        assert "3rd" in shown
        assert "4th" not in shown


async def test_keys_choose_a_lane_and_sort_the_table() -> None:
    async with comparing() as running:
        await running.play(running.comparison.all_written)
        await running.press("3")
        assert running.board.chosen == 2
        await running.press("right", "tab")
        assert running.board.chosen == 0
        await running.press("left")
        assert running.board.chosen == 3
        assert "❯ ◆ 4 Q2_K" in running.shown()
        before = order_of_rows(running)
        await running.press("s")
        first = order_of_rows(running)
        await running.press("S")
        assert order_of_rows(running) == list(reversed(first))
        assert sorted(first) == sorted(before)


def order_of_rows(running: Comparing) -> list[str]:
    return [line[0] for line in running.board.table.plain.splitlines()[1:]]


async def test_another_round_and_cancelling() -> None:
    async with comparing() as running:
        await running.press("r")
        assert running.comparison.rounds_added == 0  # it runs still
        await running.play(running.comparison.all_written)
        await running.press("r")
        assert running.comparison.rounds_added == 1
        assert running.board.race is None
        await running.press("escape")
        assert running.comparison.cancelled == 1
        await running.until(lambda: "race" in running.shown())


async def test_a_round_that_was_cancelled_is_replayed_with_all_lanes() -> None:
    async with comparing(3) as running:
        await running.play(running.comparison.all_written)
        await running.press("r")
        await running.play(lambda: running.comparison.generated(1, answer(6 * MS)[:20], round=2))
        await running.press("escape")
        await running.seen("race round 2 of 2")
        await running.raced(5000)
        shown = running.shown()
        assert "16 tokens in 0.2 s, not ranked" in shown
        assert shown.count("no answer in round 2") == 2
        assert shown.count("No answer in round 2.") == 2
        await running.press("n")
        await running.raced(5000)
        shown = running.shown()
        assert "o answer in round" not in shown
        assert shown.count("word39") == 3


async def test_copy_and_save(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    copied: list[str] = []
    monkeypatch.setattr(CompareApp, "copy_to_clipboard", lambda self, text, what: copied.append(text))
    monkeypatch.chdir(tmp_path)
    async with comparing() as running:
        await running.play(running.comparison.all_written)
        await running.press("ctrl+y", "ctrl+s")
        assert copied[0].startswith("| ")
        assert (tmp_path / "comparison.md").read_text() == copied[0]


@pytest.mark.parametrize(
    ("size", "count", "visible"),
    [((80, 24), 4, 1), ((120, 40), 4, 4), ((120, 40), 6, 6), ((200, 60), 6, 6), ((40, 12), 2, 1)],
)
async def test_lanes_share_the_screen(size: tuple[int, int], count: int, visible: int) -> None:
    async with comparing(count, size=size) as running:
        await running.play(running.comparison.all_written)
        await running.raced(300)
        assert sum(panel.display for panel in running.board.panels) == visible
        await running.press(str(count))
        assert running.board.panels[count - 1].display


async def test_resized_in_mid_race() -> None:
    async with comparing() as running:
        await running.play(running.comparison.all_written)
        await running.raced(200)
        for size in ((80, 24), (200, 60), (30, 10), (120, 40)):
            await running.pilot.resize_terminal(*size)
            await running.raced(10)
        assert sum(panel.display for panel in running.board.panels) == 4
        assert "word" in running.shown()


async def test_one_token_and_none() -> None:
    def write(running: Comparing) -> None:
        running.comparison.generated(0, answer(MS, [b"one"]))
        running.comparison.generated(1, answer(MS, []))
        running.comparison.done()

    async with comparing(2) as running:
        await running.play(lambda: write(running))
        await running.raced(5000)
        assert "1 token" in running.shown()
        assert running.comparison.lanes[1].phase is LanePhase.DONE


async def test_help_tells_the_keys() -> None:
    async with comparing() as running:
        await running.press("f1")
        assert "Run another round." in running.shown()
        await running.press("escape")
        assert "Run another round." not in running.shown()


@pytest.mark.parametrize("theme", ["textual-light", "ansi-dark"])
async def test_themes(theme: str) -> None:
    async with comparing(theme=theme) as running:
        await running.play(running.comparison.all_written)
        await running.raced(300)
        assert "word" in running.shown()


async def test_a_lane_is_opened_as_a_scope_and_left_again() -> None:
    async with comparing() as running:
        await running.press("enter")
        assert running.app.screen is running.screen  # there is nothing to look at yet
        await running.play(running.comparison.all_written)
        await running.press("2", "enter")
        await running.until(lambda: isinstance(running.app.screen, OpenedLane))
        assert running.board.race is not None
        assert not running.board.race.playing
        await running.seen("Q4_K_M")
        await running.press("escape")
        assert running.app.screen is running.screen
        assert "race round 1 of 1" in running.shown()


@pytest.mark.parametrize(("width", "seen"), [(100, ["temp 0.8 · seed 1"]), (44, ["seed 1"]), (30, [])])
def test_the_title_shows_the_common_seed(width: int, seen: list[str]) -> None:
    plan = plan_of(2)
    text = "".join(part for part, _ in title_row("compare", plan.prompt, width, sampling_facts(plan.request.sampling)))
    assert len(text) <= width
    assert text.startswith("compare  Why is [i]the")
    assert [part for part in ("temp 0.8 · seed 1", "seed 1") if text.endswith(part)][:1] == seen
