"""Recordings in which several engines speak: whose events are whose, whatever is wrong with a file."""

from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from decodescope.backends.events import Event, Token
from decodescope.traces.lanes import (
    AnswerTold,
    ComparedModel,
    ComparisonBegun,
    LaneStands,
    Record,
    ScoringBegun,
    StageReached,
)
from decodescope.traces.reader import Trace, read_trace
from decodescope.traces.writer import encode_header, encoded

from ..tui.fakes import MS, answer, finished, ready
from .samples import HEADER, session

BEGUN = ComparisonBegun(
    t=1,
    lanes=(ComparedModel(label="one", name="one"), ComparedModel(label="two", name="two")),
    prompt="why",
    rounds=1,
    together=True,
    quality=False,
)
NEW = replace(HEADER, format=2)


def lane(number: int, round: int = 1) -> LaneStands:
    return LaneStands(t=1, lane=number, round=round, phase="running")


def spoken(*pieces: bytes) -> list[Event]:
    return [ready(), *answer(pieces), finished(200 * MS)]


ONE, TWO = spoken(b"The", b" sky", b" is"), spoken(b"A", b" sea", b" was")


def interleaved() -> list[Record]:
    """Two lanes whose events come in turns."""
    records: list[Record] = [BEGUN]
    for first, second in zip(ONE, TWO, strict=True):
        records += [lane(0), first, lane(1), second]
    return records


def lines(records: list[Record]) -> list[bytes]:
    return encoded(records).splitlines(keepends=True)


def read(tmp_path: Path, *parts: bytes) -> Trace:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"".join(parts))
    return read_trace(path)


def pieces(trace: Trace, number: int) -> bytes:
    return b"".join(event.piece for event in trace.of_lane(number).events if isinstance(event, Token))


def test_every_lane_has_its_own_events(tmp_path: Path) -> None:
    trace = read(tmp_path, encode_header(NEW), *lines(interleaved()))
    assert trace.notes == ()
    assert trace.comparison == BEGUN
    assert list(trace.records) == interleaved()
    assert list(trace.of_lane(0).events) == ONE
    assert list(trace.of_lane(1).events) == TWO
    assert trace.of_lane(2).events == ()
    assert trace.of_lane(0).header == NEW
    assert len(trace.events) == len(ONE) + len(TWO)


def test_without_a_header(tmp_path: Path) -> None:
    trace = read(tmp_path, *lines(interleaved()))
    assert list(trace.of_lane(1).events) == TWO
    assert trace.notes == ("It has no header: the machine and the settings are not known.",)


def test_a_recording_of_one_engine_has_no_lanes(tmp_path: Path) -> None:
    trace = read(tmp_path, encode_header(HEADER), *lines([*session()]))
    assert (trace.comparison, trace.records) == (None, ())
    assert trace.of_lane(0).events == ()


@pytest.mark.parametrize("rubbish", [b"\xff\n", b'{"event":"lane","lane":1\n', b"{}{}\n", b"x" * 300 + b"\n"])
def test_whose_events_follow_what_cannot_be_read_is_not_guessed(tmp_path: Path, rubbish: bytes) -> None:
    whole = lines([BEGUN, lane(0), *ONE, lane(1), *TWO])
    trace = read(tmp_path, encode_header(NEW), *whole[:5], rubbish, *whole[5:])
    assert list(trace.of_lane(0).events) == ONE[:3]
    assert list(trace.of_lane(1).events) == TWO
    assert f"{len(ONE) - 3} lines are of lanes that are not known; the first is line 8." in trace.notes


def test_a_token_that_cannot_be_read_costs_no_other(tmp_path: Path) -> None:
    whole = lines([BEGUN, lane(0), *ONE])
    place = next(number for number, line in enumerate(whole) if b'"token"' in line)
    whole[place] = whole[place].replace(b'"index":1', b'"index":"one"')
    trace = read(tmp_path, encode_header(NEW), *whole)
    assert pieces(trace, 0) == b" sky is"
    assert [event.index for event in trace.events if isinstance(event, Token)] == [1, 2]


def test_a_kind_of_tomorrow_is_skipped(tmp_path: Path) -> None:
    whole = lines([BEGUN, lane(0), *ONE])
    trace = read(tmp_path, encode_header(NEW), *whole[:4], b'{"event":"weather","t":1}\n', *whole[4:])
    assert list(trace.of_lane(0).events) == ONE
    assert trace.notes == ("Line 6 is of an unknown kind, 'weather'.",)


@pytest.mark.parametrize("number", [2, 63, 64, -1, 1 << 40])
def test_a_lane_that_is_not_compared(tmp_path: Path, number: int) -> None:
    trace = read(tmp_path, encode_header(NEW), *lines([BEGUN, lane(number), *TWO, lane(0), *ONE]))
    assert list(trace.events) == ONE
    assert len(trace.notes) == 2


def test_scores_of_a_lane_that_is_not_compared(tmp_path: Path) -> None:
    strange = ScoringBegun(t=1, lanes=(0, 5), tokens=(1, 2), prompt_tokens=1)
    trace = read(tmp_path, encode_header(NEW), *lines([BEGUN, strange, lane(0), *ONE]))
    assert strange not in trace.records
    assert list(trace.of_lane(0).events) == ONE


IMPOSSIBLE: list[Any] = [
    replace(BEGUN, lanes=()),
    replace(BEGUN, lanes=BEGUN.lanes * 40),
    replace(BEGUN, rounds=-1),
    replace(BEGUN, lanes=(replace(BEGUN.lanes[0], bytes=-1),)),
    ScoringBegun(t=1, lanes=(0,), tokens=(-2,), prompt_tokens=1),
    ScoringBegun(t=1, lanes=(0,), tokens=(1,), prompt_tokens=2),
    StageReached(t=1, stage="done", round=-1, rounds=1, in_turn=False),
    StageReached(t=1 << 63, stage="done", round=1, rounds=1, in_turn=False),
    AnswerTold(t=1, lane=0, round=1, characters=-1),
    LaneStands(t=1, lane=0, round=-1, phase="done"),
]


@pytest.mark.parametrize("line", IMPOSSIBLE, ids=lambda line: type(line).__name__)
def test_what_cannot_be_is_left_out(tmp_path: Path, line: Record) -> None:
    trace = read(tmp_path, encode_header(NEW), *lines([BEGUN, line, lane(0), *ONE]))
    assert line not in trace.records
    assert list(trace.of_lane(0).events) == ONE
    assert trace.notes == ("Line 3 has an impossible number.",)


def test_what_was_compared_is_not_in_it(tmp_path: Path) -> None:
    trace = read(tmp_path, encode_header(NEW), *lines(interleaved()[1:]))
    assert trace.comparison is not None
    assert [one.label for one in trace.comparison.lanes] == ["lane 1", "lane 2"]
    assert list(trace.of_lane(1).events) == TWO
    assert trace.notes == ("What was compared is not in it: the lanes have numbers.",)


@pytest.mark.parametrize("header", [NEW, HEADER])
def test_nothing_goes_on_after_a_comparison(tmp_path: Path, header: Any) -> None:
    more = [encode_header(header), *lines([BEGUN, lane(0), *ONE] if header is NEW else [*session()])]
    trace = read(tmp_path, encode_header(NEW), *lines(interleaved()), *more)
    assert list(trace.records) == interleaved()
    line = len(interleaved()) + 2
    assert trace.notes == (f"Another recording begins in line {line}: it was not read.",)


def test_a_comparison_needs_a_file_of_its_own(tmp_path: Path) -> None:
    trace = read(tmp_path, encode_header(HEADER), *lines([*session()]), encode_header(NEW), *lines(interleaved()))
    assert list(trace.events) == session()
    assert trace.comparison is None
    assert any("needs a file of its own" in note for note in trace.notes)
    trace = read(tmp_path, encode_header(NEW), *lines([*interleaved(), *interleaved()]))
    assert list(trace.records) == interleaved()
    assert any("Another comparison begins in line" in note for note in trace.notes)


def test_it_ends_in_the_middle_of_an_answer_of_one_lane(tmp_path: Path) -> None:
    trace = read(tmp_path, encode_header(NEW), *lines([BEGUN, lane(0), *ONE[:-1], lane(1), *TWO]))
    assert trace.notes == ("It ends in the middle of an answer.",)


def test_times_go_back_only_within_a_lane(tmp_path: Path) -> None:
    late = [replace(event, t=event.t + 10_000 * MS) for event in ONE]
    trace = read(tmp_path, encode_header(NEW), *lines([BEGUN, lane(0), *late, lane(1), *TWO]))
    assert trace.notes == ()


def test_lines_are_short() -> None:
    """They come as often as two lanes alternate."""
    assert len(msgspec.json.encode(LaneStands(t=1 << 45, lane=1, round=1, phase="running"))) < 80
