"""The app of a replay."""

import time
from collections.abc import Callable, Sequence

from textual.driver import Driver
from textual.screen import Screen

from ...traces.opened import Opened
from ..options import ScopeOptions
from ..screens.watching import Watching
from ..terminal import playing_clock
from ..terminal_app import EXIT_DONE, TerminalApp, run_on_terminal
from .screen import ReplayScreen


class _NoEngine:
    """Nothing generates."""

    def engine_cpu_ns(self) -> int | None:
        return None


class ReplayApp(TerminalApp):
    """Shows one recording, or several beside each other."""

    def __init__(
        self,
        opened: Sequence[Opened],
        options: ScopeOptions,
        driver_class: type[Driver] | None = None,
        *,
        speed: float = 1.0,
        loop: bool = False,
        paused: bool = False,
        clock: Callable[[], int] = time.perf_counter_ns,
    ) -> None:
        """``options``: of them theme, frames per second and bandwidth; ``clock`` is the real one, ns."""
        super().__init__(options.theme, driver_class)
        self._opened = opened
        self._watching = Watching(options, self.traffic, _NoEngine())
        self._speed, self._looping, self._paused = speed, loop, paused
        self._clock = clock

    def get_default_screen(self) -> Screen[None]:
        """Begin with the scope, or with the lanes."""
        if len(self._opened) > 1 or self._opened[0].trace.comparison is not None:
            from .lanes import ReplayedLanes

            return ReplayedLanes(
                self._opened,
                self._watching,
                speed=self._speed,
                loop=self._looping,
                paused=self._paused,
                clock=self._clock,
            )
        return ReplayScreen(
            self._opened[0],
            self._watching,
            speed=self._speed,
            loop=self._looping,
            paused=self._paused,
            clock=self._clock,
        )


def run_replay(
    opened: Sequence[Opened], options: ScopeOptions, *, speed: float = 1.0, loop: bool = False, paused: bool = False
) -> int:
    """Replay on the terminal and return the exit code when the screen is closed.

    0: closed by the user. 1: the app crashed; the traceback is on stderr. 2: there is no terminal. 128 + n: ended by
    signal n. The terminal is restored in every case.
    """
    return run_on_terminal(
        lambda driver: ReplayApp(opened, options, driver, speed=speed, loop=loop, paused=paused, clock=playing_clock),
        lambda: None,
        lambda app: EXIT_DONE,
        "`decodescope replay --plain` needs none.",
    )
