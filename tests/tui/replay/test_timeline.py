"""When everything in a recording comes."""

from msgspec.structs import replace

from decodescope.backends.events import Event, Log
from decodescope.tui.replay.timeline import Part, Span, Timeline

from ..fakes import MS, answer, finished, loading, prompt, ready, taken, token
from .replay_app import whole


def test_parts() -> None:
    timeline = Timeline(whole())
    assert timeline.length == (1200 + 141) * MS
    assert timeline.spans == (
        Span(Part.LOAD, 0, 1200 * MS),
        Span(Part.READ, 1200 * MS, 1312 * MS),
        Span(Part.WRITE, 1312 * MS, 1341 * MS),
    )


def test_times_count_from_the_request() -> None:
    timeline = Timeline(whole())
    assert timeline.since_asked(0) == -1200 * MS
    assert timeline.at(112 * MS) == timeline.of_token(1) == 1312 * MS
    assert timeline.at(-9_999 * MS) == 0
    assert timeline.at(10**18) == timeline.length
    assert timeline.recorded(1312 * MS) == 112 * MS
    assert timeline.recorded(0) == -1200 * MS


def test_idle_time_before_the_request_is_left_out() -> None:
    hour = 3_600_000 * MS
    later = [replace(event, t=event.t + hour) for event in answer([b"x"])]
    timeline = Timeline([loading(1.0), ready(), Log(t=MS, level="info", text=""), *later])
    assert timeline.of_token(1) < 1000 * MS
    assert timeline.recorded(timeline.of_token(1)) == hour + 112 * MS
    assert timeline.since_asked(timeline.of_token(1)) == 112 * MS


def test_tokens() -> None:
    timeline = Timeline(whole())
    assert timeline.token_count == 4
    assert [timeline.tokens(timeline.of_token(index)) for index in (0, 1, 2, 4, 5)] == [0, 1, 2, 4, 4]
    assert timeline.tokens_within(timeline.of_token(2), timeline.of_token(4)) == range(1, 3)


def test_every_token_has_a_place_of_its_own_where_times_go_back() -> None:
    events: list[Event] = [taken(), prompt(1, 2)]
    events += [token(t * MS, index, b"x") for index, t in enumerate((10, 5, 5, 20), 1)]
    timeline = Timeline([*events, finished(15 * MS)])
    dues = [timeline.of_token(index) for index in range(1, 5)]
    assert dues == sorted(set(dues))
    assert [timeline.tokens(due) for due in dues] == [1, 2, 3, 4]
    assert timeline.length == 20 * MS
    assert timeline.place(timeline.length) == 7


def test_nothing_at_all() -> None:
    timeline = Timeline([])
    assert (timeline.length, timeline.spans, timeline.place(5), timeline.of_token(3)) == (0, (), 0, 0)
    assert timeline.recorded(0) == 0


def test_a_load_that_failed() -> None:
    timeline = Timeline([loading(0.0), replace(loading(0.5), t=500 * MS)])
    assert timeline.spans == (Span(Part.LOAD, 0, 500 * MS),)
