"""The engines of a comparison that are open, each under the number of its lane."""

import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor

from ..backends.contract import Backend
from ..backends.events import Event, Failed
from ..backends.launch import Source
from ..backends.requests import EngineSettings
from ..models.errors import ModelError

Launch = Callable[[Source, EngineSettings], Backend]


class Seats:
    """Opens, reads and closes engines."""

    def __init__(self, launch: Launch) -> None:
        self._launch = launch
        self._open: dict[int, Backend] = {}

    def __contains__(self, number: int) -> bool:
        return number in self._open

    def __getitem__(self, number: int) -> Backend:
        return self._open[number]

    @property
    def numbers(self) -> frozenset[int]:
        """Lanes whose engine is open."""
        return frozenset(self._open)

    @property
    def filenos(self) -> frozenset[int]:
        """Descriptors that become readable when an engine has something to say."""
        return frozenset(engine.fileno() for engine in self._open.values() if not engine.closed)

    def open(self, number: int, source: Source, settings: EngineSettings) -> Failed | None:
        """Launch an engine, or return why that cannot be done."""
        try:
            self._open[number] = self._launch(source, settings)
        except ModelError as error:
            return failed(error.what, error.reason, error.remedy)
        except OSError as error:
            return failed("The engine's process cannot be started.", str(error))
        return None

    def receive(self) -> list[tuple[int, Event]]:
        """Return what has arrived from all engines, those of one engine in order; never waits."""
        return [(number, event) for number, engine in self._open.items() for event in engine.receive()]

    def close(self, numbers: Iterable[int]) -> None:
        """Close the engines of these lanes, where they are open; all at once, since each may take its time."""
        engines = [self._open.pop(number) for number in numbers if number in self._open]
        if len(engines) == 1:
            engines[0].close()
        elif engines:
            with ThreadPoolExecutor(len(engines), thread_name_prefix="engine-closer") as pool:
                list(pool.map(lambda engine: engine.close(), engines))


def failed(what: str, reason: str = "", remedy: str = "") -> Failed:
    """Return what is said of a lane that cannot be loaded."""
    return Failed(t=time.perf_counter_ns(), stage="load", what=what, reason=reason, remedy=remedy)
