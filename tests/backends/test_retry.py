"""An engine that crashes before its first token: another one takes its place, without repacked weights."""

import signal
from typing import Any

import pytest

from decodescope.backends.events import (
    Event,
    Failed,
    Finished,
    LoadProgress,
    Log,
    Measured,
    MeasuredWith,
    ModelReady,
    PrefillProgress,
    PromptReady,
    RequestTaken,
    Token,
)
from decodescope.backends.process import ChildProcess
from decodescope.backends.requests import MeasureRequest, Request
from decodescope.backends.wire import Command, Generate

from .engines import Engine, Open, chat, text_of

CRASHES = [signal.SIGSEGV, signal.SIGILL, signal.SIGFPE]
READING = {"prefill": 64, "ms": 2}
ANSWER = [{"text": "yes", "ms": 1}, {"stop": "stop"}]


def crash(kind: str = "signal", number: int = signal.SIGSEGV) -> dict[str, Any]:
    return {kind: int(number), "repack": True}


def warnings(events: list[Event]) -> list[str]:
    return [event.text for event in events if isinstance(event, Log) and event.level == "warning"]


def kinds(events: list[Event]) -> list[type[Event]]:
    """The kinds in order, runs of the same kind once."""
    found = [type(event) for event in events]
    return [kind for number, kind in enumerate(found) if not number or kind is not found[number - 1]]


def to_the_end(engine: Engine, ends: int = 1) -> list[Event]:
    """The events up to the last of so many ends."""
    events: list[Event] = []
    while sum(isinstance(event, Finished | Failed | Measured) for event in events) < ends:
        events += engine.until(Finished, Failed, Measured)
    return events


@pytest.mark.parametrize("number", CRASHES)
def test_a_crash_while_loading_is_followed_by_a_second_load(open_script: Open, number: signal.Signals) -> None:
    engine = open_script({"load_ms": 4}, crash("load_signal", number), *ANSWER)
    first = engine.host.pid
    events = engine.until(ModelReady)
    assert kinds(events) == [LoadProgress, Log, LoadProgress, ModelReady]
    (warning,) = warnings(events)
    assert number.name in warning
    assert "--no-repack" in warning
    assert "doctor" in warning
    assert engine.host.pid != first
    assert text_of(engine.ask("?")) == "yes"


@pytest.mark.parametrize("number", CRASHES)
def test_what_was_asked_is_asked_again(open_script: Open, number: signal.Signals) -> None:
    engine = open_script(READING, crash(number=number), *ANSWER, {"text": "no"})
    engine.load()
    engine.host.generate(chat("?"))
    engine.host.generate(chat("and?"))
    both = to_the_end(engine, ends=2)
    end = next(number for number, event in enumerate(both, 1) if isinstance(event, Finished))
    events = both[:end]
    # One story: the model was ready and the request taken before.
    assert kinds(events) == [
        RequestTaken,
        PromptReady,
        PrefillProgress,
        Log,
        PromptReady,
        PrefillProgress,
        Token,
        Finished,
    ]
    assert len(warnings(events)) == 1
    times = [event.t for event in events]
    assert times == sorted(times)
    assert text_of(events) == "yes"
    assert text_of(both[end:]) == "no"


def test_what_was_asked_while_the_model_was_loaded_is_not_lost(open_script: Open) -> None:
    engine = open_script({"load_ms": 4}, crash("load_signal"), *ANSWER)
    engine.host.generate(chat("?"))
    events = to_the_end(engine)
    assert text_of(events) == "yes"
    assert sum(isinstance(event, RequestTaken) for event in events) == 1


def test_a_cancel_goes_with_its_request(open_script: Open) -> None:
    engine = open_script({"load_ms": 4}, crash("load_signal"), *ANSWER)
    engine.host.cancel()
    engine.host.generate(chat("?"))
    engine.host.cancel()
    engine.host.generate(chat("?"))
    ends = to_the_end(engine, ends=2)
    assert [end.reason for end in ends if isinstance(end, Finished)] == ["cancelled", "stop"]


def test_the_seed_that_was_told_stays(open_script: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[Command] = []
    send = ChildProcess.send

    def spy(child: ChildProcess, command: Command) -> None:
        sent.append(command)
        send(child, command)

    monkeypatch.setattr(ChildProcess, "send", spy)
    engine = open_script(READING, crash(), *ANSWER)
    engine.load()
    events = engine.ask("?")
    (taken,) = (event for event in events if isinstance(event, RequestTaken))
    first, second = (command.request for command in sent if isinstance(command, Generate))
    assert first.sampling.seed == -1
    assert second.sampling.seed == taken.seed


def test_a_measurement_is_made_again_and_says_how(open_script: Open) -> None:
    engine = open_script(READING, crash(), {"text": "x", "ms": 1})
    engine.load()
    engine.host.measure(MeasureRequest(prompt=64, generate=1))
    events = to_the_end(engine)
    assert isinstance(events[-1], Measured)
    assert [event.repack for event in events if isinstance(event, MeasuredWith)] == [True, False]


@pytest.mark.parametrize("ready", [False, True])
def test_a_second_crash_is_the_end(open_script: Open, ready: bool) -> None:
    engine = open_script({"load_ms": 1}, {"signal" if ready else "load_signal": int(signal.SIGSEGV)})
    engine.host.generate(chat("?"))
    events = engine.until(Failed)
    failed = events[-1]
    assert isinstance(failed, Failed)
    assert failed.stage == ("engine" if ready else "load")
    assert "SIGSEGV" in failed.what
    assert len(warnings(events)) == 1
    assert engine.host.closed
    assert engine.host.exit_status == -signal.SIGSEGV


@pytest.mark.parametrize(
    ("lines", "settings"),
    [
        ([READING, {"text": "x"}, {"signal": int(signal.SIGSEGV)}], {}),
        ([READING, {"signal": int(signal.SIGKILL)}], {}),
        ([READING, {"signal": int(signal.SIGABRT)}], {}),
        ([READING, {"signal": int(signal.SIGSEGV)}], {"repack": False}),
    ],
    ids=["after a token", "no memory", "llama.cpp gave up", "left as they are"],
)
def test_other_ends_are_ends(open_script: Open, lines: list[dict[str, Any]], settings: dict[str, Any]) -> None:
    engine = open_script(*lines, **settings)
    engine.load()
    engine.host.generate(Request(prompt="?"))
    events = to_the_end(engine)
    assert isinstance(events[-1], Failed)
    assert events[-1].stage == "engine"
    assert warnings(events) == []


def test_a_warning_that_both_engines_give_is_told_once(open_script: Open) -> None:
    engine = open_script(READING, {"log": "no template"}, crash(), *ANSWER)
    engine.load()
    assert sum("no template" in text for text in warnings(engine.ask("?"))) == 1
