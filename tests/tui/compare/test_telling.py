"""What the compare screen tells about what is to come, what was asked of it, and what its figures mean."""

import dataclasses
import math

import pytest
from textual import events

from decodescope.comparison.figures import Ratio, Spread
from decodescope.comparison.results import results
from decodescope.comparison.table import columns
from decodescope.metrics.divergence import Estimate
from decodescope.tui.compare.help import sections
from decodescope.tui.compare.keys import keys_now
from decodescope.tui.compare.opened import OpenedLane
from decodescope.tui.compare.ranks import fitting, needed
from decodescope.tui.compare.result_table import MORE, sentence_rows
from decodescope.tui.widgets.cells import row_width
from decodescope.tui.widgets.key_bar import key_row

from .fakes import MS, Comparing, answer, comparing
from .opened_lanes import two_lanes


def toasts(running: Comparing) -> list[str]:
    return [notification.message for notification in running.app._notifications]


async def test_what_comes_last_is_drawn_though_nothing_follows_it() -> None:
    async with comparing(2) as running:
        running.screen._leisure.pause()
        running.board._figures_due = math.inf

        def end() -> None:
            for number in (0, 1):
                running.comparison.failed(number, f"Number {number} cannot be loaded.")
            running.comparison.done()

        running.comparison.play(end)
        await running.until(lambda: running.shown().count("  failed") >= 2)
        assert "waiting" not in running.shown()


@pytest.mark.parametrize("number", [3, 1])
async def test_keys_in_one_burst_act_in_their_order(number: int) -> None:
    async with comparing() as running:
        await running.play(running.comparison.all_written)
        await running.press("2")
        for key in (str(number), "enter"):
            running.app.post_message(events.Key(key, key if len(key) == 1 else None))
        await running.until(lambda: isinstance(running.app.screen, OpenedLane))
        assert isinstance(running.app.screen, OpenedLane)
        assert running.app.screen._lane is running.comparison.lanes[number - 1]


async def test_lanes_chosen_in_one_burst() -> None:
    async with comparing() as running:
        for key in ("2", "3", "right", "left", "4", "1", "3"):
            running.app.post_message(events.Key(key, key if len(key) == 1 else None))
        await running.until(lambda: running.board.chosen == 2)
        assert running.screen.focused is running.board.panels[2].text


async def test_stopping_is_told_before_the_engine_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    async with comparing() as running:
        await running.play(lambda: running.comparison.generated(0, answer(6 * MS)[:10]))
        stop = running.comparison.cancel
        monkeypatch.setattr(running.comparison, "cancel", lambda: None)
        await running.press("escape")
        shown = running.shown().splitlines()
        assert shown[1].startswith(" stopping …")
        assert "stopping …" in shown[3]
        await running.play(stop)
        await running.until(lambda: "stopping" not in running.shown())
        await running.press("r")
        assert "stopping" not in running.shown()


async def test_the_same_is_not_said_twice_at_once() -> None:
    async with comparing() as running:
        await running.press("r", "r", "enter", "enter", "r")
        assert len(toasts(running)) == len(set(toasts(running))) == 2


async def test_no_toast_where_it_would_cover_everything() -> None:
    async with comparing(size=(20, 5)) as running:
        await running.press("enter")
        assert toasts(running) == []


async def test_no_verdict_before_a_round_is_over() -> None:
    async with comparing(2, size=(200, 50)) as running:
        await running.play(lambda: running.comparison.failed(1, "It cannot be loaded."))
        shown = running.shown()
        assert running.board.results.verdict not in shown
        assert "Q4_K_M: It cannot be loaded." in shown
        await running.press("v")
        assert "There is none before the first round is over." in running.shown()
        await running.press("v")
        await running.play(running.comparison.all_written)
        assert running.board.results.verdict in running.shown()


async def test_a_failure_is_told_once_in_its_lane() -> None:
    why = ("cut.gguf is incomplete.", "It ends at 3 of 4 tensors.")
    async with comparing(2, size=(200, 50)) as running:
        await running.play(lambda: running.comparison.failed(1, *why))
        lane = [row[100:] for row in running.shown().splitlines()[2:20]]
        assert [sum(words in row for row in lane) for words in why] == [1, 1]


async def test_everything_that_has_to_be_known_is_a_key_away() -> None:
    async with comparing(4, size=(80, 24)) as running:
        await running.play(lambda: running.comparison.failed(1, "Cannot be loaded. " * 9))
        await running.play(lambda: running.comparison.failed(2, "Cannot be loaded. " * 9))
        await running.play(running.comparison.all_written)
        running.app.clear_notifications()
        await running.pilot.pause()
        assert MORE in running.shown()
        assert "Q4_K_M: Cannot be loaded." in running.shown()
        await running.press("v")
        shown = " ".join(running.shown().split())
        assert "Verdict" in shown
        assert "Q4_K_M: Cannot be loaded." in shown
        await running.press("escape")
        assert "race round 1 of 1" in running.shown()


@pytest.mark.parametrize("width", [4, 20, 40, 78, 118, 198])
@pytest.mark.parametrize("lines", [0, 1, 2, 3, 4, 9])
def test_sentences_keep_to_their_lines(width: int, lines: int) -> None:
    rows = sentence_rows(results(two_lanes(), together=True), width, lines)
    assert len(rows) <= lines
    assert all(row_width(row) <= width for row in rows)


@pytest.mark.parametrize("width", [40, 76, 116, 150, 196, 300])
def test_uncertainties_stand_where_there_is_room(width: int) -> None:
    found = results(two_lanes(), together=False)
    row = dataclasses.replace(
        found.rows[1],
        decode_ratio=Ratio(1.213, 1.184, 1.254),
        mean_kld=Estimate(0.0123, 0.0004),
        same_top=Estimate(0.9143, 0.0111),
        perplexity=Estimate(12.34, 0.21),
        decode_rate=Spread(143, 140, 147, 3),
    )
    found = dataclasses.replace(found, rows=(found.rows[0], row))
    shown = fitting(found, width)
    assert needed(shown, found.rows, width) <= width
    cells = {column.key: column.cell(row) for column in shown}
    if width >= 196:
        assert cells["ratio"] == "1.21× (1.18 to 1.25)"
        assert all("±" in cells[key] for key in ("kld", "same_top", "perplexity"))


@pytest.mark.parametrize("width", [60, 76, 116])
def test_what_decides_where_tokenizers_differ_stays_longest(width: int) -> None:
    alike = results(two_lanes(), together=False)
    other = dataclasses.replace(alike, same_vocabulary=False)
    assert "characters" not in {column.key for column in fitting(alike, width)}
    assert {"characters", "characters_ratio"} <= {column.key for column in fitting(other, width)}


async def test_a_place_is_told_not_to_be_a_verdict_where_answers_differ_in_length() -> None:
    def write(running: Comparing) -> None:
        running.comparison.generated(0, answer(6 * MS))
        running.comparison.generated(1, answer(6 * MS)[:20] + answer(6 * MS)[-1:])
        running.comparison.done()

    async with comparing(2) as running:
        await running.play(lambda: write(running))
        await running.raced(10)
        assert "no verdict" not in running.shown()
        await running.raced(5000)
        assert "answers differ in length: a place is no verdict" in running.shown()


async def test_equal_answers_need_no_such_remark() -> None:
    async with comparing(2) as running:
        await running.play(running.comparison.all_written)
        await running.raced(5000)
        assert "1st" in running.shown()
        assert "no verdict" not in running.shown()


def test_help_has_what_the_table_has() -> None:
    found = results(two_lanes(), together=False)
    told = {name for _, entries, _ in sections(found) for name, _ in entries}
    assert {column.heading for column in columns(found, wide=True)} <= told
    assert sections(None)


@pytest.mark.parametrize(
    ("width", "wanted"),
    [
        (78, ["space", "enter", "r", "s", "v", "f1", "^q"]),
        (118, ["space", "r", "s", "v", "^s", "^y", "f1", "^p", "^q"]),
    ],
)
def test_keys_that_are_used_most_stay(width: int, wanted: list[str]) -> None:
    shown = [text for text, role in key_row(width, letters=False, keys=keys_now(busy=False)) if role == "accent"]
    assert set(wanted) <= set(shown)


def test_keys_that_do_nothing_now_are_not_told() -> None:
    busy = {key.action for key in keys_now(busy=True)}
    done = {key.action for key in keys_now(busy=False)}
    assert "cancel" in busy - done
    assert {"pause", "round", "faster"} <= done - busy


@pytest.mark.parametrize("size", [(120, 40), (80, 24), (120, 30)])
async def test_a_token_longer_than_the_view_leaves_no_empty_rows_at_the_end(size: tuple[int, int]) -> None:
    pieces = [b"A" * 10_000, *(b"[red]" for _ in range(4))]
    async with comparing(2, size=size) as running:
        await running.play(lambda: running.comparison.all_written(pieces=pieces))
        await running.raced(5000)
        rows = [row[:40] for row in running.shown().splitlines()]
        last = next(number for number, row in enumerate(rows) if "[red]" in row)
        text = running.board.panels[0].text
        assert last == text.region.bottom - 1
        assert all("AAAA" in row for row in rows[text.region.y : last])
