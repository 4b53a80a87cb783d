"""The comparison under way: a state machine that is moved by what the engines say."""

import os
from collections import deque
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import msgspec

from ..backends.events import Event, Failed, Finished, ModelReady, PromptReady, Quantized, Scored, Tokenized
from ..backends.free_memory import available_bytes
from ..backends.launch import Source
from ..backends.launch import launch as launch_engine
from ..backends.quantizing import start_quantizing
from ..models.errors import ModelError
from ..models.facts import read_model
from .intake import take_in
from .lane import Lane, LanePhase
from .making import Make, Workshop
from .order import rotated
from .plan import ComparisonPlan, Unusable
from .results import Results, results
from .scoring import Scorers
from .seating import Seating, seat
from .seats import Launch, Seats, failed
from .stage import BEFORE_LAST_ROUND, ENDED, Stage
from .verdict import cancelled_in
from .vocabularies import compare_vocabularies

__all__ = ["Comparison", "Stage"]


class Comparison:
    """Runs all lanes of a plan. No threads and no clock: poll ``filenos`` and call ``receive`` when one is readable.

    One lane generates at a time, unless the plan says together; its lanes wait loaded where memory allows, else each
    is loaded for its turn and closed before the next one is. Afterwards all lanes score the same text.
    """

    def __init__(
        self,
        plan: ComparisonPlan,
        *,
        launch: Launch = launch_engine,
        make: Make = start_quantizing,
        available: Callable[[], int] = available_bytes,
    ) -> None:
        self.plan = plan
        self.lanes = tuple(Lane(number, lane) for number, lane in enumerate(plan.lanes))
        self.stage = Stage.PREPARING
        self.round = 1
        """The round under way, from 1."""
        self.rounds = plan.rounds
        """How many rounds there are to be."""
        self._request = msgspec.structs.replace(plan.request, cache_prompt=False)
        self._available = available
        self._workshop = Workshop(make)
        self._seats = Seats(launch)
        self._seating: Seating | None = None
        self._sources: list[Source | None] = [lane.ready for lane in plan.lanes]
        self._loading: set[int] = set()
        self._running: set[int] = set()
        self._queue: deque[int] | None = None
        self._scorers = Scorers(self.lanes, plan.text) if plan.quality else None
        self._cancelling = False
        self._events: list[tuple[int, Event]] = []

    @property
    def in_turn(self) -> bool:
        """Whether only one lane is loaded at a time, for want of memory."""
        return self._seating is not None and self._seating.in_turn

    @property
    def results(self) -> Results:
        """The figures so far."""
        found = results(self.lanes, together=self.plan.together, so_far=self.stage in BEFORE_LAST_ROUND)
        if self.stage is not Stage.CANCELLED:
            return found
        return replace(found, notes=(cancelled_in(self.round, self.rounds), *found.notes))

    def start(self) -> list[tuple[int, Event]]:
        """Begin; returns what is known at once, such as a lane that cannot be launched."""
        for lane in self.lanes:
            if isinstance(lane.plan.source, Unusable):
                self._fail(lane, lane.plan.source.failed)
        self._advance()
        return self._taken()

    def filenos(self) -> frozenset[int]:
        """Return the descriptors to be polled; they may change with every call of another method."""
        return self._seats.filenos | self._workshop.filenos

    def receive(self) -> list[tuple[int, Event]]:
        """Take in what has arrived, move on, and return the events with the numbers of their lanes; never waits."""
        for number, event in self._workshop.receive() + self._seats.receive():
            self._take(number, event)
        self._advance()
        return self._taken()

    def add_round(self) -> None:
        """Run one more round; what is not loaded is loaded again. Only once the comparison has ended."""
        if self.stage not in ENDED:
            raise RuntimeError("a comparison that runs takes no more rounds")
        self._cancelling = False
        self.round = self.rounds = max((one.number for lane in self.lanes for one in lane.rounds), default=0) + 1
        self._queue = None
        self.stage = Stage.PREPARING
        for lane in self._alive:
            lane.phase = LanePhase.WAITING
        self._advance()

    def cancel(self) -> None:
        """End what runs: a run at its next token. What was done stays. The second time, everything ends at once."""
        if self.stage in ENDED:
            return
        if self._cancelling:
            self.close()
            return
        self._cancelling = True
        self._workshop.stop()
        self._seats.close(self._loading)
        self._loading.clear()
        for number in self._asked:
            self._seats[number].cancel()
        self._advance()

    def close(self) -> None:
        """End everything, within two seconds. Harmless when repeated."""
        self._workshop.stop()
        self._seats.close(self._seats.numbers)
        self._loading.clear()
        self._running.clear()
        if self._scorers is not None:
            self._scorers.stop()
        if self.stage not in ENDED:
            self._end(Stage.CANCELLED)

    @property
    def _alive(self) -> list[Lane]:
        return [lane for lane in self.lanes if lane.phase is not LanePhase.FAILED]

    @property
    def _asked(self) -> set[int]:
        """Lanes whose engine owes an answer."""
        scoring = None if self._scorers is None else self._scorers.asked
        return self._running if scoring is None else {*self._running, scoring}

    @property
    def _busy(self) -> bool:
        return bool(self._loading or self._asked) or self._workshop.lane is not None

    def _taken(self) -> list[tuple[int, Event]]:
        events, self._events = self._events, []
        return events

    # What comes next.

    def _advance(self) -> None:
        while self.stage not in ENDED and not self._busy:
            self._step()

    def _step(self) -> None:
        """Begin whatever is next, when nothing is under way."""
        if self._cancelling:
            self._end(Stage.CANCELLED)
            return
        if (unmade := next((lane for lane in self._alive if self._sources[lane.number] is None), None)) is not None:
            unmade.phase, unmade.fraction = LanePhase.MAKING, 0.0
            self._fail(unmade, self._workshop.begin(unmade))
            return
        seating = self._seating or self._seat()
        absent = next((lane for lane in self._alive if lane.number not in self._seats), None)
        if absent is not None and not seating.in_turn:
            self._load(absent, seating)
            return
        if self._queue is None:
            self.stage = Stage.RUNNING
            self._queue = deque(rotated([lane.number for lane in self.lanes], self.round))
        if self._queue:
            self._run(self._queue, seating)
        elif self.round < self.rounds and self._alive:
            self.round += 1
            self._queue = None
        elif self._scorers is None or not self._score(self._scorers, seating):
            self._end(Stage.DONE)

    def _seat(self) -> Seating:
        """Decide about context and memory, now that all models are known."""
        sources = [
            None if lane.phase is LanePhase.FAILED else source
            for lane, source in zip(self.lanes, self._sources, strict=True)
        ]
        self._seating = seat(self.plan, sources, self._available())
        for number in self._seating.without_room:
            what = "There is not enough memory for this model beside the others."
            self._fail(self.lanes[number], failed(what, remedy="Leave out --together: then one is loaded at a time."))
        return self._seating

    def _load(self, lane: Lane, seating: Seating) -> None:
        source = self._sources[lane.number]
        if source is None:
            raise AssertionError("a lane is loaded before its model is made")
        if seating.in_turn:
            self._seats.close(self._seats.numbers)
        lane.phase, lane.fraction, lane.opening = LanePhase.LOADING, 0.0, []
        self._loading.add(lane.number)
        self._fail(lane, self._seats.open(lane.number, source, seating.settings))

    def _run(self, queue: deque[int], seating: Seating) -> None:
        """Let the next lane generate, or all of them when they run together."""
        for number in list(queue) if self.plan.together else [queue[0]]:
            lane = self.lanes[number]
            if lane.phase is not LanePhase.FAILED and number not in self._seats:
                self._load(lane, seating)
                return
            queue.popleft()
            if lane.phase is not LanePhase.FAILED:
                lane.phase = LanePhase.RUNNING
                self._running.add(number)
                self._seats[number].generate(self._request)

    def _score(self, scorers: Scorers, seating: Seating) -> bool:
        """Let the next lane score the next stretch; False when all is scored."""
        lane = scorers.next(self._sources, in_turn=seating.in_turn)
        if lane is None:
            return False
        self.stage = Stage.SCORING
        if lane.number in self._seats:
            scorers.ask(self._seats[lane.number])
        else:
            self._load(lane, seating)
        return True

    def _end(self, stage: Stage) -> None:
        self.stage = stage
        if self._scorers is not None:
            self._scorers.stop()
        for lane in self._alive:
            lane.phase = LanePhase.DONE if stage is Stage.DONE else LanePhase.CANCELLED

    # What the engines say.

    def _take(self, number: int, event: Event) -> None:
        lane = self.lanes[number]
        if lane.phase is LanePhase.FAILED:
            return
        if self.stage in ENDED:
            if isinstance(event, Failed):  # of an engine that is asked nothing: it is launched again when it is
                self._seats.close([number])
            return
        if isinstance(event, Failed) and self._may_fit_alone(number, event):
            return
        self._events.append((number, event))
        take_in(lane, event, self.round, running=number in self._running)
        scoring = self._scorers is not None and self._scorers.asked == number
        if isinstance(event, PromptReady):
            compare_vocabularies(self.lanes, self._sources)
        elif isinstance(event, Quantized):
            self._take_made(lane, event)
        elif isinstance(event, ModelReady):
            lane.phase = LanePhase.WAITING
            self._loading.discard(number)
        elif self._scorers is not None and scoring and isinstance(event, Finished | Scored | Tokenized | Failed):
            if isinstance(event, Failed) and event.stage != "generate":
                self._fail(lane, event, told=True)
            else:
                self._scorers.answered(event)
        elif isinstance(event, Finished):
            self._running.discard(number)
            lane.phase = LanePhase.WAITING
        elif isinstance(event, Failed):
            self._fail(lane, event, told=True)

    def _may_fit_alone(self, number: int, event: Failed) -> bool:
        """Load in turn from now on, where a lane finds no place on devices that others fill: estimates tell of RAM."""
        others = [self.lanes[other].model for other in self._seats.numbers - {number}]
        on_devices = any(model is not None and model.gpu_layers for model in others)
        loading = event.stage == "load" and number in self._loading
        if not (loading and on_devices) or self._seating is None or self.plan.together:
            return False
        self._seating = replace(self._seating, in_turn=True)
        self._loading.discard(number)
        self._seats.close([number])
        self.lanes[number].phase = LanePhase.WAITING
        return True

    def _take_made(self, lane: Lane, made: Quantized) -> None:
        self._workshop.stop()
        lane.phase = LanePhase.WAITING
        try:
            self._sources[lane.number] = read_model(Path(os.fsdecode(made.path)))
        except ModelError as error:
            self._fail(lane, failed(error.what, error.reason, error.remedy))

    def _fail(self, lane: Lane, event: Failed | None, *, told: bool = False) -> None:
        """Let a lane take no further part; what it holds is freed. Nothing is done without a failure."""
        if event is None:
            return
        lane.phase, lane.failed = LanePhase.FAILED, event
        if not told:
            self._events.append((lane.number, event))
        if self._workshop.lane == lane.number:
            self._workshop.stop()
        self._loading.discard(lane.number)
        self._running.discard(lane.number)
        self._seats.close([lane.number])
        if self._scorers is not None:
            self._scorers.lost(lane)
