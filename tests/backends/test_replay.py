"""Recorded events played again, on a clock that the test moves."""

import select
import time
from collections.abc import Iterator

import pytest

from decodescope.backends.contract import Backend
from decodescope.backends.events import Event, Failed, Finished, PromptReady, RequestTaken, Token
from decodescope.backends.replay import END, ReplayBackend, ReplayClock
from decodescope.backends.requests import Request, Sampling, ScoreRequest

from ..conftest import DEADLINE_SECONDS

MS = 1_000_000
BEGAN = 5_000 * MS
"""When the recording was made, on its own clock."""


class Time:
    """The real clock, as the test wants it."""

    def __init__(self) -> None:
        self.now = 777

    def __call__(self) -> int:
        return self.now

    def passes(self, ms: float) -> None:
        self.now += round(ms * MS)


def recording() -> list[Event]:
    """Taken at 0 ms, tokens at 100, 110 and 120 ms, finished at 121 ms."""
    events: list[Event] = [
        RequestTaken(t=BEGAN, request=1, sampling=Sampling(), seed=1),
        PromptReady(t=BEGAN + MS, tokens=(1, 2), cached=0),
    ]
    for index in (1, 2, 3):
        t = BEGAN + (90 + 10 * index) * MS
        events.append(Token(t=t, index=index, id=index, piece=b"x", decode_ns=0, sample_ns=0))
    return [*events, Finished(t=BEGAN + 121 * MS, reason="stop")]


def kinds(events: list[Event]) -> list[type]:
    return [type(event) for event in events]


@pytest.fixture
def passing() -> Time:
    return Time()


@pytest.fixture
def clock(passing: Time) -> ReplayClock:
    return ReplayClock(clock=passing)


@pytest.fixture
def backend(clock: ReplayClock) -> Iterator[ReplayBackend]:
    made = ReplayBackend(recording(), clock)
    yield made
    made.close()


def readable(backend: ReplayBackend, seconds: float) -> bool:
    return bool(select.select([backend.fileno()], [], [], seconds)[0])


def test_the_clock_runs_at_its_speed(clock: ReplayClock, passing: Time) -> None:
    passing.passes(10)
    assert clock.position == 10 * MS
    clock.speed = 0.5
    passing.passes(10)
    assert clock.position == 15 * MS
    assert clock.until(20 * MS) == pytest.approx(0.010)
    clock.speed = 100
    passing.passes(1)
    assert clock.position == 115 * MS
    assert clock.until(0) == 0.0


def test_the_clock_stands_still_while_paused(clock: ReplayClock, passing: Time) -> None:
    passing.passes(10)
    clock.pause()
    passing.passes(1_000)
    assert (clock.position, clock.paused) == (10 * MS, True)
    assert clock.until(11 * MS) is None
    clock.seek(50 * MS)
    passing.passes(1_000)
    assert clock.position == 50 * MS
    clock.resume()
    passing.passes(5)
    assert clock.position == 55 * MS


@pytest.mark.parametrize("speed", [0, -1])
def test_no_speed_that_leads_nowhere(clock: ReplayClock, speed: float) -> None:
    with pytest.raises(ValueError, match="cannot run"):
        clock.speed = speed
    with pytest.raises(ValueError, match="cannot run"):
        ReplayClock(speed=speed)


def test_events_come_when_their_time_has_come(backend: ReplayBackend, passing: Time) -> None:
    kept: Backend = backend
    assert kinds(kept.receive()) == [RequestTaken]
    passing.passes(99)
    assert kinds(kept.receive()) == [PromptReady]
    passing.passes(11)
    assert [event.index for event in kept.receive() if isinstance(event, Token)] == [1, 2]
    assert backend.now == BEGAN + 110 * MS
    assert not kept.closed
    passing.passes(10_000)
    assert kinds(kept.receive()) == [Token, Finished]
    assert backend.now == BEGAN + 121 * MS
    assert kept.closed
    assert kept.receive() == []


def test_all_at_once() -> None:
    backend = ReplayBackend(recording(), ReplayClock(END))
    assert readable(backend, DEADLINE_SECONDS)
    assert backend.receive() == recording()
    assert backend.closed
    assert not readable(backend, 0.05)
    backend.close()
    backend.close()
    assert backend.receive() == []


def test_setting_the_clock_back_begins_anew(backend: ReplayBackend, clock: ReplayClock) -> None:
    clock.pause()
    clock.seek(END)
    assert len(backend.receive()) == 6
    assert backend.closed
    clock.seek(105 * MS)
    assert not backend.closed
    assert readable(backend, DEADLINE_SECONDS)
    assert kinds(backend.receive()) == [RequestTaken, PromptReady, Token]
    clock.seek(115 * MS)
    assert readable(backend, DEADLINE_SECONDS)
    assert kinds(backend.receive()) == [Token]


def test_it_waits_for_its_events_in_real_time() -> None:
    began = time.perf_counter_ns()
    clock = ReplayClock(speed=2)
    backend = ReplayBackend(recording(), clock)
    received: list[Event] = []
    while not backend.closed:
        assert readable(backend, DEADLINE_SECONDS)
        received += backend.receive()
    # Never too soon: 121 ms at twice the speed. How late depends on the machine.
    assert time.perf_counter_ns() - began >= 60 * MS
    assert received == recording()
    backend.close()


def test_receive_waits_for_the_first_event() -> None:
    clock = ReplayClock(speed=10)
    backend = ReplayBackend(recording()[2:], clock, origin=BEGAN)
    assert isinstance(backend.receive(DEADLINE_SECONDS)[0], Token)
    backend.close()


def test_a_paused_replay_is_silent_until_it_goes_on(backend: ReplayBackend, clock: ReplayClock) -> None:
    assert readable(backend, DEADLINE_SECONDS)
    clock.pause()
    backend.receive()
    assert not readable(backend, 0.05)
    clock.seek(100 * MS)
    assert readable(backend, DEADLINE_SECONDS)
    assert kinds(backend.receive()) == [PromptReady, Token]


def test_two_recordings_run_on_one_clock(clock: ReplayClock, passing: Time) -> None:
    backends = [ReplayBackend(recording(), clock) for _ in range(2)]
    passing.passes(100)
    assert [len(backend.receive()) for backend in backends] == [3, 3]
    for backend in backends:
        backend.close()


def test_what_is_recorded_later_can_be_added() -> None:
    backend = ReplayBackend(recording()[:3], ReplayClock(END))
    assert len(backend.receive()) == 3
    assert backend.closed
    backend.extend(recording()[3:])
    assert not backend.closed
    assert readable(backend, DEADLINE_SECONDS)
    assert kinds(backend.receive()) == [Token, Token, Finished]
    backend.close()


def test_nothing_can_be_asked(backend: ReplayBackend) -> None:
    backend.receive()
    backend.cancel()
    backend.probabilities(True)
    backend.generate(Request(prompt="x"))
    backend.score(ScoreRequest(tokens=(1, 2), first=1))
    backend.tokenize("x")
    assert readable(backend, DEADLINE_SECONDS)
    refused = backend.receive()
    assert len(refused) == 3
    for event in refused:
        assert isinstance(event, Failed)
        assert event.stage == "generate"
        assert event.what.startswith("This is a recording")


def test_an_empty_recording_is_over_at_once() -> None:
    backend = ReplayBackend([], ReplayClock(END))
    assert backend.closed
    assert backend.receive() == []
    assert backend.now == 0
    backend.close()
