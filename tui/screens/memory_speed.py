"""Finds out how fast the machine's memory is, which sets the floor of the time per token."""

import asyncio
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Literal

from textual.screen import Screen

from ...traces.tape import SessionTape
from ..session import Session

if TYPE_CHECKING:
    from ...backends.bandwidth import Bandwidth

Say = Callable[[str, Literal["information", "warning", "error"]], None]


class MemorySpeed:
    """Known from an earlier measurement, or measured once: when a model is loaded and its engine has nothing to do."""

    def __init__(
        self, screen: Screen[None], session: Session, tape: SessionTape, known: Callable[[], None], say: Say
    ) -> None:
        """``known`` is called when a measurement has ended, whatever came of it; ``tape`` keeps what is known."""
        self._screen = screen
        self._session = session
        self._tape = tape
        self._known = known
        self._say = say

    def find_out(self) -> None:
        """Tell the session; it takes no prompts while the memory is being measured."""
        from ...backends.bandwidth import cached_bandwidth
        from ...metrics.floor import NoFloor

        model = self._session.model
        if model is None or self._session.floor is not NoFloor.NOT_MEASURED:
            return
        kept = cached_bandwidth(model.threads)
        if kept is not None:
            self._known_now(kept)
        else:
            self._session.measure()
            self._screen.run_worker(self._measure(model.threads))

    async def _measure(self, threads: int) -> None:
        from ...backends.bandwidth import BandwidthError, measure_bandwidth

        try:
            found = await asyncio.to_thread(measure_bandwidth, threads)
        except BandwidthError as error:
            self._say(str(error), "warning")
            self._session.measured(None, threads)
        else:
            self._known_now(found)
        self._known()

    def _known_now(self, found: "Bandwidth") -> None:
        from ...traces.memory import MemoryMeasured

        rate = found.bytes_per_second
        self._tape.take([MemoryMeasured(t=time.perf_counter_ns(), threads=found.threads, bytes_per_second=rate)])
        self._session.measured(rate, found.threads)
