"""The contract inside the child process: what an engine does, and what it is given to do it with."""

import threading
from collections.abc import Callable
from typing import Protocol

from .events import Event, ModelReady
from .requests import MeasureRequest, Request, ScoreRequest

Report = Callable[[Event], None]
"""Sends one event to the parent; never blocks."""


class EngineError(Exception):
    """Something that the engine could not do, in words; becomes a ``Failed`` event."""

    def __init__(self, what: str, reason: str = "", remedy: str = "", most_context: int | None = None) -> None:
        super().__init__(what)
        self.what = what
        self.reason = reason
        self.remedy = remedy
        self.most_context = most_context


class Control:
    """What was said about requests after they were sent; set by the command reader, asked by the engine.

    Requests are numbered as they arrive and a command about them, such as a cancel, names the last number that it
    applies to, so one that comes before its request was begun still takes effect, and a late one never hits the next
    request.
    """

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._cancelled_through = 0
        self._probabilities = (0, False)
        self.prepare_probabilities: Callable[[], None] = lambda: None
        """Called before probability facts are asked for; the engine's own once there is one."""
        self.abandon: Callable[[], None] = lambda: None
        """Called when the parent has gone or wants this process gone, right before it exits."""
        self.serving = 0
        """Number of the request being served."""

    def cancel_through(self, number: int) -> None:
        """Cancel the requests up to ``number``."""
        with self._changed:
            self._cancelled_through = number
            self._changed.notify_all()

    @property
    def cancelled(self) -> bool:
        """Whether the request being served should end; cheap enough to ask for every graph node."""
        return self._cancelled_through >= self.serving

    def probabilities_through(self, number: int, on: bool) -> None:
        """Switch probability facts on or off for the requests up to ``number``."""
        self._probabilities = (number, on)

    def probabilities(self, request: Request) -> bool:
        """Whether the next token of the request being served should say how likely it was."""
        number, on = self._probabilities
        return on if number >= self.serving else request.probabilities

    def wait(self, seconds: float) -> bool:
        """Sleep; return at once, with True, when the request is cancelled."""
        with self._changed:
            return self._changed.wait_for(lambda: self.cancelled, timeout=seconds)


class Engine(Protocol):
    """Loads once, then serves one request after the other."""

    def load(self, report: Report) -> ModelReady:
        """Make ready, reporting ``load_progress``. Raises EngineError."""
        ...

    def generate(self, request: Request, control: Control, report: Report) -> None:
        """Serve one request, from ``request_taken`` to ``finished``. Raises EngineError; the next request is served."""
        ...

    def tokenize(self, text: str, report: Report) -> None:
        """Cut a text into tokens, reported as one ``tokenized``. Raises EngineError; the next request is served."""
        ...

    def score(self, request: ScoreRequest, control: Control, report: Report) -> None:
        """Score a stretch of a text, reported as one ``scored``. Raises EngineError; the next request is served."""
        ...

    def measure(self, request: MeasureRequest, control: Control, report: Report) -> None:
        """Compute and time random tokens, up to one ``measured``. Raises EngineError; the next request is served."""
        ...

    def prepare_probabilities(self) -> None:
        """Make ready for probability facts, so that the token that they begin with need not wait.

        Called on the thread that reads commands, while a request may be served.
        """
        ...
