"""The parent's end of an engine."""

import time

from .events import Event, Failed, Log, ModelReady
from .process import ENGINE_REMEDIES, ChildProcess, start_at_first_priority
from .requests import MeasureRequest, Request, ScoreRequest
from .retry import Retry
from .text import well_formed
from .wire import Cancel, Command, Generate, Measure, OpenLlama, OpenScript, Probabilities, Score, Tokenize

_STARTED_AGAIN = (
    " It had not produced a token yet, so it is started again without repacked weights (--no-repack), which is slower."
    " If that works, this build of llama.cpp does not suit this processor: `decodescope doctor` says what to do."
)


class EngineHost:
    """A ``Backend`` that runs in a process of its own.

    An engine that crashes before its first token is started once more without repacked weights: a faulty compiler,
    or a build for another processor, usually breaks the kernels for these. A warning says so, and the requests are
    sent again.

    Raises OSError when the process cannot be started. The caller's thread becomes the process's parent; priority is
    inherited from it.
    """

    def __init__(self, opening: OpenLlama | OpenScript, *, retry: bool = True) -> None:
        """``retry``: whether a second engine may take the place of one that crashes."""
        self._child = _start(opening)
        self._ready = False
        self._failed = False
        self._retry = Retry(opening) if retry else None

    @property
    def pid(self) -> int:
        """Process id of the engine."""
        return self._child.pid

    @property
    def exit_status(self) -> int | None:
        """How the process ended, as ``Popen.returncode`` gives it; ``None``: it has not ended."""
        return self._child.exit_status() if self.closed else None

    def fileno(self) -> int:
        """See ``Backend``."""
        return self._child.fileno()

    @property
    def closed(self) -> bool:
        """See ``Backend``."""
        return self._child.closed

    def receive(self, timeout: float | None = 0.0) -> list[Event]:
        """See ``Backend``."""
        if self.closed:
            return []
        events = self._child.receive(timeout)
        if self._retry is not None:
            events = self._retry.take(events)
            if self._retry.over:
                self._retry = None
        self._ready = self._ready or any(isinstance(event, ModelReady) for event in events)
        self._failed = self._failed or any(isinstance(event, Failed) and event.stage != "generate" for event in events)
        if self.closed and not self._failed:
            events.append(self._ended())
        return events

    def _ended(self) -> Failed | Log:
        """Return the event for an engine that has died; another one may have taken its place."""
        death = self._child.death("engine" if self._ready else "load")
        if self._retry is None or not self._retry.possible(self._child.exit_status()):
            return death
        opening, commands = self._retry.begin()
        try:
            second = start_at_first_priority(lambda: _start(opening))
        except OSError:
            return death  # the cause; that no second process could be started is only a consequence
        self._child.close()
        self._child = second
        for command in commands:
            second.send(command)
        return Log(t=time.perf_counter_ns(), level="warning", text=death.what + _STARTED_AGAIN)

    def _send(self, command: Command) -> None:
        if self._retry is not None:
            self._retry.sent(command)
        self._child.send(command)

    def generate(self, request: Request) -> None:
        """See ``Backend``."""
        self._send(Generate(request.mapped(well_formed)))

    def tokenize(self, text: str) -> None:
        """See ``Backend``."""
        self._send(Tokenize(well_formed(text)))

    def score(self, request: ScoreRequest) -> None:
        """See ``Backend``."""
        self._send(Score(request))

    def measure(self, request: MeasureRequest) -> None:
        """See ``Backend``."""
        self._send(Measure(request))

    def cancel(self) -> None:
        """See ``Backend``."""
        self._send(Cancel())

    def probabilities(self, on: bool) -> None:
        """See ``Backend``."""
        self._send(Probabilities(on))

    def close(self) -> None:
        """See ``Backend``."""
        self._child.close()

    def log_tail(self) -> str:
        """Return the last lines that the engine's process wrote to its stdout and stderr, at most 4 KiB."""
        return self._child.log_tail()


def _start(opening: OpenLlama | OpenScript) -> ChildProcess:
    return ChildProcess(opening, "The engine", ENGINE_REMEDIES)
