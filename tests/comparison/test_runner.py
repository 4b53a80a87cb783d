"""The comparison as a state machine, on scripts."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from decodescope.backends.events import Finished, RequestTaken
from decodescope.comparison.lane import LanePhase
from decodescope.comparison.plan import ComparisonPlan
from decodescope.comparison.runner import Comparison, Stage

from ..conftest import ScriptWriter
from .driving import finish, plan


@contextmanager
def comparing(asked: ComparisonPlan) -> Iterator[Comparison]:
    comparison = Comparison(asked)
    try:
        yield comparison
    finally:
        comparison.close()
        assert not comparison.filenos()


@pytest.fixture
def talkers(script: ScriptWriter) -> tuple[Path, Path, Path]:
    """Three scripts of four tokens."""
    one, two, three = (
        script({"prefill": 20, "ms": 4}, {"repeat": 4, "text": " x", "ms": ms}, {"stop": "stop"}, name=f"{ms}.jsonl")
        for ms in (1, 2, 3)
    )
    return one, two, three


def test_one_lane_at_a_time_in_rotated_order(talkers: tuple[Path, Path, Path]) -> None:
    with comparing(plan(*talkers, rounds=3)) as comparison:
        events = finish(comparison)
        assert comparison.stage is Stage.DONE
        taken = [number for number, event in events if isinstance(event, RequestTaken)]
        assert taken == [0, 1, 2, 1, 2, 0, 2, 0, 1]
        for lane in comparison.lanes:
            assert lane.phase is LanePhase.DONE
            assert [one.number for one in lane.rounds] == [1, 2, 3]
            assert all(one.run.token_count == 4 for one in lane.rounds)
            assert all(isinstance(one.events[0], RequestTaken) for one in lane.rounds)
            assert all(isinstance(one.events[-1], Finished) for one in lane.rounds)
            assert lane.model is not None
        runs = sorted((one.events[0].t, one.events[-1].t) for lane in comparison.lanes for one in lane.rounds)
        assert all(end <= start for (_, end), (start, _) in zip(runs, runs[1:], strict=False))
