"""Reads an engine's events once per frame; costs nothing while nothing comes."""

import asyncio
from collections.abc import Callable

from ..backends.contract import Backend


class Feed:
    """Calls ``on_readable`` when the backend has something to say, at most once per frame.

    The first event after a pause is told at once: readiness wakes the loop, and only the next look waits for a frame.
    ``on_readable`` has to drain the backend and then call ``rearm``.
    """

    def __init__(self, backend: Backend, on_readable: Callable[[], None], frame: Callable[[], float]) -> None:
        """``frame`` returns the seconds from one look to the next."""
        self._backend = backend
        self._on_readable = on_readable
        self._frame = frame
        self._loop = asyncio.get_running_loop()
        self._timer: asyncio.TimerHandle | None = None
        self._fd = backend.fileno()
        self._stopped = False
        self._loop.add_reader(self._fd, self._readable)

    def _readable(self) -> None:
        self._loop.remove_reader(self._fd)
        self._on_readable()

    def rearm(self) -> None:
        """Look again after a frame, unless stopped or the backend has said everything."""
        if self._stopped or self._backend.closed:
            return
        self._timer = self._loop.call_later(self._frame(), self._watch)

    def _watch(self) -> None:
        if not self._stopped:
            self._loop.add_reader(self._fd, self._readable)

    def stop(self) -> None:
        """Stop looking; before the backend is closed. Harmless when repeated."""
        if self._stopped:
            return
        self._stopped = True
        self._loop.remove_reader(self._fd)
        if self._timer is not None:
            self._timer.cancel()
