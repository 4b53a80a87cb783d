"""Measurements, by the scripted engine and the real one."""

import pytest

from decodescope.backends.events import Event, Failed, Finished, Measured, MeasuredWith, PrefillProgress
from decodescope.backends.requests import MeasureRequest, Sampling

from .engines import Engine, Open, prompt_of, text_of

MS = 1_000_000


def measure(engine: Engine, **fields: object) -> list[Event]:
    engine.host.measure(MeasureRequest(**fields))  # type: ignore[arg-type]
    return engine.until(Measured, Finished, Failed)


def measured(engine: Engine, **fields: object) -> Measured:
    last = measure(engine, **fields)[-1]
    assert isinstance(last, Measured), last
    return last


@pytest.mark.slow
def test_reading_and_writing(open_llama: Open) -> None:
    engine = open_llama(context=256)
    engine.load()
    events = measure(engine, prompt=32)
    assert isinstance(events[0], MeasuredWith)
    assert "llama" in events[0].model
    assert events[0].backends
    read = events[-1]
    assert isinstance(read, Measured)
    assert read.prompt_ns == read.t - read.started
    assert read.prompt_scheduling is not None
    assert read.gaps == ()
    write = measured(engine, generate=6)
    assert (write.prompt_ns, write.prompt_scheduling) == (None, None)
    assert len(write.gaps) == len(write.decode_ns) == len(write.sample_ns) == len(write.scheduling) == 6
    assert sum(write.gaps) == write.t - write.started
    assert all(
        decode + sample <= gap for gap, decode, sample in zip(write.gaps, write.decode_ns, write.sample_ns, strict=True)
    )
    both = measured(engine, prompt=32, generate=3, sampling=Sampling(seed=1))
    assert both.prompt_ns is not None
    assert both.prompt_ns + sum(both.gaps) == both.t - both.started


@pytest.mark.slow
def test_a_depth_is_computed_once_and_not_timed(open_llama: Open) -> None:
    engine = open_llama(context=256)
    engine.load()
    first = measure(engine, generate=2, depth=100)
    progress = [event for event in first if isinstance(event, PrefillProgress)]
    assert (progress[-1].processed, progress[-1].cached, progress[-1].total) == (100, 0, 100)
    last = first[-1]
    assert isinstance(last, Measured)
    assert progress[-1].t <= last.started
    again = measure(engine, generate=2, depth=100)
    assert not any(isinstance(event, PrefillProgress) for event in again)
    deeper = [event for event in measure(engine, prompt=8, depth=120) if isinstance(event, PrefillProgress)]
    assert (deeper[-1].cached, deeper[-1].total) == (100, 120)


@pytest.mark.slow
def test_other_threads_begin_as_in_an_engine_of_their_own(open_llama: Open) -> None:
    engine = open_llama(context=256)
    engine.load()
    measured(engine, generate=2, depth=100, threads=1)
    assert not any(isinstance(event, PrefillProgress) for event in measure(engine, generate=2, depth=100, threads=1))
    events = measure(engine, generate=2, depth=100, threads=2)
    assert isinstance(events[0], MeasuredWith)
    progress = [event for event in events if isinstance(event, PrefillProgress)]
    assert (progress[-1].cached, progress[-1].total) == (0, 100)


@pytest.mark.slow
def test_an_answer_is_the_same_after_a_measurement(open_llama: Open) -> None:
    engine = open_llama(context=256)
    engine.load()
    before = text_of(engine.ask("Say hello."))
    measured(engine, prompt=20, generate=4, depth=30)
    events = engine.ask("Say hello.")
    assert text_of(events) == before
    assert prompt_of(events).cached <= 1  # no more than a BOS that all begin with


@pytest.mark.slow
@pytest.mark.parametrize(
    ("fields", "said"), [({}, "nothing to measure"), ({"prompt": 200, "depth": 100}, "takes 300 tokens")]
)
def test_what_cannot_be_measured(open_llama: Open, fields: dict[str, int], said: str) -> None:
    engine = open_llama(context=256)
    engine.load()
    failed = measure(engine, **fields)[-1]
    assert isinstance(failed, Failed)
    assert failed.stage == "generate"
    assert said in failed.what
    assert measured(engine, prompt=4).prompt_ns


@pytest.mark.slow
def test_a_cancel_while_the_depth_is_filled(open_llama: Open) -> None:
    engine = open_llama(context=4096)
    engine.load()
    engine.host.measure(MeasureRequest(generate=1, depth=4000))
    engine.until(PrefillProgress)
    engine.host.cancel()
    finished = engine.until(Measured, Finished)[-1]
    assert isinstance(finished, Finished)
    assert finished.reason == "cancelled"
    assert measured(engine, prompt=4).prompt_ns


def test_a_script(open_script: Open) -> None:
    engine = open_script(
        {"prefill": 64, "ms": 30},
        {"repeat": 3, "text": "x", "ms": 5, "facts": {"wait_ms": 1, "sample_ms": 2}},
        {"stop": "stop"},
        {"error": "out of memory", "remedy": "smaller -c"},
    )
    engine.load()
    found = measured(engine, prompt=64, generate=2)
    assert found.prompt_ns is not None
    assert found.prompt_ns >= 30 * MS
    assert len(found.gaps) == 2
    assert sum(found.gaps) + found.prompt_ns == found.t - found.started
    assert found.sample_ns == tuple(min(gap, 2 * MS) for gap in found.gaps)  # one that came late leaves less
    assert [facts.wait_ns for facts in found.scheduling if facts is not None] == [MS, MS]
    failed = measure(engine, generate=1)[-1]
    assert isinstance(failed, Failed)
    assert (failed.reason, failed.remedy) == ("out of memory", "smaller -c")
    too_much = measure(engine, generate=4)[-1]
    assert isinstance(too_much, Failed)
    assert "less in this turn" in too_much.what


def test_a_script_can_be_cancelled(open_script: Open) -> None:
    engine = open_script({"text": "x", "ms": 3_600_000})
    engine.load()
    engine.host.measure(MeasureRequest(generate=1))
    engine.until(MeasuredWith)
    engine.host.cancel()
    assert isinstance(engine.until(Measured, Finished)[-1], Finished)
