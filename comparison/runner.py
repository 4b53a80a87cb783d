"""The comparison under way: a state machine that is moved by what the engines say."""

import os
from collections import deque
from collections.abc import Callable
from enum import Enum, auto
from pathlib import Path
from typing import Protocol, assert_never

import msgspec

from ..backends.events import (
    Event,
    Failed,
    Finished,
    LoadProgress,
    Log,
    ModelReady,
    PrefillProgress,
    PromptReady,
    Quantized,
    QuantizeProgress,
    RequestTaken,
    Scored,
    Token,
)
from ..backends.free_memory import available_bytes
from ..backends.launch import Source
from ..backends.launch import launch as launch_engine
from ..metrics.prefill import forecast_for
from ..metrics.run import Run
from ..models.errors import ModelError
from ..models.facts import ModelFile, read_model
from .lane import Lane, LanePhase, Round
from .order import rotated
from .plan import ComparisonPlan
from .results import Results, results
from .seating import common_settings, loadable
from .seats import Launch, Seats, failed


class Making(Protocol):
    """A quantization being made: what is used of ``backends.quantizing``."""

    def fileno(self) -> int: ...
    def receive(self, timeout: float | None = 0.0) -> list[Event]: ...
    def close(self) -> None: ...


Make = Callable[[ModelFile, str], Making]


class Stage(Enum):
    """How far the comparison has come."""

    PREPARING = auto()
    """Quantizations are made and engines loaded."""
    RUNNING = auto()
    SCORING = auto()
    DONE = auto()
    CANCELLED = auto()


_ENDED = (Stage.DONE, Stage.CANCELLED)


class Comparison:
    """Runs all lanes of a plan. No threads and no clock: poll ``filenos`` and call ``receive`` when one is readable.

    One lane generates at a time, unless the plan says together; its lanes wait loaded where memory allows, else each
    is loaded for its turn and closed before the next one is.
    """

    def __init__(
        self,
        plan: ComparisonPlan,
        *,
        launch: Launch = launch_engine,
        make: Make | None = None,
        available: Callable[[], int] = available_bytes,
    ) -> None:
        self.plan = plan
        self.lanes = tuple(Lane(number, lane) for number, lane in enumerate(plan.lanes))
        self.stage = Stage.PREPARING
        self.round = 1
        """The round under way, from 1."""
        self.in_turn = False
        """Whether only one lane is loaded at a time, for want of memory."""
        self._request = msgspec.structs.replace(plan.request, cache_prompt=False)
        self._make = make
        self._available = available
        self._seats = Seats(launch)
        self._settings = plan.settings
        self._sources: list[Source | None] = [None if lane.make else lane.source for lane in plan.lanes]
        self._making: tuple[int, Making] | None = None
        self._seated = False
        self._loading: set[int] = set()
        self._running: set[int] = set()
        self._rounds = plan.rounds
        self._queue: deque[int] | None = None
        self._cancelling = False
        self._events: list[tuple[int, Event]] = []

    @property
    def results(self) -> Results:
        """The figures so far."""
        return results(self.lanes, together=self.plan.together)

    def start(self) -> list[tuple[int, Event]]:
        """Begin; returns what is known at once, such as a lane that cannot be launched."""
        self._advance()
        return self._taken()

    def filenos(self) -> frozenset[int]:
        """Return the descriptors to be polled; they may change with every call of another method."""
        making = frozenset() if self._making is None else frozenset([self._making[1].fileno()])
        return self._seats.filenos | making

    def receive(self) -> list[tuple[int, Event]]:
        """Take in what has arrived, move on, and return the events with the numbers of their lanes; never waits."""
        if self._making is not None:
            number, making = self._making
            for event in making.receive():
                self._take(number, event)
        for number, event in self._seats.receive():
            self._take(number, event)
        self._advance()
        return self._taken()

    def add_round(self) -> None:
        """Run one more round; what is not loaded is loaded again. Only once the comparison has ended."""
        if self.stage not in _ENDED:
            raise RuntimeError("a comparison that runs takes no more rounds")
        self._cancelling = False
        self._rounds = max((one.number for lane in self.lanes for one in lane.rounds), default=0) + 1
        self.round = self._rounds
        self._queue = None
        self.stage = Stage.PREPARING
        for lane in self._alive:
            lane.phase = LanePhase.WAITING
        self._advance()

    def cancel(self) -> None:
        """End what runs: a run at its next token. What was done stays. The second time, everything ends at once."""
        if self.stage in _ENDED:
            return
        if self._cancelling:
            self.close()
            return
        self._cancelling = True
        self._stop_making()
        self._seats.close(self._loading)
        self._loading.clear()
        for number in self._running:
            self._seats[number].cancel()
        self._advance()

    def close(self) -> None:
        """End everything, within two seconds. Harmless when repeated."""
        self._stop_making()
        self._seats.close(self._seats.numbers)
        self._loading.clear()
        self._running.clear()
        if self.stage not in _ENDED:
            self._end(Stage.CANCELLED)

    @property
    def _alive(self) -> list[Lane]:
        return [lane for lane in self.lanes if lane.phase is not LanePhase.FAILED]

    def _taken(self) -> list[tuple[int, Event]]:
        events, self._events = self._events, []
        return events

    def _stop_making(self) -> None:
        if self._making is not None:
            self._making[1].close()
            self._making = None

    # What comes next.

    def _advance(self) -> None:
        while self.stage not in _ENDED and not (self._making or self._loading or self._running):
            self._step()

    def _step(self) -> None:
        """Begin whatever is next, when nothing is under way."""
        if self._cancelling:
            self._end(Stage.CANCELLED)
            return
        if (unmade := next((lane for lane in self._alive if self._sources[lane.number] is None), None)) is not None:
            self._begin_making(unmade)
            return
        if not self._seated:
            self._seat()
        if not self.in_turn:
            absent = next((lane for lane in self._alive if lane.number not in self._seats), None)
            if absent is not None:
                self._load(absent)
                return
        if self._queue is None:
            self.stage = Stage.RUNNING
            self._queue = deque(rotated([lane.number for lane in self.lanes], self.round))
        if self._queue:
            self._run(self._queue)
        elif self.round < self._rounds and self._alive:
            self.round += 1
            self._queue = None
        else:
            self._end(Stage.DONE)

    def _begin_making(self, lane: Lane) -> None:
        source, kind = lane.plan.source, lane.plan.make
        if not isinstance(source, ModelFile) or kind is None:
            self._fail(lane, failed("Only a model can be quantized.", remedy="Name a GGUF file."))
            return
        lane.phase, lane.fraction = LanePhase.MAKING, 0.0
        try:
            if self._make is None:
                raise OSError("nothing can make quantizations")
            self._making = lane.number, self._make(source, kind)
        except ModelError as error:
            self._fail(lane, failed(error.what, error.reason, error.remedy))
        except OSError as error:
            self._fail(lane, failed("The quantization cannot be made.", str(error)))

    def _seat(self) -> None:
        """Decide about context and memory, now that all models are known."""
        self._seated = True
        free = self._available()
        sources = [self._sources[lane.number] for lane in self._alive]
        self._settings = common_settings(self.plan, [source for source in sources if source is not None], free)
        fits = loadable(sources, self._settings, free)
        if not self.plan.together:
            self.in_turn = not all(fits)
            return
        for lane, fit in zip(self._alive, fits, strict=True):
            if not fit:
                what = "There is not enough memory for this model beside the others."
                self._fail(lane, failed(what, remedy="Leave out --together, so that one is loaded at a time."))

    def _load(self, lane: Lane) -> None:
        source = self._sources[lane.number]
        if source is None:
            raise AssertionError("a lane is loaded before its model is made")
        if self.in_turn:
            self._seats.close(self._seats.numbers)
        lane.phase, lane.fraction, lane.opening = LanePhase.LOADING, 0.0, []
        problem = self._seats.open(lane.number, source, self._settings)
        if problem is None:
            self._loading.add(lane.number)
        else:
            self._fail(lane, problem)

    def _run(self, queue: deque[int]) -> None:
        """Let the next lane generate, or all of them when they run together."""
        numbers = list(queue) if self.plan.together else [queue[0]]
        for number in numbers:
            lane = self.lanes[number]
            if lane.phase is not LanePhase.FAILED and number not in self._seats:
                self._load(lane)
                return
            queue.popleft()
            if lane.phase is not LanePhase.FAILED:
                lane.phase = LanePhase.RUNNING
                self._running.add(number)
                self._seats[number].generate(self._request)

    def _end(self, stage: Stage) -> None:
        self.stage = stage
        for lane in self._alive:
            lane.phase = LanePhase.DONE if stage is Stage.DONE else LanePhase.CANCELLED

    # What the engines say.

    def _take(self, number: int, event: Event) -> None:
        lane = self.lanes[number]
        if lane.phase is LanePhase.FAILED:
            return
        self._events.append((number, event))
        match event:
            case QuantizeProgress() | LoadProgress():
                lane.fraction = event.fraction
                if isinstance(event, LoadProgress):
                    lane.opening.append(event)
            case Quantized():
                self._take_made(lane, event)
            case ModelReady():
                lane.opening.append(event)
                lane.model, lane.phase = event, LanePhase.WAITING
                self._loading.discard(number)
            case RequestTaken():
                forecast = None if lane.model is None else forecast_for(lane.model)
                lane.rounds.append(Round(self.round, Run(event, forecast), [event]))
            case PromptReady() | PrefillProgress() | Token():
                self._record(lane, event)
            case Finished():
                self._record(lane, event)
                self._running.discard(number)
                lane.phase = LanePhase.WAITING
            case Log():
                if number in self._running and lane.rounds:
                    self._record(lane, event)
                else:
                    lane.opening.append(event)
            case Scored():
                pass
            case Failed():
                if number in self._running and lane.rounds and lane.rounds[-1].number == self.round:
                    self._record(lane, event)
                self._fail(lane, event, told=True)
            case _:
                assert_never(event)

    def _record(self, lane: Lane, event: Event) -> None:
        current = lane.rounds[-1]
        current.run.apply(event)
        current.events.append(event)

    def _take_made(self, lane: Lane, made: Quantized) -> None:
        self._stop_making()
        lane.made, lane.phase = made, LanePhase.WAITING
        try:
            self._sources[lane.number] = read_model(Path(os.fsdecode(made.path)))
        except ModelError as error:
            self._fail(lane, failed(error.what, error.reason, error.remedy))

    def _fail(self, lane: Lane, event: Failed, *, told: bool = False) -> None:
        """Let a lane take no further part; what it holds is freed."""
        lane.phase, lane.failed = LanePhase.FAILED, event
        if not told:
            self._events.append((lane.number, event))
        if self._making is not None and self._making[0] == lane.number:
            self._stop_making()
        self._loading.discard(lane.number)
        self._running.discard(lane.number)
        self._seats.close([lane.number])
