"""A comparison whose course is kept, so that it can be told again."""

import time
from collections.abc import Iterable
from typing import Any, Protocol

import msgspec

from ..backends.events import Event, Failed, Finished, RequestTaken
from ..backends.text import well_formed
from ..traces.lanes import (
    AnswerTold,
    ComparedModel,
    ComparisonBegun,
    LaneStands,
    Record,
    ScoringBegun,
    StageReached,
)
from ..traces.memory import Written, memory_known
from .lane import Lane
from .plan import ComparisonPlan
from .results import divergence
from .rounds import characters
from .runner import Comparison
from .stage import ENDED


class Keeper(Protocol):
    """Where it is kept; as a recording, or a session's tape."""

    text: bool
    """With what is asked and answered."""

    def take(self, records: Iterable[Written]) -> None:
        """Keep what was received; never raises."""
        ...


class KeptComparison(Comparison):
    """Tells a keeper what the engines say, and what follows from it that they do not say."""

    def __init__(self, plan: ComparisonPlan, keeper: Keeper, **parts: Any) -> None:
        """``parts``: as those of ``Comparison``."""
        super().__init__(plan, **parts)
        self._keeper = keeper
        self._speaks = -1
        """The lane that was named last."""
        self._stands: list[LaneStands | None] = [None] * len(self.lanes)
        self._scores: list[object] = [None] * len(self.lanes)
        self._answers: list[AnswerTold | None] = [None] * len(self.lanes)
        self._reached: StageReached | None = None
        self._begun = False

    def start(self) -> list[tuple[int, Event]]:
        """See ``Comparison``."""
        self._begun = True
        self._keeper.take([_begun(self.plan)])
        return self._kept(super().start())

    def receive(self) -> list[tuple[int, Event]]:
        """See ``Comparison``."""
        return self._kept(super().receive())

    def add_round(self) -> None:
        """See ``Comparison``."""
        super().add_round()
        self._kept([])

    def cancel(self) -> None:
        """See ``Comparison``."""
        super().cancel()
        self._kept([])

    def close(self) -> None:
        """See ``Comparison``."""
        super().close()
        self._kept([])

    def _kept(self, events: list[tuple[int, Event]]) -> list[tuple[int, Event]]:
        if not self._begun:
            return events
        records: list[Written] = []
        for number, event in events:
            records += self._named(self.lanes[number], event)
            records.append(event)
        records += memory_known(event for _, event in events)
        over = self.stage in ENDED or any(isinstance(event, Finished | Failed) for _, event in events)
        if over and not self._keeper.text:
            records += self._told_answers()
        records += self._changes()
        if records:
            self._keeper.take(records)
        return events

    def _named(self, lane: Lane, event: Event) -> list[Record]:
        """Return the line that says whose ``event`` is, where one is needed; how the lane stands follows later."""
        before = self._stands[lane.number] or LaneStands(t=event.t, lane=lane.number, round=0, phase="waiting")
        number = before.round
        if isinstance(event, RequestTaken):
            number = next(one.number for one in reversed(lane.rounds) if one.run.taken is event)
        if self._speaks == lane.number and number == before.round:
            return []
        return [self._stand(msgspec.structs.replace(before, t=event.t, round=number))]

    def _stand(self, line: LaneStands) -> LaneStands:
        self._stands[line.lane] = line
        self._speaks = line.lane
        return line

    def _changes(self) -> list[Record]:
        """Return what is otherwise than it was told last."""
        now = time.perf_counter_ns()
        records: list[Record] = []
        begun = [
            lane for lane in self.lanes if lane.scores is not None and lane.scores is not self._scores[lane.number]
        ]
        for lane in begun:
            self._scores[lane.number] = lane.scores
        if begun and (scores := begun[0].scores) is not None:
            numbers = tuple(lane.number for lane in begun)
            records.append(ScoringBegun(t=now, lanes=numbers, tokens=scores.tokens, prompt_tokens=scores.prompt_tokens))
        for lane in self.lanes:
            before = self._stands[lane.number]
            line = LaneStands(
                t=now,
                lane=lane.number,
                round=0 if before is None else before.round,
                phase=lane.phase.name.lower(),  # type: ignore[arg-type]
                note=lane.scores_note,
                own_vocabulary=lane.own_vocabulary,
            )
            if before is None or _standing(line) != _standing(before):
                records.append(self._stand(line))
        stage = StageReached(
            t=now,
            stage=self.stage.name.lower(),  # type: ignore[arg-type]
            round=self.round,
            rounds=self.rounds,
            in_turn=self.in_turn,
        )
        if self._reached is None or _but_time(stage) != _but_time(self._reached):
            self._reached = stage
            records.append(stage)
        return records

    def _told_answers(self) -> list[Record]:
        """Return what figures need to know of texts, of which the keeper takes none."""
        prompts = [lane.prompt for lane in self.lanes]
        told: list[Record] = []
        for lane in self.lanes:
            if not lane.rounds:
                continue
            differs_at, compared = divergence(lane, self.lanes[0])
            line = AnswerTold(
                t=time.perf_counter_ns(),
                lane=lane.number,
                round=lane.rounds[-1].number,
                characters=characters(lane.rounds[-1]),
                like=None if prompts[lane.number] is None else prompts.index(prompts[lane.number]),
                differs_at=differs_at,
                compared=compared,
            )
            before = self._answers[lane.number]
            if before is None or _but_time(line) != _but_time(before):
                self._answers[lane.number] = line
                told.append(line)
        return told


def _standing(line: LaneStands) -> object:
    return line.phase, line.note, line.own_vocabulary


def _but_time(line: StageReached | AnswerTold) -> object:
    return msgspec.structs.replace(line, t=0)


def _begun(plan: ComparisonPlan) -> ComparisonBegun:
    lanes = []
    for lane in plan.lanes:
        known = lane.known
        lanes.append(
            ComparedModel(
                label=well_formed(lane.label),
                name=well_formed(known.name),
                quantization=known.quantization,
                bytes=known.bytes,
                make=lane.make,
            )
        )
    return ComparisonBegun(
        t=time.perf_counter_ns(),
        lanes=tuple(lanes),
        prompt=plan.prompt,
        rounds=plan.rounds,
        together=plan.together,
        quality=plan.quality,
    )
