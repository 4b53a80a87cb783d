"""What was recorded as a comparison that is done: of several files, or of the one of a comparison."""

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec.structs import replace

from ...backends.events import Event, Failed, Token
from ...backends.launch import ScriptFile
from ...backends.requests import EngineSettings, Request
from ...comparison.plan import ComparisonPlan, LanePlan
from ...comparison.recorded_plan import recorded_plan
from ...traces.opened import Opened

if TYPE_CHECKING:
    from ...comparison.lane import Lane
    from ...comparison.results import Results

_TOLD = "Recordings on one clock, each from its request on; the requests may differ."


class Still:
    """Nothing runs, and nothing can be asked."""

    def start(self) -> list[tuple[int, Event]]:
        """See ``Compared``."""
        return []

    def filenos(self) -> frozenset[int]:
        """See ``Compared``."""
        return frozenset()

    def receive(self) -> list[tuple[int, Event]]:
        """See ``Compared``."""
        return []

    def add_round(self) -> None:
        """See ``Compared``."""

    def cancel(self) -> None:
        """See ``Compared``."""

    def close(self) -> None:
        """See ``Compared``."""


class RecordedFiles(Still):
    """Each file a lane, each of its answers a round."""

    def __init__(self, plan: ComparisonPlan, opened: Sequence[Opened]) -> None:
        from ...comparison.runner import Stage

        self.plan = plan
        self.stage: Stage = Stage.DONE
        self.round = 1
        self.lanes: tuple[Lane, ...] = tuple(
            _lane(number, lane, one) for number, (lane, one) in enumerate(zip(plan.lanes, opened, strict=True))
        )

    @property
    def results(self) -> "Results":
        """See ``Compared``."""
        from ...comparison.results import results

        found = results(self.lanes, together=False)
        # Nobody has arranged for these to be compared: no remedy of a comparison helps.
        return dataclasses.replace(found, winner=None, verdict=_TOLD)


class RecordedComparison(Still):
    """As it was when it ended, or when its recording did."""

    def __init__(self, plan: ComparisonPlan, opened: Opened) -> None:
        from ...comparison.retold import RetoldComparison
        from ...comparison.runner import Stage

        self.plan = plan
        self._retold = RetoldComparison(opened.trace)
        self.stage: Stage = Stage.DONE
        self.round = self._retold.round
        self.lanes: tuple[Lane, ...] = self._retold.lanes
        self.notes = self._retold.notes
        """What of the recording is of no use."""
        if not opened.text:
            for lane in self.lanes:
                for one in lane.rounds:
                    one.events = _drawn(one.events)

    @property
    def results(self) -> "Results":
        """See ``Compared``."""
        return self._retold.results


def _lane(number: int, plan: LanePlan, opened: Opened) -> "Lane":
    from ...comparison.lane import Lane, LanePhase, Round

    lane = Lane(number, plan, LanePhase.DONE)
    for place, take in enumerate(opened.takes, 1):
        generation = take.generation
        if generation is None:
            continue
        events = list(generation.events)
        # The figures are those of what was recorded.
        lane.rounds.append(Round(place, generation.run(), events if opened.text else _drawn(events)))
        if lane.model is None:
            lane.model, lane.opening = generation.model, list(take.opening)
    if not lane.rounds:
        lane.phase = LanePhase.FAILED
        failures = (event for event in opened.trace.events if isinstance(event, Failed))
        lane.failed = next(failures, Failed(t=0, stage="generate", what="Nothing was asked in this recording."))
    return lane


def _drawn(events: Sequence[Event]) -> list[Event]:
    """Return events with something to be seen in the place of each text that was left out."""
    from .film import placeholder

    return [replace(event, piece=placeholder(event)) if isinstance(event, Token) else event for event in events]


def labels(names: Sequence[str]) -> list[str]:
    """Return names that differ: a number behind those that are there more than once."""
    return [
        f"{name} ({names[: place + 1].count(name)})" if names.count(name) > 1 else name
        for place, name in enumerate(names)
    ]


def plan_of(opened: Sequence[Opened]) -> ComparisonPlan:
    """Return what is shown beside each other: the lanes of a comparison, or two to six files."""
    trace = opened[0].trace
    if trace.comparison is not None:
        return recorded_plan(trace.comparison, trace.records)
    paths = [one.path for one in opened]
    lanes = tuple(
        LanePlan(label, ScriptFile(path))
        for label, path in zip(labels([path.name for path in paths]), paths, strict=True)
    )
    return ComparisonPlan(lanes=lanes, settings=EngineSettings(), request=Request(), rounds=1)
