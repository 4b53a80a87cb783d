"""The race's clock, without a screen."""

import pytest

from decodescope.backends.events import Event
from decodescope.metrics.run import Run
from decodescope.tui.compare.moment import counted, length_ns
from decodescope.tui.compare.race import SPEEDS, Entry, Race
from decodescope.tui.compare.transcript import Transcript

from .fakes import MS, Clock, answer

# 40 tokens: the first at 112 ms, the last 39 gaps later.
LENGTHS = {8: 112 + 39 * 8, 4: 112 + 39 * 4}


def entry(number: int, gap: int, *, ranked: bool = True, pieces: tuple[bytes, ...] | None = None) -> Entry:
    events: list[Event] = answer(gap * MS) if pieces is None else answer(gap * MS, pieces)
    run = Run(events[0])  # type: ignore[arg-type]
    for event in events:
        run.apply(event)
    transcript = Transcript(events, events[0].t)
    transcript.read_on()
    return Entry(number, run, transcript, ranked)


def race(*entries: Entry) -> tuple[Race, Clock]:
    clock = Clock()
    made = Race(1, entries, clock)
    made.play()
    return made, clock


def test_each_lane_stands_where_it_stood_at_that_time() -> None:
    made, clock = race(entry(0, 8), entry(1, 4))
    clock.now = 60 * MS
    first = made.moment(0, made.at)
    assert first is not None
    assert first.transcript.prompt_read(first.at) == (50, 100)
    assert counted(first).tokens == 0
    clock.now = (112 + 16) * MS
    tokens = [counted(made.moment(number, made.at)).tokens for number in (0, 1)]
    assert tokens == [3, 5]  # at 112, 120, 128 ms; at 112, 116, 120, 124, 128 ms
    assert counted(made.moment(0, made.at)).tpot_ns == 8 * MS
    assert counted(made.moment(1, made.at)).rate == pytest.approx(250)


def test_the_first_to_arrive_is_first_and_only_when_it_has_arrived() -> None:
    made, clock = race(entry(0, 8), entry(1, 4))
    clock.now = (LENGTHS[4] - 1) * MS
    assert made.place(1, made.at) is None
    clock.now = LENGTHS[4] * MS
    assert (made.place(1, made.at), made.place(0, made.at)) == (1, None)
    clock.now = LENGTHS[8] * MS
    assert (made.place(1, made.at), made.place(0, made.at)) == (1, 2)
    assert made.over
    assert not made.playing


def test_a_lane_that_is_not_ranked_has_no_place() -> None:
    made, clock = race(entry(0, 8), entry(1, 4, ranked=False))
    clock.now = LENGTHS[8] * MS
    assert (made.place(1, made.at), made.place(0, made.at)) == (None, 1)


def test_the_same_time_shares_a_place() -> None:
    made, clock = race(entry(0, 4), entry(1, 4), entry(2, 8))
    clock.now = LENGTHS[8] * MS
    assert [made.place(number, made.at) for number in (0, 1, 2)] == [1, 1, 3]


def test_pause_speed_and_seeking_keep_the_place_on_the_clock() -> None:
    made, clock = race(entry(0, 8))
    clock.now = 100 * MS
    made.pause()
    clock.now = 900 * MS
    assert made.at == 100 * MS
    made.change_speed(1)
    assert made.at == 100 * MS
    made.play()
    clock.now = 910 * MS
    assert made.at == 120 * MS  # twice as fast
    made.seek(-100)
    assert made.at == 0
    made.seek(100)
    assert made.at == made.length == LENGTHS[8] * MS
    made.play()
    assert made.at == 0  # once it is over it begins anew


def test_speeds_end_at_both_ends() -> None:
    made, _ = race(entry(0, 8))
    for _ in range(20):
        made.change_speed(1)
    assert made.speed == SPEEDS[-1] == 16
    for _ in range(20):
        made.change_speed(-1)
    assert made.speed == SPEEDS[0] == 0.1


def test_one_token_and_none() -> None:
    one = entry(0, 8, pieces=(b"x",))
    none = entry(1, 8, pieces=())
    assert length_ns(one.run) == 112 * MS
    assert length_ns(none.run) == 112 * MS  # its end
    made, clock = race(one, none)
    clock.now = 112 * MS
    assert counted(made.moment(0, made.at)).tpot_ns is None
    assert counted(made.moment(1, made.at)).ttft_ns is None
    assert made.over
    assert made.moment(5, made.at) is None
