"""What of a recording is replayed in one go."""

from decodescope.backends.events import Event, Failed, Log, ModelReady
from decodescope.backends.logs import warnings_in
from decodescope.traces.generations import takes

from ..tui.fakes import MS, answer, loading, ready
from .samples import session

WARNING = Log(t=1, level="warning", text="The answers get worse.")


def test_each_answer_with_its_model() -> None:
    events = session()
    first, second = takes(events)
    assert first.generation is not None
    assert second.generation is not None
    assert list(first.events) == events[: events.index(second.generation.taken) - 1]
    assert [type(event) for event in second.opening] == [ModelReady, Log]
    assert second.opening[0].t == second.generation.taken.t
    assert second.events[-1] == events[-1]


def test_what_was_warned_of_while_a_model_was_loaded_goes_with_each_of_its_answers() -> None:
    chatter = Log(t=2, level="info", text="chatter")
    events: list[Event] = [loading(0.5), WARNING, chatter, ready(), *answer([b"x"]), *answer([b"y"]), ready()]
    first, second = takes([*events, *answer([b"z"])])[:2]
    assert WARNING in first.opening
    assert warnings_in(second.events) == [WARNING.text]
    assert chatter not in second.opening
    third = takes([*events, *answer([b"z"])])[2]
    assert not warnings_in(third.events)


def test_a_recording_that_begins_in_the_middle() -> None:
    (only,) = takes(answer([b"x"]))
    assert only.opening == ()
    assert only.generation is not None
    assert only.generation.model is None


def test_without_an_answer_everything_is_one() -> None:
    failed = Failed(t=MS, stage="load", what="It failed.")
    events: list[Event] = [loading(0.5), failed]
    (only,) = takes(events)
    assert only.events == tuple(events)
    assert only.generation is None
    assert takes([])[0].events == ()
    assert takes([ready()])[0].events == (ready(),)
