"""One generation without a screen."""

import threading
import time
from typing import TYPE_CHECKING, assert_never

from msgspec.structs import replace

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
from ..backends.launch import launch, resolve, sampling_of
from ..metrics.run import Run
from ..models.errors import ModelError
from .exit_codes import ExitCode
from .failure import failure_text
from .interrupts import Interrupted, Interrupts
from .options import GenerationOptions
from .outputs import Outcome, Output
from .progress import ProgressLine
from .streams import Data, Messages, delivered
from .waiting import Waiting

if TYPE_CHECKING:
    from ..traces.recording import Recording

_CANCEL_DEADLINE_SECONDS = 5.0
_SILENCE_SECONDS = 0.5


def generate(
    options: GenerationOptions,
    prompt: str,
    output: Output,
    data: Data,
    messages: Messages,
    recording: "Recording | None" = None,
) -> ExitCode:
    """Load the model, generate once, and write the result through ``output``; every failure is said on stderr.

    What is received goes into ``recording`` as well, which is closed in the end.
    """
    progress = ProgressLine(messages)
    generation = _Generation(options, prompt, output, data, messages, progress, recording)
    with Interrupts() as interrupts:

        def print_all() -> None:
            generation.perform(interrupts)
            progress.clear()
            output.end(generation.outcome)

        try:
            printed = delivered(data, messages, print_all)
        finally:
            progress.clear()
            generation.end_recording()
        if printed is not ExitCode.DONE:
            return printed
        if generation.outcome.cancelled and generation.outcome.run is None:
            messages.say("Cancelled before anything was generated.")
        code = _exit_code(generation.outcome, interrupts)
        broken = recording is not None and recording.broken
        return ExitCode.FAILED if broken and code is ExitCode.DONE else code


def _exit_code(outcome: Outcome, interrupts: Interrupts) -> ExitCode:
    if outcome.failed is not None:
        return ExitCode.NOT_LOADED if outcome.failed.stage == "load" else ExitCode.FAILED
    return interrupts.exit_code if outcome.cancelled else ExitCode.DONE


class _Generation:
    """Moves events from the backend to the output until the generation ends."""

    def __init__(
        self,
        options: GenerationOptions,
        prompt: str,
        output: Output,
        data: Data,
        messages: Messages,
        progress: ProgressLine,
        recording: "Recording | None",
    ) -> None:
        self.outcome = Outcome(options)
        self._options = options
        self._prompt = prompt
        self._output = output
        self._data = data
        self._messages = messages
        self._progress = progress
        self._recording = recording
        self._done = False

    def perform(self, interrupts: Interrupts) -> None:
        """Load and generate. Raises OSError when stdout cannot be written."""
        try:
            source = interrupts.during(lambda: resolve(self._options.model))
            self._options = self.outcome.options = self._options.for_model(sampling_of(source))
            backend = launch(source, replace(self._options.settings, adapt_threads=True))
        except Interrupted:
            self.outcome.cancelled = True
            return
        except ModelError as error:
            self._fail(error.what, error.reason, error.remedy)
            return
        except OSError as error:
            self._fail("The engine's process cannot be started.", str(error))
            return
        # An engine that is busy or stopped may take seconds to end, also within ``close``.
        notice = threading.Timer(_SILENCE_SECONDS, self._say, ["Stopping. Ctrl+C once more ends it at once."])
        notice.daemon = True
        try:
            self._pump(backend, interrupts, notice)
        finally:
            backend.close()
            notice.cancel()

    def _fail(self, what: str, reason: str, remedy: str = "") -> None:
        failed = Failed(t=time.perf_counter_ns(), stage="load", what=what, reason=reason, remedy=remedy)
        self._record([failed])
        self._take(failed)
        self._output.event(failed)

    def _pump(self, backend: Backend, interrupts: Interrupts, notice: threading.Timer) -> None:
        waiting = Waiting(interrupts, self._data)
        deadline: float | None = None
        while not self._done and not backend.closed:
            interrupted = waiting.wait([backend.fileno()], deadline)
            late = deadline is not None and time.monotonic() >= deadline
            events = backend.receive()
            self._record(events)
            for event in events:
                self._handle(event, backend)
            if interrupted and deadline is None:
                self.outcome.cancelled = True
                notice.start()
                if self.outcome.model is None:
                    return
                deadline = time.monotonic() + _CANCEL_DEADLINE_SECONDS
                backend.cancel()
            if late:
                return

    def _handle(self, event: Event, backend: Backend) -> None:
        if self._done:
            return
        self._progress.update(event)
        self._take(event)
        self._output.event(event)
        if isinstance(event, ModelReady) and not self.outcome.cancelled:
            backend.generate(self._options.request(self._prompt))

    def _take(self, event: Event) -> None:
        outcome = self.outcome
        if outcome.run is not None:
            outcome.run.apply(event)
        match event:
            case ModelReady():
                outcome.model = event
            case RequestTaken():
                outcome.run = Run(event)
            case Log():
                self._log(event)
            case Failed():
                outcome.failed = event
                self._done = True
                self._say(failure_text(event.what, event.reason, event.remedy))
            case Finished():
                outcome.cancelled = event.reason == "cancelled"
                self._done = True
            case LoadProgress() | PromptReady() | PrefillProgress() | Token() | ThreadsChanged():
                pass
            case Tokenized() | Scored() | QuantizeProgress() | Quantized() | MeasuredWith() | Measured():
                pass  # of a comparison or a measurement
            case _:
                assert_never(event)

    def _log(self, log: Log) -> None:
        if log.level == "info":
            self._say(log.text)
        elif log.text not in self.outcome.warnings:
            self.outcome.warnings.append(log.text)
            self._say(f"{log.level}: {log.text}")

    def end_recording(self) -> None:
        """Write the end of the recording, where there is one."""
        if self._recording is None:
            return
        if self.outcome.cancelled and self.outcome.run is not None and not self._done:
            self._record([Finished(t=time.perf_counter_ns(), reason="cancelled")])
        self._recording.close()
        self._tell_of_recording()

    def _record(self, events: list[Event]) -> None:
        if self._recording is not None:
            from ..traces.memory import memory_known

            self._recording.take([*events, *memory_known(events)])
            self._tell_of_recording()

    def _tell_of_recording(self) -> None:
        if self._recording is not None and (news := self._recording.news()) is not None:
            self._say(news)

    def _say(self, text: str) -> None:
        self._progress.clear()
        self._messages.say(text)
