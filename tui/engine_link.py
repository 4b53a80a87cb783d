"""The engine that the scope talks to, and the reader of its events."""

from collections.abc import Callable

from ..backends.contract import Backend, LocalEngine
from ..backends.events import Event, ModelReady
from ..backends.requests import Request
from .feed import Feed

Launch = Callable[[], Backend]


class EngineLink:
    """One engine at a time; starting another one ends the last."""

    def __init__(self, launch: Launch, when_ready: Callable[[], None] | None = None) -> None:
        """``when_ready`` is called whenever a model has become ready."""
        self._launch = launch
        self._when_ready = when_ready
        self._backend: Backend | None = None
        self._feed: Feed | None = None

    def start(self, on_readable: Callable[[], None], frame: Callable[[], float]) -> None:
        """Start an engine; ``on_readable`` is called in the running loop when ``receive`` has something, at most once
        in as many seconds as ``frame`` returns. Raises OSError when there can be no process."""
        self.close()
        self._backend = self._launch()
        self._feed = Feed(self._backend, on_readable, frame)

    def receive(self) -> list[Event]:
        """Return what has arrived."""
        events = [] if self._backend is None else self._backend.receive(0.0)
        if self._when_ready is not None and any(isinstance(event, ModelReady) for event in events):
            self._when_ready()
        return events

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
