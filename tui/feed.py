"""Reads what engines say once per frame; costs nothing while nothing comes."""

import asyncio
import select
from collections.abc import Callable, Iterable


class Feed:
    """Calls ``on_readable`` when one of the engines has something to say, at most once per frame.

    The first event after a pause is told at once: readiness wakes the loop, and only the next look waits for a frame.
    ``on_readable`` has to take everything that has come and then call ``rearm``.
    """

    def __init__(
        self, filenos: Callable[[], Iterable[int]], on_readable: Callable[[], None], frame: Callable[[], float]
    ) -> None:
        """``filenos`` returns the descriptors to be watched, none once everything has been said; ``frame`` the seconds
        from one look to the next."""
        self._filenos = filenos
        self._on_readable = on_readable
        self._frame = frame
        self._loop = asyncio.get_running_loop()
        self._timer: asyncio.TimerHandle | None = None
        self._watched: list[int] = []
        self._stopped = False
        self._watch()

    def _readable(self) -> None:
        self.pause()
        self._on_readable()

    def rearm(self) -> None:
        """Look again after a frame, unless stopped or everything has been said."""
        if self._stopped or not self._filenos():
            return
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self._loop.call_later(self._frame(), self._look)

    def _look(self) -> None:
        """Tell at once what has come during a frame, which is the rule: a reader would be set up for nothing."""
        if self._stopped:
            return
        if select.select(list(self._filenos()), [], [], 0)[0]:
            self._readable()
        else:
            self._watch()

    def _watch(self) -> None:
        if not self._stopped:
            self.pause()
            self._watched = list(self._filenos())
            for fd in self._watched:
                self._loop.add_reader(fd, self._readable)

    def pause(self) -> None:
        """Look at nothing until ``rearm``: before descriptors are closed."""
        for fd in self._watched:
            self._loop.remove_reader(fd)
        self._watched = []

    def stop(self) -> None:
        """Stop looking; before the engines are closed. Harmless when repeated."""
        self._stopped = True
        self.pause()
        if self._timer is not None:
            self._timer.cancel()
