"""The state machine, moved by events that a test hands it."""

import dataclasses

import pytest
from msgspec.structs import replace

from decodescope.backends.events import Event, Failed, Finished, Measured
from decodescope.backends.launch import Source
from decodescope.backends.requests import EngineSettings, MeasureRequest
from decodescope.backends.token_facts import Scheduling
from decodescope.bench.plan import BenchPlan, Group, Trial, context_for
from decodescope.bench.runner import Bench, Stage

from ..tui.fakes import FakeBackend
from .rows import MODEL, MS, WITH, a_group, measured

READ, WRITE = Trial(prompt=8), Trial(generate=4, depth=16)


class Driven:
    """A bench whose engines are fakes."""

    def __init__(self, *groups: Group, repetitions: int = 2, warm_up: bool = False) -> None:
        self.engines: list[FakeBackend] = []
        self.settings: list[EngineSettings] = []
        plan = BenchPlan(groups=groups, repetitions=repetitions, warm_up=warm_up, pause_ms=20)
        self.bench = Bench(plan, launch=self._launch)
        self.bench.start()

    def _launch(self, source: Source, settings: EngineSettings) -> FakeBackend:
        self.engines.append(FakeBackend())
        self.settings.append(settings)
        return self.engines[-1]

    def say(self, *events: Event) -> None:
        self.engines[-1].play(*events)
        self.bench.receive()

    @property
    def asked(self) -> list[MeasureRequest]:
        return self.engines[-1].measured


def failed(stage: str) -> Failed:
    return Failed(t=0, stage=stage, what="It failed.")  # type: ignore[arg-type]


def test_everything_is_asked_in_order() -> None:
    driven = Driven(a_group(READ, WRITE), warm_up=True)
    driven.say(MODEL)
    assert driven.bench.repetition == 0
    driven.say(WITH, *[measured(prompt=9)])
    for _ in range(2):
        driven.say(measured(prompt=5))
    driven.say(measured([3]))
    driven.say(measured([3] * 4))
    assert (driven.bench.number, driven.bench.repetition) == (2, 2)
    driven.say(measured([4] * 4))
    assert driven.bench.stage is Stage.DONE
    assert driven.bench.missing == ()
    assert [(one.prompt, one.generate, one.depth, one.pause_ms) for one in driven.asked] == [
        (8, 0, 0, 20),
        (8, 0, 0, 0),
        (8, 0, 0, 0),
        (0, 1, 0, 20),
        (0, 4, 16, 0),
        (0, 4, 16, 0),
    ]
    # The warm-up's 9 ms is in no row.
    assert [[one.ns for one in row.repetitions] for row in driven.bench.rows] == [
        [5_000_000, 5_000_000],
        [12_000_000, 16_000_000],
    ]


def test_one_engine_at_a_time() -> None:
    driven = Driven(a_group(READ), a_group(READ), repetitions=1)
    driven.say(MODEL)
    assert len(driven.engines) == 1
    driven.say(WITH, measured(prompt=5))
    assert [engine.closed for engine in driven.engines] == [True, False]
    driven.say(MODEL, WITH, measured(prompt=5))
    assert driven.bench.stage is Stage.DONE
    assert len(driven.bench.rows) == 2


def with_threads(threads: int | None, **settings: int) -> Group:
    group = a_group(READ)
    return dataclasses.replace(group, settings=replace(group.settings, threads=threads, **settings))


def test_one_engine_serves_all_numbers_of_threads() -> None:
    driven = Driven(with_threads(1), with_threads(4), repetitions=1, warm_up=True)
    driven.say(MODEL, WITH, measured(prompt=9), measured(prompt=5))
    assert driven.bench.number == 2
    driven.say(WITH, measured(prompt=9), measured(prompt=3))
    assert driven.bench.stage is Stage.DONE
    assert [engine.closed for engine in driven.engines] == [True]
    assert [(one.threads, one.pause_ms) for one in driven.asked] == [(1, 20), (1, 0), (4, 20), (4, 0)]
    assert [(row.model.threads, row.model.threads_batch) for row in driven.bench.rows] == [(1, 1), (4, 4)]
    assert [row.group.settings.threads for row in driven.bench.rows] == [1, 4]


@pytest.mark.parametrize(
    "others",
    [with_threads(None), with_threads(4, batch=64), with_threads(4, context=77), with_threads(4, threads_batch=2)],
)
def test_other_settings_take_an_engine_of_their_own(others: Group) -> None:
    driven = Driven(with_threads(1), others, repetitions=1)
    driven.say(MODEL, WITH, measured(prompt=5))
    assert [engine.closed for engine in driven.engines] == [True, False]


def test_an_engine_that_died_serves_no_other_number_of_threads() -> None:
    driven = Driven(with_threads(1), with_threads(4), repetitions=1)
    driven.say(MODEL, WITH, failed("engine"))
    assert [engine.closed for engine in driven.engines] == [True, False]


def test_a_test_that_fails_takes_no_other_with_it() -> None:
    driven = Driven(a_group(READ, WRITE), repetitions=1)
    driven.say(MODEL, WITH, failed("generate"))
    driven.say(measured([3] * 4))
    assert driven.bench.stage is Stage.DONE
    assert [row.trial for row in driven.bench.rows] == [WRITE]
    assert [one.trials for one in driven.bench.failures] == [(READ,)]


@pytest.mark.parametrize("stage", ["load", "engine"])
def test_an_engine_that_fails_takes_its_tests_and_no_others(stage: str) -> None:
    driven = Driven(a_group(READ, WRITE), a_group(WRITE), repetitions=1)
    driven.say(failed(stage))
    driven.say(MODEL, WITH, measured([3] * 4))
    assert driven.bench.stage is Stage.DONE
    assert [row.trial for row in driven.bench.rows] == [WRITE]
    assert [one.trials for one in driven.bench.failures] == [(READ, WRITE)]


def test_what_was_measured_before_an_engine_died_stays() -> None:
    driven = Driven(a_group(READ))
    driven.say(MODEL, WITH, measured(prompt=5), failed("engine"))
    assert [len(row.repetitions) for row in driven.bench.rows] == [1]
    assert len(driven.bench.failures) == 1


def test_a_model_that_there_is_not() -> None:
    driven = Driven(Group("x", failed("load"), EngineSettings(), (READ,)), a_group(WRITE), repetitions=1)
    assert driven.bench.number == 2
    driven.say(MODEL, WITH, measured([3] * 4))
    assert [one.group.name for one in driven.bench.failures] == ["x"]
    assert len(driven.bench.rows) == 1


def test_a_cancel_keeps_what_was_measured() -> None:
    driven = Driven(a_group(READ, WRITE))
    driven.say(MODEL, WITH, measured(prompt=5))
    driven.bench.cancel()
    assert driven.engines[-1].cancelled == 1
    driven.say(Finished(t=0, reason="cancelled"))
    assert driven.bench.stage is Stage.CANCELLED
    assert [len(row.repetitions) for row in driven.bench.rows] == [1]
    assert driven.bench.fileno() is None
    (missing,) = driven.bench.missing
    assert (missing.trials, missing.repetitions) == ((READ, WRITE), 1)


def test_what_a_cancel_leaves_missing() -> None:
    driven = Driven(a_group(READ, WRITE), a_group(WRITE), repetitions=1)
    driven.say(MODEL, WITH, measured(prompt=5))
    driven.bench.cancel()
    driven.say(measured([3] * 4))  # it was complete before it heard of that
    assert driven.bench.stage is Stage.CANCELLED
    assert len(driven.bench.rows) == 2
    assert [(one.trials, one.repetitions) for one in driven.bench.missing] == [((WRITE,), 0)]


def test_a_repetition_that_was_complete_before_the_cancel_is_the_last_one() -> None:
    driven = Driven(a_group(READ), repetitions=5)
    driven.say(MODEL, WITH)
    driven.bench.cancel()
    driven.say(measured(prompt=5))
    assert driven.bench.stage is Stage.CANCELLED
    assert len(driven.asked) == 1
    assert [len(row.repetitions) for row in driven.bench.rows] == [1]


def test_the_second_cancel_ends_at_once() -> None:
    driven = Driven(a_group(READ))
    driven.say(MODEL)
    driven.bench.cancel()
    driven.bench.cancel()
    assert driven.bench.stage is Stage.CANCELLED
    assert driven.engines[-1].closed


def test_a_cancel_while_loading_ends_at_once() -> None:
    driven = Driven(a_group(READ))
    driven.bench.cancel()
    assert driven.bench.stage is Stage.CANCELLED
    assert driven.engines[-1].closed


def too_long(most: int) -> Failed:
    return Failed(t=0, stage="load", what="It does not fit.", most_context=most)


def test_a_test_that_is_too_long_takes_no_other_with_it() -> None:
    """READ takes 8 + 1 tokens of context, WRITE 16 + 4 + 1."""
    driven = Driven(a_group(WRITE, READ), repetitions=1)
    driven.say(too_long(9))
    assert [engine.closed for engine in driven.engines] == [True, False]
    assert driven.settings[-1].context == 9
    assert driven.bench.number == 2
    driven.say(MODEL, WITH, measured(prompt=5))
    assert driven.bench.stage is Stage.DONE
    assert [row.trial for row in driven.bench.rows] == [READ]
    assert [(one.trials, one.of_model) for one in driven.bench.failures] == [((WRITE,), False)]


@pytest.mark.parametrize(("most", "of_model"), [(8, False), (0, True), (10_000, False)])
def test_memory_for_no_test(most: int, of_model: bool) -> None:
    """10,000: an engine that contradicts itself is not asked for ever."""
    driven = Driven(a_group(WRITE, READ), a_group(READ), repetitions=1)
    driven.say(too_long(most))
    assert [(one.trials, one.of_model) for one in driven.bench.failures] == [((WRITE, READ), of_model)]
    driven.say(MODEL, WITH, measured(prompt=5))
    assert driven.bench.stage is Stage.DONE
    assert len(driven.engines) == 2


def test_memory_may_shrink_while_it_is_tried() -> None:
    driven = Driven(a_group(WRITE, READ, Trial(prompt=2)), repetitions=1)
    driven.say(too_long(20))
    driven.say(too_long(3))
    driven.say(MODEL, WITH, measured(prompt=5))
    assert [row.trial for row in driven.bench.rows] == [Trial(prompt=2)]
    assert [one.trials for one in driven.bench.failures] == [(WRITE,), (READ,)]


def test_a_short_test_is_computed_in_the_buffers_of_a_long_one() -> None:
    settings = EngineSettings(micro_batch=64)
    short, long = Trial(prompt=8), Trial(prompt=8, depth=100)
    assert context_for([short], settings) > 64
    assert context_for([short, long], settings) == 109


def test_memory_for_the_tests_but_not_for_a_whole_micro_batch() -> None:
    group = a_group(READ)
    driven = Driven(dataclasses.replace(group, settings=replace(group.settings, context=515)), repetitions=1)
    driven.say(too_long(100))
    assert driven.settings[-1].context == 100
    driven.say(MODEL, WITH, measured(prompt=5))
    assert [row.trial for row in driven.bench.rows] == [READ]
    assert driven.bench.failures == []


def suspended(ms: float) -> Measured:
    return replace(measured(prompt=ms), prompt_scheduling=Scheduling(suspended_ns=round(ms * MS)))


def test_a_repetition_that_was_suspended_is_run_again() -> None:
    driven = Driven(a_group(READ, WRITE), repetitions=2)
    driven.say(MODEL, WITH)
    driven.say(measured(prompt=5))
    driven.say(suspended(5000))
    assert driven.bench.repetition == 2
    driven.say(measured(prompt=6))
    assert [one.ns for one in driven.bench.rows[0].repetitions] == [5 * MS, 6 * MS]
    assert [(one.trial, one.ns) for one in driven.bench.suspended] == [(READ, 5000 * MS)]
    assert len(driven.asked) == 4


def test_what_is_suspended_again_and_again_has_an_end() -> None:
    driven = Driven(a_group(READ), repetitions=2)
    driven.say(MODEL, WITH)
    for _ in range(4):
        driven.say(suspended(5000))
    assert driven.bench.stage is Stage.DONE
    (row,) = driven.bench.rows
    assert row.quiet is False
    assert len(row.repetitions) == len(driven.bench.suspended) == 2
