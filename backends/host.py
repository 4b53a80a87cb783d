"""The parent's end of an engine."""

from .events import Event, Failed, ModelReady
from .process import ENGINE_REMEDIES, ChildProcess
from .requests import MeasureRequest, Request, ScoreRequest
from .text import well_formed
from .wire import Cancel, Generate, Measure, OpenLlama, OpenScript, Probabilities, Score, Tokenize


class EngineHost:
    """A ``Backend`` that runs in a process of its own.

    Raises OSError when the process cannot be started. The caller's thread becomes the process's parent; priority is
    inherited from it.
    """

    def __init__(self, opening: OpenLlama | OpenScript) -> None:
        self._child = ChildProcess(opening, "The engine", ENGINE_REMEDIES)
        self._ready = False
        self._failed = False

    @property
    def pid(self) -> int:
        """Process id of the engine."""
        return self._child.pid

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
        self._ready = self._ready or any(isinstance(event, ModelReady) for event in events)
        self._failed = self._failed or any(isinstance(event, Failed) and event.stage != "generate" for event in events)
        if self.closed and not self._failed:
            events.append(self._child.death("engine" if self._ready else "load"))
        return events

    def generate(self, request: Request) -> None:
        """See ``Backend``."""
        self._child.send(Generate(request.mapped(well_formed)))

    def tokenize(self, text: str) -> None:
        """See ``Backend``."""
        self._child.send(Tokenize(well_formed(text)))

    def score(self, request: ScoreRequest) -> None:
        """See ``Backend``."""
        self._child.send(Score(request))

    def measure(self, request: MeasureRequest) -> None:
        """See ``Backend``."""
        self._child.send(Measure(request))

    def cancel(self) -> None:
        """See ``Backend``."""
        self._child.send(Cancel())

    def probabilities(self, on: bool) -> None:
        """See ``Backend``."""
        self._child.send(Probabilities(on))

    def close(self) -> None:
        """See ``Backend``."""
        self._child.close()

    def log_tail(self) -> str:
        """Return the last lines that the engine's process wrote to its stdout and stderr, at most 4 KiB."""
        return self._child.log_tail()
