"""A comparison as a recording tells of it: the same lanes, rounds and scores, and so the same figures."""

import dataclasses

from ..backends.events import (
    Event,
    Failed,
    Finished,
    LoadProgress,
    Log,
    ModelReady,
    PrefillProgress,
    PromptReady,
    RequestTaken,
    Scored,
    Token,
)
from ..metrics.divergence import Divergence
from ..traces.generations import Generation
from ..traces.lanes import AnswerTold, ComparisonBegun, LaneStands, Record, ScoringBegun, StageReached
from ..traces.reader import Trace
from .intake import take_in
from .lane import Lane, LanePhase, Round, TextFacts
from .recorded_plan import recorded_plan
from .results import Results, results
from .stage import BEFORE_LAST_ROUND, ENDED, Stage
from .verdict import cancelled_in

_OF_A_ROUND = (PromptReady, PrefillProgress, Token, Finished, Failed, Log)
_UNKNOWN = Failed(t=0, stage="engine", what="It failed.", reason="The recording does not say why.")


class RetoldComparison:
    """Stands where the recording ends; nothing runs."""

    def __init__(self, trace: Trace) -> None:
        """Raises ValueError for a recording of no comparison."""
        if trace.comparison is None:
            raise ValueError("nothing is compared in this recording")
        self.plan = recorded_plan(trace.comparison, trace.records)
        self.lanes = tuple(Lane(number, lane) for number, lane in enumerate(self.plan.lanes))
        if trace.header is not None and not trace.header.text:
            for lane in self.lanes:
                lane.without_text = TextFacts()
        self.stage = Stage.PREPARING
        self.round = 1
        self.rounds = self.plan.rounds
        self.in_turn = False
        self._tellers = [_Teller(lane) for lane in self.lanes]
        self._speaks = self._tellers[0]
        for record in trace.records:
            self._take(record)
        self.whole = self.stage in ENDED
        """Whether its end is in the recording."""
        if not self.whole:
            self.stage = Stage.CANCELLED
        for teller in self._tellers:
            teller.end(self.stage)

    @property
    def notes(self) -> tuple[str, ...]:
        """What of the recording is of no use, in sentences."""
        count = sum(teller.left_out for teller in self._tellers)
        if not count:
            return ()
        which = "1 stretch of scores does" if count == 1 else f"{count:,} stretches of scores do"
        return (f"{which} not fit to the text or to those before: left out.",)

    @property
    def results(self) -> Results:
        """The figures, as they were."""
        found = results(self.lanes, together=self.plan.together, so_far=self.stage in BEFORE_LAST_ROUND)
        if self.stage is not Stage.CANCELLED:
            return found
        note = (
            cancelled_in(self.round, self.rounds)
            if self.whole
            else f"The recording ends in round {self.round} of {self.rounds}, before the comparison does."
        )
        return dataclasses.replace(found, notes=(note, *found.notes))

    def _take(self, record: Record) -> None:
        match record:
            case ComparisonBegun():
                pass
            case LaneStands():
                self._speaks = self._tellers[record.lane]
                self._speaks.stand(record)
            case ScoringBegun():
                for number in record.lanes:
                    self.lanes[number].scores = Divergence(record.tokens, record.prompt_tokens)
            case StageReached():
                self.stage = Stage[record.stage.upper()]
                self.round, self.rounds, self.in_turn = record.round, record.rounds, record.in_turn
            case AnswerTold():
                _tell(self.lanes[record.lane], record)
            case _:
                self._speaks.take(record)


class _Teller:
    """Tells what one lane has done."""

    def __init__(self, lane: Lane) -> None:
        self.left_out = 0
        """Stretches of scores."""
        self._lane = lane
        self._round = 0
        self._generation: list[Event] = []
        self._last: Event | None = None
        self._failed: Failed | None = None

    def stand(self, line: LaneStands) -> None:
        if line.round != self._round:
            self._end_generation()  # its end may be missing
        self._round = line.round
        self._lane.phase = LanePhase[line.phase.upper()]
        self._lane.scores_note = line.note
        self._lane.own_vocabulary = line.own_vocabulary

    def take(self, event: Event) -> None:
        lane, self._last = self._lane, event
        if isinstance(event, Failed):
            self._failed = event
        if isinstance(event, RequestTaken):
            self._end_generation()
            self._generation.append(event)
        elif self._generation and isinstance(event, _OF_A_ROUND):
            self._generation.append(event)
            if isinstance(event, Finished | Failed):
                self._end_generation()
        elif isinstance(event, Scored):
            self._score(event)
        else:
            if isinstance(event, LoadProgress) and any(isinstance(one, ModelReady) for one in lane.opening):
                lane.opening = []  # loaded again, for its turn
            take_in(lane, event, self._round, running=False)

    def end(self, stage: Stage) -> None:
        """Come to the end of the recording, where the comparison had reached ``stage``."""
        self._end_generation()
        lane, last = self._lane, self._last
        if lane.phase is LanePhase.FAILED or (isinstance(last, Failed) and last.stage != "generate"):
            lane.phase, lane.failed = LanePhase.FAILED, self._failed or _UNKNOWN
        else:
            lane.phase = LanePhase.DONE if stage is Stage.DONE else LanePhase.CANCELLED

    def _end_generation(self) -> None:
        if self._generation and isinstance(taken := self._generation[0], RequestTaken):
            run = Generation(self._lane.model, taken, tuple(self._generation)).run()
            self._lane.rounds.append(Round(self._round, run, self._generation))
        self._generation = []

    def _score(self, event: Scored) -> None:
        """Take in a stretch, unless it cannot belong to the text: a file may be damaged."""
        scores = self._lane.scores
        if scores is None:
            self.left_out += 1
            return
        compared = len(scores.kld) > 0 if scores.count else bool(event.kld)
        follows = not scores.count or event.first > scores.positions[-1]
        fits = event.first + len(event.logprobs) <= len(scores.tokens) and len(event.kld) == len(event.same_top)
        if follows and fits and bool(event.kld) == compared:
            scores.apply(event)
        else:
            self.left_out += 1


def _tell(lane: Lane, told: AnswerTold) -> None:
    if (facts := lane.without_text) is not None:
        facts.characters[told.round] = told.characters
        facts.like, facts.differs_at, facts.compared = told.like, told.differs_at, told.compared
