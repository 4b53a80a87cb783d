"""Moving a replay, on a clock that the test moves."""

import pytest

from decodescope.tui.replay.player import SPEEDS, Player
from decodescope.tui.replay.timeline import Timeline

from ..fakes import MS
from .replay_app import Time, whole


@pytest.fixture
def passing() -> Time:
    return Time()


def player(passing: Time, *, speed: float = 1.0, loop: bool = False, paused: bool = False) -> Player:
    return Player(Timeline(whole()), speed=speed, loop=loop, paused=paused, clock=passing)


def test_it_plays_to_the_end_and_stays_there(passing: Time) -> None:
    one = player(passing)
    passing.now += 100 * MS
    assert one.position == 100 * MS
    assert one.playing
    passing.now += 10_000 * MS
    assert one.position == one.timeline.length
    assert one.over
    assert not one.playing


def test_pausing_and_going_on(passing: Time) -> None:
    one = player(passing, paused=True)
    passing.now += 100 * MS
    assert one.position == 0
    one.toggle()
    passing.now += 100 * MS
    one.toggle()
    passing.now += 100 * MS
    assert one.position == 100 * MS


def test_play_begins_anew_when_it_is_over(passing: Time) -> None:
    one = player(passing, paused=True)
    one.seek(one.timeline.length)
    one.toggle()
    passing.now += 5 * MS
    assert one.position == 5 * MS


def test_loop(passing: Time) -> None:
    one = player(passing, loop=True)
    length = one.timeline.length
    passing.now += 3 * length + 7 * MS
    assert one.position == 7 * MS
    passing.now += length - 7 * MS
    assert one.position == length
    assert one.playing
    passing.now += 2
    assert one.position == 2


def test_a_recording_without_length_does_not_loop_for_ever(passing: Time) -> None:
    one = Player(Timeline(whole()[:1]), loop=True, clock=passing)
    passing.now += 5
    assert one.position == 0


def test_speeds(passing: Time) -> None:
    one = player(passing, speed=3.0)
    one.change_speed(1)
    assert one.speed == 5.0
    one.change_speed(-1)
    one.change_speed(-1)
    assert one.speed == 1.0
    for _ in SPEEDS:
        one.change_speed(1)
    assert one.speed == 100
    passing.now += 5 * MS
    assert one.position == 500 * MS
    for _ in SPEEDS:
        one.change_speed(-1)
    assert one.speed == 0.1
    passing.now += 100 * MS
    assert one.position == 510 * MS


def test_steps_go_by_tokens_and_pause(passing: Time) -> None:
    one = player(passing)
    one.step(1)
    assert one.timeline.tokens(one.position) == 1
    one.step(1)
    one.step(1)
    assert one.timeline.tokens(one.position) == 3
    one.step(-1)
    assert one.position == one.timeline.of_token(2)
    for _ in range(5):
        one.step(-1)
    assert one.timeline.tokens(one.position) == 0
    for _ in range(9):
        one.step(1)
    assert one.position == one.timeline.length
    assert not one.playing


def test_seeking_stays_within(passing: Time) -> None:
    one = player(passing, paused=True)
    one.seek(-5)
    assert one.position == 0
    one.seek_share(10)
    assert one.position == one.timeline.length // 2
    one.seek_share(99)
    assert one.position == one.timeline.length
