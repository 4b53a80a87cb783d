"""A bench from the first engine to the exit status."""

import threading
import time
from collections.abc import Callable, Sequence

from ..bench.against import AgainstError, Comparison, Result, compare, lines, result_of, results_in
from ..bench.fields import record
from ..bench.figures import verdict
from ..bench.formats import Form, Printer
from ..bench.plan import BenchPlan
from ..bench.runner import Bench, Stage
from ..metrics import numbers
from ..traces.header import LlamaBuild, llama_build
from .bench_plan import Grid
from .bench_progress import BenchProgress
from .bench_remedy import remedy_of
from .exit_codes import ExitCode
from .failure import failure_text
from .inputs import read_file
from .interrupts import Interrupted, Interrupts
from .streams import Data, Messages, data_width, delivered
from .waiting import Waiting

_MOST_RESULTS_BYTES = 1 << 28
_CANCEL_DEADLINE_SECONDS = 5.0
_SILENCE_SECONDS = 0.5

_Compare = Callable[[Sequence[Result], Sequence[Result]], Comparison]
"""Takes new results and old ones."""


def bench(
    grid: Grid,
    messages: Messages,
    *,
    form: Form,
    repetitions: int,
    pause_ms: int,
    warm_up: bool,
    against: str | None,
    tolerance: float,
    noisy: bool,
) -> int:
    """Measure, print the rows, and return the exit status; ``tolerance`` is a share; ``noisy``: repetitions on a busy
    machine are compared, too. Raises click.UsageError."""
    grid.check()
    old: tuple[Result, ...] | None = None
    if against is not None:
        written = read_file(against, messages, what="", awaited="the old results", limit=_MOST_RESULTS_BYTES)
        try:
            old = results_in(written, against)
        except AgainstError as error:
            messages.say(str(error))
            return ExitCode.USAGE
    data = Data()
    with Interrupts() as interrupts:
        try:
            plan = interrupts.during(lambda: grid.plan(repetitions=repetitions, warm_up=warm_up, pause_ms=pause_ms))
        except Interrupted:
            messages.say("Cancelled before anything was measured.")
            return interrupts.exit_code
        benching = _Benching(plan, form, data, messages)
        return benching.perform(interrupts, old, lambda new, old: compare(new, old, tolerance, noisy=noisy))


class _Benching:
    """Moves a bench on to its end and writes what comes of it."""

    def __init__(self, plan: BenchPlan, form: Form, data: Data, messages: Messages) -> None:
        self._bench = Bench(plan)
        self._build: LlamaBuild = llama_build()
        self._printer = Printer(form, plan, self._build, data_width())
        self._form = form
        self._data = data
        self._messages = messages
        self._progress = BenchProgress(messages, self._bench)
        self._written = 0
        self._told = 0
        self._told_suspended = 0

    def perform(self, interrupts: Interrupts, old: tuple[Result, ...] | None, compared_with: _Compare) -> ExitCode:
        """Measure, and compare with the ``old`` results; every failure is said on stderr."""
        # An engine that is in a long computation may take seconds to end, also within ``close``.
        notice = threading.Timer(_SILENCE_SECONDS, self._progress.say, ["Stopping. Ctrl+C once more ends it at once."])
        notice.daemon = True
        compared: Comparison | None = None

        def bench_all() -> None:
            nonlocal compared
            try:
                self._pump(interrupts, notice)
            finally:
                self._bench.close()
                notice.cancel()
                self._progress.clear()
            self._write_rows()
            self._data.write(self._printer.end())
            if old is not None:
                compared = self._compare(old, compared_with)
            self._data.flush()

        printed = delivered(self._data, self._messages, bench_all)
        if printed is not ExitCode.DONE:
            return printed
        self._conclude()
        return self._exit_code(interrupts, compared)

    def _pump(self, interrupts: Interrupts, notice: threading.Timer) -> None:
        bench = self._bench
        waiting = Waiting(interrupts, self._data)
        deadline: float | None = None
        bench.start()
        self._look()
        while bench.stage is Stage.RUNNING:
            engine = bench.fileno()
            interrupted = waiting.wait(() if engine is None else (engine,), deadline)
            if deadline is not None and time.monotonic() >= deadline:
                return
            if interrupted and deadline is None:
                notice.start()
                deadline = time.monotonic() + _CANCEL_DEADLINE_SECONDS
                bench.cancel()
            for event in bench.receive():
                self._progress.update(event)
            self._look()

    def _look(self) -> None:
        """Write what is new: rows, failures, where it stands."""
        for failure in self._bench.failures[self._told :]:
            self._told += 1
            names = ", ".join(dict.fromkeys(trial.name for trial in failure.trials))
            failed = failure.failed
            what = f"{failure.group.name}: {failed.what}"
            said = failure_text(what, failed.reason, remedy_of(failed))
            self._progress.say(f"{said}\nNot measured to the end: {names}.")
        for one in self._bench.suspended[self._told_suspended :]:
            self._told_suspended += 1
            self._progress.say(
                f"{one.group.name}: {one.trial.name} was suspended for {numbers.seconds(one.ns)}: that repetition does"
                " not count and is run again."
            )
        self._write_rows()
        if self._bench.stage is Stage.RUNNING:
            self._progress.stand()

    def _write_rows(self) -> None:
        new = self._bench.rows[self._written :]
        if new:
            self._progress.clear()
        for row in new:
            self._written += 1
            self._data.write(self._printer.row(row))
            self._data.flush()

    def _compare(self, old: tuple[Result, ...], compared_with: _Compare) -> Comparison:
        new = [result_of(record(row, self._build)) for row in self._bench.rows]
        compared = compared_with(new, old)
        text = "\n".join(lines(compared))
        if self._form is Form.MD:
            self._data.write(f"\n{text}\n")
        else:
            self._messages.say(text)
        return compared

    def _conclude(self) -> None:
        bench = self._bench
        if not bench.rows:
            cancelled = bench.stage is Stage.CANCELLED
            self._messages.say("Cancelled before anything was measured." if cancelled else "Nothing was measured.")
        elif self._form is not Form.MD and (said := verdict(bench.rows)):  # where it stands below the table
            self._messages.say(said)
        if bench.rows and bench.stage is Stage.CANCELLED:
            self._progress.tell_cancelled()

    def _exit_code(self, interrupts: Interrupts, compared: Comparison | None) -> ExitCode:
        bench = self._bench
        if bench.stage is Stage.CANCELLED:
            return interrupts.exit_code
        if any(failure.of_model for failure in bench.failures):
            return ExitCode.NOT_LOADED
        if bench.failures or (compared is not None and compared.slower):
            return ExitCode.FAILED
        return ExitCode.NOT_COMPARED if compared is not None and not compared.compared else ExitCode.DONE
