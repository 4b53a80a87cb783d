"""Watching the watcher: the pace of the screen, the meter of its cost, and what is said about them."""

import os
import time
from typing import Protocol

from ..frame_pace import FRAMES_PER_SECOND, FramePace, tempo
from ..options import ScopeOptions
from ..output import Traffic
from ..self_meter import Cost, SelfMeter
from ..widgets.meter import MeterLine

_SAMPLE_SECONDS = 1.0
_EARLY = 0.9
"""So that the timer behind is never a moment too soon."""

CHOSEN = (
    "This connection takes frames slowly: the screen now draws less often and sends less, with all the figures. "
    f"Low bandwidth in the menu (^p) undoes it; so does starting with --fps {FRAMES_PER_SECOND}."
)
BEHIND = (
    "The terminal takes frames more slowly than they come: the screen draws less often until it keeps up. "
    "The engine goes on at full speed."
)
SWITCHED_ON = "Low bandwidth: the screen draws less often and sends less, with all the figures."
SWITCHED_OFF = "The screen draws as often as usual again."


class Engines(Protocol):
    """What generates, as far as its cost is shown."""

    def engine_cpu_ns(self) -> int | None:
        """Return the processor time so far, ns; None where it is not known."""


class Watching:
    """Low bandwidth is a tempo of its own; over SSH it is chosen where the first frames are late, unless flags say
    otherwise."""

    def __init__(self, options: ScopeOptions, traffic: Traffic, link: Engines) -> None:
        self._options = options
        self.low_bandwidth = options.low_bandwidth
        self.pace = FramePace(tempo(options.fps, low_bandwidth=options.low_bandwidth), traffic)
        self.meter = SelfMeter(traffic, link.engine_cpu_ns)
        self.line = MeterLine()
        self._sample_due = 0.0
        self._cost: Cost | None = None
        self._told_behind = False
        over_ssh = bool(os.environ.get("SSH_CONNECTION"))
        self._may_choose = over_ssh and options.fps is None and not options.low_bandwidth

    def news(self) -> str | None:
        """Return what has to be said now; each thing is said once, as soon as it can be seen."""
        if self.pace.congested:
            return None
        if self._may_choose and self.pace.slow_from_the_start:
            self._use(low_bandwidth=True)
            return CHOSEN
        if self.pace.slowed and not self._told_behind:
            self._told_behind = True
            return BEHIND
        return None

    def switch_low_bandwidth(self) -> str:
        """Change to low bandwidth or back; return what to say."""
        self._use(low_bandwidth=not self.low_bandwidth)
        return SWITCHED_ON if self.low_bandwidth else SWITCHED_OFF

    def _use(self, *, low_bandwidth: bool) -> None:
        self._may_choose = False
        self.low_bandwidth = low_bandwidth
        self.pace.tempo = tempo(self._options.fps, low_bandwidth=low_bandwidth)

    def switch_meter(self) -> bool:
        """Show or hide the meter; return whether it is shown."""
        shown = not self.meter.running
        if shown:
            self.meter.start()
            self._sample_due = 0.0
        else:
            self.meter.stop()
        self.line.display = shown
        return shown

    def draw(self) -> None:
        """Draw the meter, with new figures where it is time for them."""
        now = time.monotonic()
        if not self._sample_due:
            self._sample_due, self._cost = now + _EARLY * _SAMPLE_SECONDS, None
        elif now >= self._sample_due and not self.pace.congested:
            self._sample_due = now + _EARLY * max(_SAMPLE_SECONDS, self.pace.tempo.figures)
            self._cost = self.meter.sample()
        self.line.show(self._cost, self._notes())

    def _notes(self) -> list[str]:
        notes = ["low bandwidth"] if self.low_bandwidth else []
        if self.pace.slowed:
            notes.append(f"terminal behind: at most {1 / self.pace.seconds:.1f} frames/s")
        return notes
