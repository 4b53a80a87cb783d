"""The engine that the scope talks to, and the reader of its events."""

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from ..backends.contract import Backend, LocalEngine
from ..backends.events import Event, Failed, ModelReady
from ..backends.requests import EngineSettings, Request
from ..models.errors import ModelError
from ..traces.tape import SessionTape
from .feed import Feed

if TYPE_CHECKING:
    from ..backends.launch import Source

Launch = Callable[["Source", EngineSettings], Backend]
"""Starts an engine with a model, as ``backends.launch.launch``."""


class BackendLink:
    """One backend at a time, of any kind; attaching another one ends the last."""

    def __init__(self) -> None:
        self._backend: Backend | None = None
        self._feed: Feed | None = None

    def attach(self, backend: Backend, on_readable: Callable[[], None], frame: Callable[[], float]) -> None:
        """Read a backend; ``on_readable`` is called in the running loop when ``receive`` has something, at most once
        in as many seconds as ``frame`` returns."""
        self.close()
        self._backend = backend
        self._feed = Feed(lambda: () if backend.closed else (backend.fileno(),), on_readable, frame)

    def receive(self) -> list[Event]:
        """Return what has arrived."""
        return [] if self._backend is None else self._backend.receive(0.0)

    def rearm(self) -> None:
        """Look for more after a frame."""
        if self._feed is not None:
            self._feed.rearm()

    def generate(self, request: Request) -> None:
        """Ask for a generation."""
        if self._backend is not None:
            self._backend.generate(request)

    def cancel(self) -> None:
        """End the running generation."""
        if self._backend is not None:
            self._backend.cancel()

    def probabilities(self, on: bool) -> None:
        """Ask for probability facts from the next token of the running generation on, or no longer."""
        if self._backend is not None:
            self._backend.probabilities(on)

    def engine_cpu_ns(self) -> int | None:
        """Return the CPU time of the engine's process so far, ns; None where there is none on this machine."""
        if not isinstance(self._backend, LocalEngine):
            return None
        import psutil  # only for those who ask

        try:
            spent = psutil.Process(self._backend.pid).cpu_times()
        except psutil.Error:
            return None  # it has ended
        return int((spent.user + spent.system) * 1e9)

    def stop_reading(self) -> None:
        """Leave the event loop; before it closes."""
        if self._feed is not None:
            self._feed.stop()
            self._feed = None

    def close(self) -> None:
        """End the engine. Harmless when repeated."""
        self.stop_reading()
        if self._backend is not None:
            self._backend.close()
            self._backend = None


class EngineLink(BackendLink):
    """One engine at a time; starting another one ends the last."""

    def __init__(
        self, launch: Launch, when_ready: Callable[[], None] | None = None, tape: SessionTape | None = None
    ) -> None:
        """``when_ready`` is called whenever a model has become ready; ``tape`` keeps what is received."""
        super().__init__()
        self.tape = SessionTape() if tape is None else tape
        self._launch = launch
        self._when_ready = when_ready

    def start(
        self,
        model: "Source",
        settings: EngineSettings,
        on_readable: Callable[[], None],
        frame: Callable[[], float],
    ) -> Failed | None:
        """Start an engine and read it, as ``attach`` does.

        Returns why there can be none: no process, or a model that cannot have a cache of the types asked for.
        """
        self.close()
        try:
            backend = self._launch(model, settings)
        except OSError as error:
            return _not_loaded("The engine's process cannot be started.", str(error))
        except ModelError as error:
            return _not_loaded(error.what, error.reason, error.remedy)
        self.attach(backend, on_readable, frame)
        return None

    def receive(self) -> list[Event]:
        """Return what has arrived."""
        events = super().receive()
        self.tape.take(events)
        if self._when_ready is not None and any(isinstance(event, ModelReady) for event in events):
            self._when_ready()
        return events


def _not_loaded(what: str, reason: str, remedy: str = "") -> Failed:
    return Failed(t=time.perf_counter_ns(), stage="load", what=what, reason=reason, remedy=remedy)
