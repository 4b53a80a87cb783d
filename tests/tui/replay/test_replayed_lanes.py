"""Several recordings beside each other."""

from msgspec.structs import replace

from decodescope.backends.events import Failed, Token
from decodescope.tui.replay.recorded import labels

from ...traces.samples import session as two_answers
from ..fakes import MS
from ..scope_app import happened
from .replay_app import Replayed, opened, replay, whole

SKY = [b"The", b" sky", b" is", b" blue"]
SEA = [b"The", b" sea", b" is", b" deep", b" and", b" wide"]


def at(running: Replayed) -> int:
    assert running.lanes.board is not None
    assert running.lanes.board.race is not None
    return running.lanes.board.race.at


async def test_all_begin_with_their_requests() -> None:
    async with replay(opened(whole(SKY), "a.jsonl"), opened(whole(SEA), "b.jsonl"), paused=True) as running:
        await running.press("right", "right")
        assert at(running) == 119 * MS
        await running.sees("The sky")
        await running.sees("The sea")
        await running.press("left")
        assert at(running) == 112 * MS
        await running.press("tab", "end")
        await running.sees("deep and wide")
        assert at(running) == (112 + 5 * 7) * MS
        await running.sees("a.jsonl")
        await running.sees("Recordings on one clock")


async def test_going_to_a_token_of_the_chosen_lane() -> None:
    async with replay(opened(whole(SKY), "a.jsonl"), opened(whole(SEA), "b.jsonl"), paused=True) as running:
        await running.press("tab", "g", *"#6", "enter")
        assert at(running) == (112 + 5 * 7) * MS
        await running.press("g", *"50%", "enter")
        assert at(running) == round((112 + 5 * 7) * MS / 2)


async def test_speed_and_loop() -> None:
    async with replay(opened(whole(SKY), "a"), opened(whole(SEA), "b"), speed=100, loop=True) as running:
        running.time.now += 2 * 147 * MS // 100 + MS // 100
        assert at(running) == MS
        await running.press("minus")
        await running.sees("50×")
        await running.press("r")
        running.time.now += 1000 * MS
        assert at(running) == 147 * MS


async def test_the_lines_around_them_are_those_of_a_replay() -> None:
    async with replay(opened(two_answers(), "a"), opened(whole(SEA), "b"), paused=True, loop=True) as running:
        await running.sees("space play  ←→ step  tab lane  g go to  -+ speed  n next")
        await running.sees("replay answer 1 of 2 paused")
        await running.sees("1×  loop")
        assert "race" not in running.shown()
        await running.press("r", "space")
        await running.sees("space pause")
        assert "  loop" not in running.shown()
        running.time.now += 10_000 * MS
        await running.sees("space play")


async def test_the_next_answers() -> None:
    async with replay(opened(two_answers(), "a"), opened(whole(SEA), "b"), paused=True) as running:
        await running.press("n")
        await happened(lambda: running.lanes.board is not None and running.lanes.board.race is not None)
        assert running.lanes.board is not None
        assert running.lanes.board.race is not None
        assert running.lanes.board.race.number == 2
        await running.press("N")
        assert running.lanes.board.race.number == 1


async def test_what_holds_no_answer_and_no_text() -> None:
    failed = Failed(t=0, stage="load", what="No [b]such model.")
    hidden = [replace(event, piece=b"", id=-1) if isinstance(event, Token) else event for event in whole(SKY)]
    async with replay(opened([failed], "a"), opened(hidden, "b", text=False), paused=True) as running:
        await running.press("tab", "end")
        await running.sees("No [b]such model.")
        await running.sees("▯ ▯ ▯ ▯")


async def test_a_lane_opens_as_the_scope() -> None:
    async with replay(opened(whole(SKY), "a"), opened(whole(SEA), "b"), paused=True) as running:
        await running.press("tab", "enter")
        await running.sees("wide")
        await running.press("escape", "ctrl+p", "escape", "f1", "escape")
        assert running.app.screen is running.lanes


def test_names_that_are_the_same() -> None:
    assert labels(["a", "b", "a"]) == ["a (1)", "b", "a (2)"]


async def test_the_table_says_that_it_does_not_run() -> None:
    async with replay(opened(whole(SKY), "a"), opened(whole(SEA), "b"), paused=True) as running:
        await running.sees("whole run")
        await running.press("v")
        await running.sees("What is shown")
        assert "Verdict" not in running.shown()
