"""The measurements under way: a state machine that is moved by what the engine says."""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import Enum, auto
from typing import assert_never

from msgspec.structs import replace as with_fields

from ..backends.contract import Backend
from ..backends.events import (
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
    Quantized,
    QuantizeProgress,
    RequestTaken,
    Scored,
    ThreadsChanged,
    Token,
    Tokenized,
)
from ..backends.launch import Source
from ..backends.launch import launch as launch_engine
from ..backends.logs import warnings_in
from ..backends.requests import EngineSettings
from ..models.errors import ModelError
from .figures import Repetition, Row, repetition
from .plan import BenchPlan, Group, Trial, context_for


class Stage(Enum):
    """How far it is."""

    RUNNING = auto()
    DONE = auto()
    CANCELLED = auto()


@dataclass(frozen=True, slots=True)
class Failure:
    """Tests that could not be measured, or not to their end."""

    group: Group
    trials: tuple[Trial, ...]
    failed: Failed

    @property
    def of_model(self) -> bool:
        """Whether the model could not be loaded, with however little context."""
        return self.failed.stage == "load" and not self.failed.most_context


@dataclass(frozen=True, slots=True)
class Suspended:
    """A repetition that is run again, since the engine was stopped or the machine asleep meanwhile."""

    group: Group
    trial: Trial
    ns: int
    """For how long."""


@dataclass(frozen=True, slots=True)
class Missing:
    """Tests of a group that a cancel kept from being measured to their end."""

    group: Group
    trials: tuple[Trial, ...]
    repetitions: int
    """What there is of the first of them."""


class Bench:
    """Measures one test after the other, one engine at a time. No threads: poll ``fileno`` and call ``receive``."""

    def __init__(self, plan: BenchPlan, *, launch: Callable[[Source, EngineSettings], Backend] = launch_engine) -> None:
        self.plan = plan
        self.stage = Stage.RUNNING
        self.rows: list[Row] = []
        self.failures: list[Failure] = []
        self.suspended: list[Suspended] = []
        self._launch = launch
        self._engine: Backend | None = None
        self._groups = list(plan.groups)
        self._trials: list[Trial] = []
        self._number = 0
        self._model: ModelReady | None = None
        self._with: MeasuredWith | None = None
        self._logs: list[Log] = []
        """Logs of the engine in use."""
        self._warming = False
        self._cancelling = False
        self._began = 0.0
        self._done: list[Repetition] = []
        self._repeated = 0

    @property
    def group(self) -> Group:
        """What is being measured, or was last."""
        return self._groups[0]

    @property
    def trial(self) -> Trial:
        """The test under way, or the first one while the model is loaded."""
        return self._trials[0]

    @property
    def number(self) -> int:
        """Number of the row under way, from 1."""
        return self._number + 1

    @property
    def repetition(self) -> int:
        """Number of the repetition under way, from 1; 0 during the warm-up."""
        return 0 if self._warming else len(self._done) + 1

    @property
    def missing(self) -> tuple[Missing, ...]:
        """What is not there, or not whole, since it was cancelled; nothing unless it was."""
        if self.stage is not Stage.CANCELLED:
            return ()
        trials, done = tuple(self._trials), 0
        last = self.rows[-1] if self.rows else None
        if last is not None and last.trial is trials[0] and last.group is self.group:
            done = len(last.repetitions)
        if done == self.plan.repetitions:
            trials, done = trials[1:], 0
        found = (Missing(self.group, trials, done), *(Missing(one, one.trials, 0) for one in self._groups[1:]))
        return tuple(one for one in found if one.trials)

    def fileno(self) -> int | None:
        """Return the descriptor to be polled; it may change with every call of another method. ``None``: no engine."""
        return None if self._engine is None else self._engine.fileno()

    def start(self) -> None:
        """Begin."""
        self._open()

    def receive(self) -> list[Event]:
        """Take in what has arrived, move on, and return it; never waits."""
        engine = self._engine
        events = [] if engine is None else engine.receive()
        for event in events:
            if self._engine is engine and self.stage is Stage.RUNNING:
                self._take(event)
        return events

    def cancel(self) -> None:
        """End what runs at its next token; what was measured stays. The second time, everything ends at once."""
        if self.stage is not Stage.RUNNING:
            return
        if self._engine is None or self._model is None or self._cancelling:
            self.close()
            return
        self._cancelling = True
        self._engine.cancel()

    def close(self) -> None:
        """End everything, within two seconds. Harmless when repeated."""
        if self.stage is Stage.RUNNING:
            self._end_row()
            self.stage = Stage.CANCELLED
        self._close_engine()

    def _close_engine(self) -> None:
        if self._engine is not None:
            self._engine.close()
            self._engine = None
        self._model = self._with = None
        self._logs = []

    def _open(self) -> None:
        """Launch the engine of the next group that has one, or end."""
        while self._groups:
            group = self._groups[0]
            self._trials = list(group.trials)
            failed = group.source if isinstance(group.source, Failed) else self._start(group.source, group.settings)
            if failed is None:
                return
            self._fail_group(failed)
        self.stage = Stage.DONE

    def _start(self, source: Source, settings: EngineSettings) -> Failed | None:
        try:
            self._engine = self._launch(source, settings)
        except ModelError as error:
            return Failed(
                t=time.perf_counter_ns(), stage="load", what=error.what, reason=error.reason, remedy=error.remedy
            )
        except OSError as error:
            what = "The engine's process cannot be started."
            return Failed(t=time.perf_counter_ns(), stage="load", what=what, reason=str(error))
        return None

    def _take(self, event: Event) -> None:
        match event:
            case ModelReady():
                self._model = event
                self._begin_trial()
            case MeasuredWith():
                self._with = event
            case Measured():
                self._measured(event)
            case Finished():
                self.close()
            case Failed():
                self._failed(event)
            case Log():
                self._logs.append(event)
            case LoadProgress() | PrefillProgress():
                pass
            case RequestTaken() | PromptReady() | Token() | ThreadsChanged() | Tokenized() | Scored():
                pass  # bench does not need it
            case QuantizeProgress() | Quantized():
                pass  # bench does not need it
            case _:
                assert_never(event)

    def _begin_trial(self) -> None:
        self._began = time.time()
        self._done = []
        self._repeated = 0
        self._warming = self.plan.warm_up
        threads, pause = self.group.settings.threads, self.plan.pause_ms
        if self._engine is not None:
            ask = self.trial.warm_up if self._warming else self.trial.request
            self._engine.measure(ask(threads, pause))

    def _measured(self, event: Measured) -> None:
        if not self._warming:
            self._count(repetition(self.trial, event))
        self._warming = False
        if self._cancelling:  # it was complete before it heard of that
            self.close()
            return
        if len(self._done) < self.plan.repetitions:
            if self._engine is not None:
                self._engine.measure(self.trial.request(self.group.settings.threads))
            return
        self._end_row()
        self._next_trial()

    def _count(self, done: Repetition) -> None:
        """Keep a repetition, unless it was suspended and can be run again; the number of such runs is limited."""
        if done.suspended_ns and not self._cancelling and self._repeated < self.plan.repetitions:
            self._repeated += 1
            self.suspended.append(Suspended(self.group, self.trial, done.suspended_ns))
        else:
            self._done.append(done)

    def _next_trial(self) -> None:
        self._number += 1
        del self._trials[0]
        if self._trials:
            self._begin_trial()
            return
        done = self._groups.pop(0)
        if self._engine is not None and self._groups and done.shares_engine(self._groups[0]):
            self._trials = list(self.group.trials)
            self._begin_trial()
            return
        self._close_engine()
        self._open()

    def _end_row(self) -> None:
        """Keep what was measured of the test, if anything."""
        if self._done and self._model is not None and self._with is not None:
            # The engine may have been opened with other threads.
            threads = self.group.settings.threads or self._model.threads
            batch = self.group.settings.threads_batch or threads
            self.rows.append(
                Row(
                    group=self.group,
                    trial=self.trial,
                    model=with_fields(self._model, threads=threads, threads_batch=batch),
                    ran_with=self._with,
                    began=self._began,
                    repetitions=tuple(self._done),
                    warnings=tuple(warnings_in(self._logs)),
                )
            )
        self._done = []

    def _failed(self, event: Failed) -> None:
        self._end_row()
        if self._cancelling:
            self.failures.append(Failure(self.group, (self.trial,), event))
            self.close()
            return
        if event.stage == "generate":
            self.failures.append(Failure(self.group, (self.trial,), event))
            self._next_trial()
            return
        self._close_engine()
        if not self._leave_out_the_longest(event):
            self._fail_group(event)
        self._open()

    def _leave_out_the_longest(self, failed: Failed) -> bool:
        """Go on with the tests for which there is memory, if any; ``failed`` says how much context there may be."""
        most, group = failed.most_context or 0, self.group
        fitting = tuple(trial for trial in group.trials if trial.tokens <= most)
        longest = tuple(trial for trial in group.trials if trial.tokens > most)
        context = min(context_for(fitting, group.settings), most) if fitting else 0
        if not fitting or (not longest and context >= group.settings.context):
            return False
        if longest:
            self.failures.append(Failure(group, longest, failed))
        self._number += len(longest)
        self._groups[0] = replace(group, trials=fitting, settings=with_fields(group.settings, context=context))
        return True

    def _fail_group(self, event: Failed) -> None:
        """The rest of the group cannot be measured."""
        self.failures.append(Failure(self.group, tuple(self._trials), event))
        self._number += len(self._trials)
        del self._groups[0]
