"""What a command without a screen waits for."""

import select
import time
from collections.abc import Iterable

from .interrupts import Interrupts
from .streams import Data


class Waiting:
    """Waits for engines, and all the while for a signal and for the reader of stdout to go away."""

    def __init__(self, interrupts: Interrupts, data: Data) -> None:
        self._interrupts = interrupts
        self._data = data

    def wait(self, engines: Iterable[int], deadline: float | None = None) -> bool:
        """Return when one of the descriptors is readable, when a signal comes (True), or at ``deadline`` (monotonic).

        Raises BrokenPipeError when nobody reads stdout any more.
        """
        poll = select.poll()
        for descriptor in (*engines, self._interrupts.fileno()):
            poll.register(descriptor, select.POLLIN)
        if self._data.descriptor is not None:
            poll.register(self._data.descriptor, 0)  # tells only that the reader has gone
        remaining = None if deadline is None else max(0.0, deadline - time.monotonic())
        ready = dict(poll.poll(None if remaining is None else remaining * 1000))
        if self._data.descriptor in ready:
            raise BrokenPipeError
        if self._interrupts.fileno() not in ready:
            return False
        self._interrupts.drain()
        return self._interrupts.received is not None
