"""A recorded comparison on the screen of a comparison."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from msgspec.structs import replace

from decodescope.backends.events import Event, Failed, Finished, Scored, Token
from decodescope.backends.token_facts import Alternative
from decodescope.comparison.retold import RetoldComparison
from decodescope.traces.generations import takes
from decodescope.traces.lanes import (
    AnswerTold,
    ComparedModel,
    ComparisonBegun,
    LaneStands,
    OfLanes,
    Record,
    ScoringBegun,
    StageReached,
)
from decodescope.traces.opened import Opened
from decodescope.traces.reader import Trace

from ...traces.samples import HEADER
from ..fakes import MS, answer, finished, ready
from .replay_app import Replayed, replay

SKY, SEA = (b"The", b" sky", b" is", b" blue"), (b"The", b" sea", b" is", b" deep")


def begun(*labels: str, prompt: str = "Why is the sky blue?", rounds: int = 2) -> ComparisonBegun:
    lanes = tuple(ComparedModel(label=label, name=label) for label in labels)
    return ComparisonBegun(t=0, lanes=lanes, prompt=prompt, rounds=rounds, together=False, quality=True)


def spoken(number: int, round: int, pieces: Sequence[bytes], gap: int = 7 * MS) -> list[Record]:
    """What a lane says in a round that begins at ``round`` seconds."""
    events: list[Event] = []
    for event in [*answer(pieces), finished(0)]:
        if isinstance(event, Token):
            event = replace(event, t=112 * MS + (event.index - 1) * gap)
        if isinstance(event, Finished):
            event = replace(event, t=112 * MS + len(pieces) * gap)
        events.append(replace(event, t=event.t + round * 1000 * MS))
    return [LaneStands(t=0, lane=number, round=round, phase="running"), *events]


def loaded(number: int, label: str) -> list[Record]:
    return [LaneStands(t=0, lane=number, round=0, phase="loading"), ready(label)]


def ended(*phases: str, stage: str = "done") -> list[Record]:
    lanes = [
        LaneStands(t=0, lane=number, round=2, phase=phase, note="scored on something")  # type: ignore[arg-type]
        for number, phase in enumerate(phases)
    ]
    return [*lanes, StageReached(t=0, stage=stage, round=2, rounds=2, in_turn=False)]  # type: ignore[arg-type]


def two_rounds() -> list[Record]:
    return [
        begun("Q8_0", "Q4_0"),
        *loaded(0, "Q8_0"),
        *loaded(1, "Q4_0"),
        *spoken(0, 1, SKY, 10 * MS),
        *spoken(1, 1, SEA),
        *spoken(1, 2, SEA),
        *spoken(0, 2, SKY, 10 * MS),
        *ended("done", "done"),
    ]


def compared(records: Sequence[Record], *, text: bool = True, notes: tuple[str, ...] = (), first: int = 0) -> Opened:
    comparison = records[0]
    assert isinstance(comparison, ComparisonBegun)
    events = tuple(record for record in records if not isinstance(record, OfLanes))
    trace = Trace(replace(HEADER, format=2, text=text), events, notes, comparison, tuple(records))
    return Opened(Path("kept.jsonl"), trace, tuple(takes(trace.of_lane(0).events)), first)


def race(running: Replayed) -> tuple[int, int]:
    """Return the round that is replayed, and where."""
    assert running.lanes.board is not None
    assert running.lanes.board.race is not None
    return running.lanes.board.race.number, running.lanes.board.race.at


async def test_the_lanes_race_as_they_did() -> None:
    async with replay(compared(two_rounds()), paused=True) as running:
        await running.sees("replay  Why is the sky blue?")
        await running.sees("replay round 1 of 2 paused")
        await running.press("right", "right")
        assert race(running) == (1, 122 * MS)
        await running.sees("The sky")
        await running.sees("The sea")
        await running.press("end")
        await running.sees("2nd 4 tokens")
        await running.sees("1st 4 tokens")


async def test_the_figures_are_those_of_the_comparison() -> None:
    opened = compared(two_rounds())
    async with replay(opened, paused=True, size=(160, 50)) as running:
        assert running.lanes.board is not None
        again = RetoldComparison(opened.trace).results
        assert running.lanes.board.results == again
        # 10 ms a token and 7 ms.
        assert "Q4_0 writes 1.43× as fast as Q8_0" in again.verdict
        await running.sees(again.verdict[:40])
        await running.sees("scored on something")
        await running.press("v")
        await running.sees("What has to be known with it")


async def test_rounds() -> None:
    async with replay(compared(two_rounds()), paused=True) as running:
        await running.press("n")
        assert race(running)[0] == 2
        await running.sees("replay round 2 of 2")
        await running.press("n")
        assert race(running)[0] == 1
        await running.press("N")
        assert race(running)[0] == 2
    async with replay(compared(two_rounds(), first=1), paused=True) as running:
        assert race(running)[0] == 2


async def test_a_lane_opens_in_the_round_that_is_raced() -> None:
    records = two_rounds()
    first = next(place for place, record in enumerate(records) if isinstance(record, Token))
    records[first] = replace(records[first], piece=b"Once")
    async with replay(compared(records), paused=True) as running:
        await running.press("enter")
        await running.sees("round 1 of 2")
        await running.sees("Once sky is blue")
        await running.press("escape", "n", "enter")
        await running.sees("round 2 of 2")
        await running.sees("The sky is blue")


async def test_nothing_is_asked_of_it_and_nothing_kept() -> None:
    async with replay(compared(two_rounds()), paused=True) as running:
        await running.press("ctrl+o")
        assert running.toasts[-1] == "This is a recording already."
        await running.press("f1")
        await running.sees("The next of the rounds that were run")
        assert "Keep the comparison" not in running.shown()


async def test_a_lane_opens_with_the_text_that_was_scored() -> None:
    top = (Alternative(id=1, piece=b"a", logprob=-0.1),)

    def scored(first: int, *, compared: bool) -> Scored:
        return Scored(
            t=0,
            first=first,
            logprobs=(-0.5,) * 3,
            entropies=(1.0,) * 3,
            ranks=(1,) * 3,
            top=(top,) * 3,
            kld=(0.25,) * 3 if compared else (),
            same_top=(True,) * 3 if compared else (),
            pieces=((1, b"one "), (2, b"two "), (3, b"three "), (4, b"four ")),
            decode_ns=1,
            compute_ns=1,
        )

    records = [
        *two_rounds()[:-3],
        ScoringBegun(t=0, lanes=(0, 1), tokens=(1, 2, 3, 4), prompt_tokens=2),
        LaneStands(t=0, lane=0, round=2, phase="scoring"),
        scored(1, compared=False),
        LaneStands(t=0, lane=1, round=2, phase="scoring"),
        scored(1, compared=True),
        *ended("done", "done"),
    ]
    async with replay(compared(records), paused=True, size=(160, 50)) as running:
        await running.sees("0.2500")
        await running.press("tab", "enter")
        await running.sees("replay of Q4_0")
        await running.press("f3")
        await running.sees("scored by Q4_0 against Q8_0")
        await running.sees("three four")
        await running.press("escape")


async def test_a_lane_that_failed_says_why() -> None:
    failed = Failed(t=0, stage="load", what="It cannot be loaded.", reason="bad [/magic]")
    records = [
        begun("one", "two", "three"),
        *loaded(0, "one"),
        *loaded(2, "three"),
        LaneStands(t=0, lane=1, round=0, phase="loading"),
        failed,
        *spoken(0, 1, SKY),
        *spoken(2, 1, SEA),
        *ended("done", "failed", "done"),
    ]
    async with replay(compared(records), paused=True) as running:
        await running.sees("bad [/magic]")
        await running.press("end")
        await running.sees("failed")


async def test_text_of_unknown_origin_is_drawn_as_it_is() -> None:
    hostile = "[b]a\x1b[2J[/b]"
    records = [
        begun(hostile, "two", prompt=f"{hostile} why"),
        *loaded(0, hostile),
        *loaded(1, "two"),
        *spoken(0, 1, [hostile.encode()]),
        *spoken(1, 1, SEA),
        *ended("done", "done"),
    ]
    async with replay(compared(records, notes=(f"a note {hostile}",)), paused=True) as running:
        await running.press("end")
        await running.sees("replay  [b]a␛[2J[/b] why")
        assert "\x1b" not in running.shown()
        assert any("[b]a␛[2J[/b]" in toast for toast in running.toasts)


async def test_without_text() -> None:
    records: list[Record] = []
    for record in two_rounds():
        records.append(replace(record, id=-1, piece=b"") if isinstance(record, Token) else record)
    told = [AnswerTold(t=0, lane=lane, round=round, characters=11, like=0) for lane in (0, 1) for round in (1, 2)]
    told[-1] = replace(told[-1], differs_at=2, compared=4)
    async with replay(compared([*records, *told], text=False), paused=True, size=(160, 50)) as running:
        await running.press("end")
        await running.sees("▯ ▯ ▯ ▯")
        await running.sees("token 2")
        assert running.lanes.board is not None
        rounds = running.lanes.board.results.rows[1].all_rounds
        # 11 characters in three gaps of 7 ms.
        assert [one.characters_rate for one in rounds] == pytest.approx([11 / 0.021] * 2)


async def test_cut_off_before_anything_was_written() -> None:
    records: list[Record] = [begun("one", "two"), *loaded(0, "one")]
    opened = compared(records, notes=("It was cut off: everything before the cut is here.",))
    async with replay(opened, paused=True, raced=False) as running:
        await running.sees("No lane can be ranked")
        await running.press("space", "n", "N", "right", "g", "escape", "enter", "escape", "v", "escape", "ctrl+q")
