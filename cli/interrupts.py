"""Ctrl+C and its relatives, turned into something that a loop can wait for."""

import os
import select
import signal
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from types import FrameType, TracebackType
from typing import Any, Self, TypeVar

from .exit_codes import ExitCode

_EXIT_CODES = {
    signal.SIGINT: ExitCode.CANCELLED,
    signal.SIGTERM: ExitCode.TERMINATED,
    signal.SIGHUP: ExitCode.HUNG_UP,
}
_SAME_PRESS_SECONDS = 0.2
_Result = TypeVar("_Result")


class Interrupted(Exception):
    """A signal came while something was waited for."""


class Interrupts:
    """While entered, the first SIGINT, SIGTERM or SIGHUP is remembered and makes ``fileno`` readable.

    The second one ends the process at once. Signals that were ignored before (``nohup``, a background job) stay so.
    """

    def __init__(self) -> None:
        self.received: signal.Signals | None = None
        self._received_at = 0.0
        self._previous: dict[signal.Signals, Any] = {}
        self._read, self._write = os.pipe()
        os.set_blocking(self._write, False)

    def __enter__(self) -> Self:
        self._previous_wakeup = signal.set_wakeup_fd(self._write, warn_on_full_buffer=False)
        for number in _EXIT_CODES:
            if signal.getsignal(number) is not signal.SIG_IGN:
                self._previous[number] = signal.signal(number, self._handle)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number, handler in self._previous.items():
            signal.signal(number, handler)
        signal.set_wakeup_fd(self._previous_wakeup)
        os.close(self._read)
        os.close(self._write)

    def fileno(self) -> int:
        """A descriptor that becomes readable with a signal."""
        return self._read

    def drain(self) -> None:
        """Make ``fileno`` unreadable again."""
        os.read(self._read, 4096)

    def during(self, work: Callable[[], _Result]) -> _Result:
        """Return what ``work`` returns, or raise what it raises; raises Interrupted as soon as a signal comes.

        The work is done in a thread, since a slow disk may keep it waiting where no signal is heard; when one comes, it
        is left to itself.
        """
        future: Future[_Result] = Future()
        done, at_end = os.pipe()

        def perform() -> None:
            try:
                future.set_result(work())
            except BaseException as error:  # noqa: BLE001 (raised again where the result is asked for)
                future.set_exception(error)
            finally:
                os.close(at_end)

        threading.Thread(target=perform, name="interruptible", daemon=True).start()
        try:
            while not future.done() and self.received is None:
                ready, _, _ = select.select([self._read, done], [], [])
                if self._read in ready:
                    self.drain()
        finally:
            os.close(done)
        if self.received is not None:
            raise Interrupted
        return future.result()

    @property
    def exit_code(self) -> ExitCode:
        """The exit status that tells of the signal."""
        return ExitCode.DONE if self.received is None else _EXIT_CODES[self.received]

    def _handle(self, number: int, frame: FrameType | None) -> None:
        now = time.monotonic()
        if self.received is None:
            self.received, self._received_at = signal.Signals(number), now
        # A wrapper may send one Ctrl+C both to the process and to its group.
        elif now - self._received_at > _SAME_PRESS_SECONDS:
            signal.signal(number, signal.SIG_DFL)
            os.kill(os.getpid(), number)
