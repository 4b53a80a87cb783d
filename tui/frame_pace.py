"""How often the screen draws: as often as was asked for, and less often while the terminal cannot keep up."""

import msgspec
from msgspec.structs import replace

from .output import Traffic

FRAMES_PER_SECOND = 9
"""Where nothing else was asked for."""
_FRAMES_ON_THEIR_WAY = 3
_LATE_SHARE = 0.25
"""A frame is late when the terminal has kept it waiting for so much of the time between two frames."""
_SLOWER, _FASTER = 1.5, 1.25
_PUNCTUAL_FRAMES = 5
"""After so many the screen dares to draw more often again."""
_SLOWEST_SECONDS = 2.0
_FIRST_FRAMES = 40
_LATE_AT_FIRST = 4


class Tempo(msgspec.Struct, frozen=True):
    """How often each part of the screen is drawn at most, in seconds between two drawings."""

    frame: float = 1 / FRAMES_PER_SECOND
    """The text, and everything that counts with it."""
    figures: float = 0.5
    """Percentiles; and while nothing comes, everything."""
    plot_at_least: float = 0.0
    plot_at_most: float = 2.5
    """A dear plot is drawn less often, but at least this often."""


def tempo(frames_per_second: int | None, *, low_bandwidth: bool) -> Tempo:
    """Return the tempo that was asked for; ``None``: as many frames as are usual."""
    chosen = Tempo(frame=0.4, figures=2.0, plot_at_least=4.0, plot_at_most=4.0) if low_bandwidth else Tempo()
    return chosen if frames_per_second is None else replace(chosen, frame=1 / frames_per_second)


class FramePace:
    """Watches the terminal frame by frame. Frames slow down before any has to be left out, and recover step by step."""

    def __init__(self, tempo: Tempo, traffic: Traffic) -> None:
        self.tempo = tempo
        self._traffic = traffic
        self._slowdown = 1.0
        self._punctual = 0
        self._waited = 0
        self._frames = 0
        self._late = 0

    @property
    def seconds(self) -> float:
        """Time from one frame of text to the next."""
        return max(min(self.tempo.frame * self._slowdown, _SLOWEST_SECONDS), self.tempo.frame)

    @property
    def slowed(self) -> bool:
        """Whether the terminal takes frames more slowly than they were to be drawn."""
        return self._slowdown > 1.0

    @property
    def congested(self) -> bool:
        """Whether the terminal has yet to take several frames: another one would come too late to be worth drawing."""
        return self._traffic.backlog >= _FRAMES_ON_THEIR_WAY

    @property
    def slow_from_the_start(self) -> bool:
        """Whether several of the first frames were late: not one that stuck, but a line that is slow."""
        return self._late >= _LATE_AT_FIRST

    def next_frame(self) -> None:
        """Look at what became of the frames so far; to be called once per frame."""
        waited, self._waited = self._traffic.waited_ns - self._waited, self._traffic.waited_ns
        late = waited > self.seconds * _LATE_SHARE * 1e9
        self._frames += 1
        if late and self._frames <= _FIRST_FRAMES:
            self._late += 1
        if late:
            self._punctual = 0
            self._slowdown = min(self._slowdown * _SLOWER, max(_SLOWEST_SECONDS / self.tempo.frame, 1.0))
        else:
            self._punctual += 1
            if self._punctual >= _PUNCTUAL_FRAMES:
                self._punctual = 0
                self._slowdown = max(self._slowdown / _FASTER, 1.0)
