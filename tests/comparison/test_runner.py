"""The comparison as a state machine, on scripts."""

import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path

import msgspec
import psutil
import pytest

from decodescope.backends.contract import Backend
from decodescope.backends.events import Event, Failed, Finished, LoadProgress, ModelReady, RequestTaken, Token
from decodescope.backends.launch import ScriptFile, launch
from decodescope.comparison.lane import Lane, LanePhase
from decodescope.comparison.plan import ComparisonPlan, Unusable
from decodescope.comparison.runner import Comparison, Stage

from ..conftest import ScriptWriter
from .driving import drive, finish, plan

HOUR = 3_600_000


@contextmanager
def comparing(asked: ComparisonPlan) -> Iterator[Comparison]:
    """A comparison of which nothing is left afterwards."""
    comparison = Comparison(asked)
    children = set(psutil.Process().children())
    try:
        yield comparison
    finally:
        comparison.close()
        assert not comparison.filenos()
        assert set(psutil.Process().children()) <= children


@pytest.fixture
def talkers(script: ScriptWriter) -> tuple[Path, Path, Path]:
    """Three scripts of four tokens."""
    one, two, three = (
        script(
            {"prefill": 20, "cached": 5, "ms": 4},
            {"repeat": 4, "text": " x", "ms": ms},
            {"stop": "stop"},
            name=f"{ms}.jsonl",
        )
        for ms in (1, 2, 3)
    )
    return one, two, three


def spans(comparison: Comparison) -> list[tuple[int, int]]:
    """When each run began and ended, in order."""
    return sorted((one.events[0].t, one.events[-1].t) for lane in comparison.lanes for one in lane.rounds)


def stage_of(comparison: Comparison) -> Stage:
    """The stage, of which a type checker doesn't think that it stays the same."""
    return comparison.stage


def is_done(lane: Lane, rounds: int) -> bool:
    return lane.phase is LanePhase.DONE and [one.number for one in lane.rounds] == list(range(1, rounds + 1))


def test_one_lane_at_a_time_in_rotated_order(talkers: tuple[Path, Path, Path]) -> None:
    with comparing(plan(*talkers, rounds=3)) as comparison:
        events = finish(comparison)
        assert comparison.stage is Stage.DONE
        taken = [number for number, event in events if isinstance(event, RequestTaken)]
        assert taken == [0, 1, 2, 1, 2, 0, 2, 0, 1]
        for lane in comparison.lanes:
            assert is_done(lane, 3)
            assert lane.model is not None
            assert isinstance(lane.opening[-1], ModelReady)
            for one in lane.rounds:
                assert isinstance(one.events[0], RequestTaken)
                assert isinstance(one.events[-1], Finished)
                assert one.run.token_count == 4
                assert one.run.taken.seed == 7
                assert one.run.cached_tokens == 0  # whatever the engine could have kept
        assert all(end <= start for (_, end), (start, _) in pairwise(spans(comparison)))


def test_all_are_loaded_before_the_first_runs(talkers: tuple[Path, Path, Path]) -> None:
    with comparing(plan(*talkers)) as comparison:
        kinds = [type(event) for _, event in finish(comparison)]
        assert kinds.count(ModelReady) == 3
        assert max(place for place, kind in enumerate(kinds) if kind is ModelReady) < kinds.index(RequestTaken)


def test_a_lane_waits_while_another_is_loading(script: ScriptWriter) -> None:
    paths = [script({"load_ms": 60}, {"text": "x"}, name=f"{place}.jsonl") for place in range(3)]
    with comparing(plan(*paths)) as comparison:
        loading = [(number, event.t) for number, event in finish(comparison) if isinstance(event, LoadProgress)]
        assert loading == sorted(loading, key=lambda one: one[1])
        assert [number for number, _ in loading] == sorted(number for number, _ in loading)


def test_together_all_run_at_once(script: ScriptWriter) -> None:
    paths = [script({"repeat": 20, "text": "x", "ms": 20}, name=f"{place}.jsonl") for place in range(3)]
    with comparing(plan(*paths, rounds=2, together=True, tokens=-1)) as comparison:
        finish(comparison)
        assert all(is_done(lane, 2) for lane in comparison.lanes)
        for number in (0, 1):
            runs = [lane.rounds[number].events for lane in comparison.lanes]
            assert max(events[0].t for events in runs) < min(events[-1].t for events in runs)


@pytest.mark.parametrize("together", [False, True])
@pytest.mark.parametrize("broken", [0, 1, 2])
@pytest.mark.parametrize(
    ("line", "stage", "runs"),
    [
        ({"load_error": "no such tensor"}, "load", 0),
        ({"error": "out of memory"}, "generate", 1),
        ({"signal": int(signal.SIGKILL)}, "engine", 1),
    ],
    ids=["load", "generate", "killed"],
)
def test_one_lane_fails_and_the_others_go_on(
    script: ScriptWriter,
    talkers: tuple[Path, ...],
    together: bool,
    broken: int,
    line: dict[str, str],
    stage: str,
    runs: int,
) -> None:
    paths = list(talkers[:2])
    paths.insert(broken, script({"text": "x"} if runs else {"load_ms": 1}, line, name="broken.jsonl"))
    with comparing(plan(*paths, rounds=2, together=together)) as comparison:
        events = finish(comparison)
        assert comparison.stage is Stage.DONE
        lane = comparison.lanes[broken]
        assert lane.phase is LanePhase.FAILED
        assert lane.failed is not None
        assert lane.failed.stage == stage
        assert [number for number, event in events if isinstance(event, Failed)] == [broken]
        assert len(lane.rounds) == runs  # it is not asked again
        assert all(one.run.finish_reason == "failed" and one.run.token_count == 1 for one in lane.rounds)
        assert all(is_done(other, 2) for other in comparison.lanes if other is not lane)


def test_an_idle_lane_that_dies(script: ScriptWriter, talkers: tuple[Path, ...]) -> None:
    slow = script({"repeat": 10_000, "text": "x", "ms": 5})
    with comparing(plan(slow, talkers[0], tokens=-1)) as comparison:
        before = set(psutil.Process().children())
        comparison.start()
        drive(comparison, lambda events: any(isinstance(event, Token) for _, event in events))
        engines = sorted(set(psutil.Process().children()) - before, key=lambda one: one.create_time())
        engines[1].kill()
        drive(comparison, lambda events: any(isinstance(event, Failed) for _, event in events))
        assert [lane.phase for lane in comparison.lanes] == [LanePhase.RUNNING, LanePhase.FAILED]


def test_what_cannot_be_used_at_all(talkers: tuple[Path, ...]) -> None:
    asked = plan(*talkers)
    failed = Failed(t=1, stage="load", what="There is no model 'x'.")
    lanes = list(asked.lanes)
    lanes[0] = type(lanes[0])("x", Unusable("x", failed))
    with comparing(ComparisonPlan(lanes=tuple(lanes), settings=asked.settings, request=asked.request, rounds=1)) as one:
        events = finish(one)
        assert one.lanes[0].failed is failed
        assert events[0] == (0, failed)
        assert all(is_done(lane, 1) for lane in one.lanes[1:])


def test_nothing_can_be_loaded(script: ScriptWriter) -> None:
    paths = [script({"load_error": "x"}, name=f"{place}.jsonl") for place in range(2)]
    with comparing(plan(*paths)) as comparison:
        finish(comparison)
        assert comparison.stage is Stage.DONE
        assert all(lane.phase is LanePhase.FAILED for lane in comparison.lanes)


def test_a_process_that_cannot_be_started(talkers: tuple[Path, ...]) -> None:
    def launch(source: object, settings: object) -> object:
        raise OSError("no more processes")

    comparison = Comparison(plan(*talkers), launch=launch)  # type: ignore[arg-type]
    finish(comparison)
    assert {lane.failed.reason for lane in comparison.lanes if lane.failed} == {"no more processes"}


class OnDevice:
    """An engine on a device that has room for one: beside another one, loading fails."""

    open = 0

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._crowded = OnDevice.open > 0
        OnDevice.open += 1

    def __getattr__(self, name: str) -> object:
        return getattr(self._backend, name)

    def receive(self, timeout: float | None = 0.0) -> list[Event]:
        events: list[Event] = []
        for event in self._backend.receive(timeout):
            if not isinstance(event, ModelReady):
                events.append(event)
            elif self._crowded:
                events.append(Failed(t=event.t, stage="load", what="out of device memory"))
            else:
                events.append(msgspec.structs.replace(event, gpu_layers=8))
        return events

    def close(self) -> None:
        OnDevice.open -= 1
        self._backend.close()


def test_a_device_that_holds_one_model_is_used_in_turn(
    talkers: tuple[Path, Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(OnDevice, "open", 0)
    comparison = Comparison(
        plan(*talkers, rounds=2),
        launch=lambda source, settings: OnDevice(launch(source, settings)),  # type: ignore[arg-type,return-value]
    )
    try:
        events = finish(comparison)
    finally:
        comparison.close()
    assert comparison.in_turn
    assert all(is_done(lane, 2) for lane in comparison.lanes)
    assert not any(isinstance(event, Failed) for _, event in events)
    assert OnDevice.open == 0


def loading(events: list[tuple[int, Event]]) -> bool:
    return any(isinstance(event, LoadProgress) for _, event in events)


def writing(events: list[tuple[int, Event]]) -> bool:
    return any(isinstance(event, Token) for _, event in events)


def reading(events: list[tuple[int, Event]]) -> bool:
    return any(isinstance(event, RequestTaken) for _, event in events)


@pytest.mark.parametrize("together", [False, True])
@pytest.mark.parametrize(
    ("lines", "until", "left"),
    [
        ([{"load_ms": HOUR}], loading, None),
        ([{"prefill": 100, "ms": HOUR}], reading, 0),
        ([{"text": "x"}, {"text": "y", "ms": HOUR}], writing, 1),
    ],
    ids=["loading", "reading", "writing"],
)
def test_cancel(
    script: ScriptWriter,
    lines: list[dict[str, object]],
    until: Callable[[list[tuple[int, Event]]], bool],
    left: int | None,
    together: bool,
) -> None:
    paths = [script(*lines, name=f"{place}.jsonl") for place in range(3)]
    with comparing(plan(*paths, rounds=2, together=together, tokens=-1)) as comparison:
        comparison.start()
        drive(comparison, until)
        comparison.cancel()
        drive(comparison)
        assert comparison.stage is Stage.CANCELLED
        assert all(lane.phase is LanePhase.CANCELLED for lane in comparison.lanes)
        runs = [one.run for lane in comparison.lanes for one in lane.rounds]
        assert all(run.finish_reason == "cancelled" for run in runs)
        if left is None:
            assert not runs
        elif not together:
            assert [run.token_count for run in runs] == [left]


def test_cancel_keeps_what_was_done(script: ScriptWriter, talkers: tuple[Path, ...]) -> None:
    with comparing(plan(talkers[0], script({"text": "x"}, {"text": "y", "ms": HOUR}))) as comparison:
        comparison.start()
        drive(comparison, lambda events: any(number == 1 and isinstance(event, Token) for number, event in events))
        comparison.cancel()
        drive(comparison)
        assert comparison.lanes[0].rounds[0].run.finish_reason == "stop"
        assert comparison.lanes[1].rounds[0].run.finish_reason == "cancelled"


def test_the_second_cancel_waits_for_nobody(script: ScriptWriter) -> None:
    lines = ({"text": "x"}, {"signal": int(signal.SIGSTOP)})
    paths = [script(*lines, name=f"{place}.jsonl") for place in range(4)]
    with comparing(plan(*paths, together=True)) as comparison:
        comparison.start()
        seen: set[int] = set()

        def all_write(events: list[tuple[int, Event]]) -> bool:
            seen.update(number for number, event in events if isinstance(event, Token))
            return len(seen) == 4

        drive(comparison, all_write)
        comparison.cancel()
        assert stage_of(comparison) is Stage.RUNNING
        started = time.monotonic()
        comparison.cancel()
        assert comparison.stage is Stage.CANCELLED
        # Four engines that hear nothing take 1.5 s each, and are waited for at the same time.
        assert time.monotonic() - started < 5


@pytest.mark.parametrize("together", [False, True])
def test_one_more_round(talkers: tuple[Path, Path, Path], together: bool) -> None:
    with comparing(plan(*talkers, rounds=2, together=together)) as comparison:
        finish(comparison)
        comparison.add_round()
        assert stage_of(comparison) is Stage.RUNNING
        events = drive(comparison)
        assert comparison.stage is Stage.DONE
        assert comparison.round == comparison.rounds == 3
        assert all(is_done(lane, 3) for lane in comparison.lanes)
        assert not any(isinstance(event, ModelReady) for _, event in events)  # all were still loaded
        if not together:
            assert [number for number, event in events if isinstance(event, RequestTaken)] == [2, 0, 1]


def test_one_more_round_after_a_cancelled_one(script: ScriptWriter, talkers: tuple[Path, ...]) -> None:
    with comparing(
        plan(script({"text": "x"}, {"text": "y", "ms": HOUR}, {"stop": "stop"}, {"text": "z"}), talkers[0])
    ) as one:
        one.start()
        drive(one, writing)
        one.cancel()
        drive(one)
        one.add_round()
        drive(one)
        assert one.stage is Stage.DONE
        assert [[each.number for each in lane.rounds] for lane in one.lanes] == [[1, 2], [2]]
        assert one.lanes[0].rounds[1].run.finish_reason == "stop"


def test_no_round_is_added_while_one_runs(script: ScriptWriter) -> None:
    with comparing(plan(script({"text": "x", "ms": HOUR}), script({"text": "x"}, name="other.jsonl"))) as comparison:
        comparison.start()
        with pytest.raises(RuntimeError):
            comparison.add_round()


def test_closing_is_harmless_when_repeated(talkers: tuple[Path, ...]) -> None:
    comparison = Comparison(plan(*talkers))
    comparison.start()
    comparison.close()
    assert comparison.stage is Stage.CANCELLED
    comparison.close()
    comparison.cancel()
    assert comparison.receive() == []


def test_the_same_script_twice_plays_twice(talkers: tuple[Path, ...]) -> None:
    with comparing(plan(talkers[0], talkers[0], rounds=2)) as comparison:
        finish(comparison)
        assert all(is_done(lane, 2) for lane in comparison.lanes)
        assert isinstance(comparison.lanes[0].plan.source, ScriptFile)
