"""A comparison: on the screen, or without one."""

import gc
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..comparison.keeping import KeptComparison
from ..comparison.plan import FEWEST_LANES, ComparisonPlan, Unusable
from ..comparison.runner import Comparison, Stage
from .comparison_outputs import Form, said, written
from .comparison_plan import Asked
from .comparison_progress import ComparisonProgress
from .exit_codes import ExitCode
from .failure import failure_text
from .interrupts import Interrupted, Interrupts
from .recording import closed
from .screen import obstacle
from .streams import Data, Messages, delivered
from .waiting import Waiting

if TYPE_CHECKING:
    from ..traces.recording import Recording

_CANCEL_DEADLINE_SECONDS = 5.0
_SILENCE_SECONDS = 0.5

Record = Callable[[dict[str, Any]], "Recording | None"]


def _no_recording(settings: dict[str, Any]) -> None:
    return None


def compare(
    asked: Asked,
    messages: Messages,
    *,
    form: Form | None = None,
    record: "Record" = _no_recording,
    text: bool = True,
    theme: str | None = None,
    fps: int | None = None,
    low_bandwidth: bool = False,
) -> int:
    """Compare, and return the exit status; ``form`` None: on the screen, or as a table where there can be none.

    ``record`` begins a recording with these settings; ``text``: what the screen keeps has prompt and answers in it.
    Raises click.UsageError for what cannot be compared, or recorded.
    """
    asked.check()
    if form is None and obstacle() is None:
        # Importing makes many objects and no garbage; the screen turns collection on again once it is there.
        gc.disable()
        from ..traces.tape import SessionTape
        from ..traces.versions import SEVERAL_ENGINES
        from ..tui.app import run_compare
        from ..tui.terminal import NoTerminalError

        plan = asked.plan()
        if not _enough(plan, messages):
            return ExitCode.NOT_LOADED
        settings = asked.described(plan)
        tape = SessionTape(text=text, recording=record(settings), format=SEVERAL_ENGINES)
        status: int = ExitCode.FAILED
        try:
            status = run_compare(plan, tape, settings, theme=theme, fps=fps, low_bandwidth=low_bandwidth)
        except NoTerminalError as error:
            messages.say(str(error))
        finally:
            status = closed(tape, messages, status)
        return status
    data = Data()
    with Interrupts() as interrupts:
        try:
            plan = interrupts.during(asked.plan)
        except Interrupted:
            messages.say("Cancelled before anything was generated.")
            return interrupts.exit_code
        if not _enough(plan, messages):
            return ExitCode.NOT_LOADED
        settings = asked.described(plan)
        return _Headless(plan, settings, form or Form.TABLE, data, messages, record(settings)).perform(interrupts)


def _enough(plan: ComparisonPlan, messages: Messages) -> bool:
    """Whether there is anything to compare; if not, every reason is said."""
    unusable = [lane for lane in plan.lanes if isinstance(lane.source, Unusable)]
    if len(plan.lanes) - len(unusable) >= FEWEST_LANES:
        return True
    for lane in unusable:
        assert isinstance(lane.source, Unusable)
        failed = lane.source.failed
        messages.say(failure_text(failed.what, failed.reason, failed.remedy))
    messages.say("So there is nothing to compare.")
    return False


class _Headless:
    """Moves a comparison on to its end and writes what came of it."""

    def __init__(
        self,
        plan: ComparisonPlan,
        settings: dict[str, Any],
        form: Form,
        data: Data,
        messages: Messages,
        recording: "Recording | None",
    ) -> None:
        self._settings = settings
        self._form = form
        self._data = data
        self._messages = messages
        self._recording = recording
        self._comparison = Comparison(plan) if recording is None else KeptComparison(plan, recording)
        self._progress = ComparisonProgress(messages, self._comparison)

    def perform(self, interrupts: Interrupts) -> ExitCode:
        """Compare; every failure is said on stderr."""
        # An engine that is busy or stopped may take seconds to end, also within ``close``.
        notice = threading.Timer(_SILENCE_SECONDS, self._progress.say, ["Stopping. Ctrl+C once more ends it at once."])
        notice.daemon = True

        def compare_all() -> None:
            try:
                self._pump(interrupts, notice)
            finally:
                self._comparison.close()
                notice.cancel()
                self._progress.clear()
                if self._recording is not None:
                    self._recording.close()
                    self._tell_of_recording()
            self._write()

        printed = delivered(self._data, self._messages, compare_all)
        if printed is not ExitCode.DONE:
            return printed
        return self._exit_code(interrupts)

    def _pump(self, interrupts: Interrupts, notice: threading.Timer) -> None:
        comparison, progress = self._comparison, self._progress
        waiting = Waiting(interrupts, self._data)
        deadline: float | None = None
        events = comparison.start()
        while True:
            for number, event in events:
                progress.update(number, event)
            self._tell_of_recording()
            if comparison.stage in (Stage.DONE, Stage.CANCELLED):
                return
            interrupted = waiting.wait(comparison.filenos(), deadline)
            if deadline is not None and time.monotonic() >= deadline:
                return
            if interrupted and deadline is None:
                notice.start()
                deadline = time.monotonic() + _CANCEL_DEADLINE_SECONDS
                comparison.cancel()
            events = comparison.receive()

    def _tell_of_recording(self) -> None:
        if self._recording is not None and (news := self._recording.news()) is not None:
            self._progress.say(news)

    def _write(self) -> None:
        results = self._comparison.results
        self._data.write(written(self._form, self._comparison, results, self._settings))
        self._data.flush()
        if not any(lane.rounds for lane in self._comparison.lanes):
            if self._comparison.stage is Stage.CANCELLED:
                self._messages.say("Cancelled before anything was generated.")
        elif below := said(results, self._form):
            self._messages.say(below)

    def _exit_code(self, interrupts: Interrupts) -> ExitCode:
        if self._comparison.stage is Stage.CANCELLED:
            return interrupts.exit_code
        failed = [lane.failed for lane in self._comparison.lanes if lane.failed is not None]
        if any(one.stage == "load" for one in failed):
            return ExitCode.NOT_LOADED
        broken = self._recording is not None and self._recording.broken
        return ExitCode.FAILED if failed or broken else ExitCode.DONE
