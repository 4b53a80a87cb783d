"""Where a replay stands, and how the reader moves it."""

import time
from collections.abc import Callable

from ...backends.replay import ReplayClock
from .timeline import Timeline

SPEEDS = (0.1, 0.25, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0)
SLOWEST, FASTEST = SPEEDS[0], SPEEDS[-1]
_SHARE = 20
"""A step forward or back is one part of so many."""


class Player:
    """Owns a clock and no widget."""

    def __init__(
        self,
        timeline: Timeline,
        *,
        speed: float = 1.0,
        loop: bool = False,
        paused: bool = False,
        first: bool = True,
        last: bool = True,
        clock: Callable[[], int] = time.perf_counter_ns,
    ) -> None:
        """``first``, ``last``: whether nothing of the recording comes before this timeline, or after it. ``clock`` is
        the real one, ns."""
        self.timeline = timeline
        self.loop = loop
        """Whether the recording begins anew at its end."""
        self.first, self.last = first, last
        self._clock = ReplayClock(speed=speed, clock=clock)
        if paused:
            self._clock.pause()

    @property
    def position(self) -> int:
        """Where it stands, ns; with ``loop`` a timeline that is the whole recording begins anew behind its end."""
        length = self.timeline.length
        position = self._clock.position
        if position > length and self.loop and self.first and self.last and length:
            position %= length
            self._clock.seek(position)
        return min(position, length)

    @property
    def ended(self) -> bool:
        """Whether everything on this timeline has come."""
        return self.position >= self.timeline.length

    @property
    def over(self) -> bool:
        """Whether everything has come and nothing follows."""
        return self.over_at(self.position)

    def over_at(self, position: int) -> bool:
        """Return whether everything has been shown at a position and nothing follows."""
        return self.last and not self.loop and position >= self.timeline.length

    @property
    def goes_on(self) -> bool:
        """Whether another timeline of the recording is to be played now."""
        return self.playing and self.ended and not (self.first and self.last)

    @property
    def paused(self) -> bool:
        """Whether the reader has stopped it."""
        return self._clock.paused

    @property
    def playing(self) -> bool:
        """Whether time passes."""
        return not self.paused and not self.over

    @property
    def speed(self) -> float:
        """How many times faster than it was."""
        return self._clock.speed

    def toggle(self) -> None:
        """Pause, or go on; from the start when it is over."""
        if self.over:
            self._clock.seek(0)
            self._clock.resume()
        elif self._clock.paused:
            self._clock.resume()
        else:
            self._clock.pause()

    def seek(self, position: int) -> None:
        """Go to a position within the whole; whether it is paused stays."""
        self._clock.seek(min(max(position, 0), self.timeline.length))

    def finish(self) -> None:
        """Go to the end and stay there, whatever follows."""
        self.seek(self.timeline.length)
        if not self.over:
            self._clock.pause()

    def seek_share(self, steps: int) -> None:
        """Go forward or back by twentieths of the whole."""
        self.seek(self.position + steps * self.timeline.length // _SHARE)

    def step(self, tokens: int) -> None:
        """Pause, and go to the next token (1) or the one before (-1)."""
        position = self.position
        self._clock.pause()
        self.seek(self.timeline.of_token(self.timeline.tokens(position) + tokens))

    def change_speed(self, step: int) -> None:
        """Go on at the next speed (1) or the one before (-1)."""
        if step > 0:
            faster = [speed for speed in SPEEDS if speed > self.speed]
            self._clock.speed = faster[0] if faster else FASTEST
        else:
            slower = [speed for speed in SPEEDS if speed < self.speed]
            self._clock.speed = slower[-1] if slower else SLOWEST
