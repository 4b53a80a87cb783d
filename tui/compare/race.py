"""All lanes replayed together on one clock, each from the moment at which its request was taken."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ...metrics.run import Run
from .moment import Moment, length_ns
from .transcript import Transcript

SPEEDS = (0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0)
_STEP = 0.05
"""Of the whole race, for a step forward or back."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One lane in the race."""

    number: int
    run: Run
    transcript: Transcript
    ranked: bool
    """Whether its place is told: not of a cold, cached, cancelled or failed run."""

    @property
    def length(self) -> int:
        """ns from its request to its last token."""
        return length_ns(self.run)


class Race:
    """Owns a clock and no widget. ``clock`` returns ns; only differences matter."""

    def __init__(self, number: int, entries: Sequence[Entry], clock: Callable[[], int] = time.perf_counter_ns) -> None:
        """``number``: of the round that is replayed."""
        self.number = number
        self.entries = {entry.number: entry for entry in entries}
        self.length = max((entry.length for entry in entries), default=0)
        """ns until the last lane is done."""
        self._clock = clock
        self._position = 0.0
        self._since: int | None = None
        self.name, self.round_name = "race", "round"
        """What it is called, and what the round that is replayed is called."""
        self.speeds: Sequence[float] = SPEEDS
        """What can be chosen."""
        self.speed = 1.0
        """How many times faster than it was; ``change_speed`` while the clock runs."""
        self.looping = False
        """Whether it begins anew when all are done."""
        order = sorted((entry for entry in entries if entry.ranked), key=lambda entry: entry.length)
        self._places = {entry.number: 1 + sum(other.length < entry.length for other in order) for entry in order}

    @property
    def at(self) -> int:
        """ns on the race's clock, at most ``length``."""
        gone = 0.0 if self._since is None else (self._clock() - self._since) * self.speed
        at = int(self._position + gone)
        if at > self.length and self.looping and self.length and self._since is not None:
            at %= self.length
        return min(at, self.length)

    @property
    def over(self) -> bool:
        """Whether all are done."""
        return self.at >= self.length

    @property
    def equal(self) -> bool:
        """Whether all wrote the same number of tokens, so that they had as far to go."""
        return len({entry.run.token_count for entry in self.entries.values()}) <= 1

    @property
    def playing(self) -> bool:
        """Whether the clock runs."""
        return self._since is not None and not self.over

    def play(self) -> None:
        """Let the clock run; from the start once all were done."""
        if self.over:
            self._position = 0.0
        else:
            self._position = float(self.at)
        self._since = self._clock()

    def pause(self) -> None:
        """Stop the clock."""
        self._position, self._since = float(self.at), None

    def again(self) -> None:
        """Begin anew."""
        self._position, self._since = 0.0, self._clock()

    def change_speed(self, step: int) -> None:
        """Go faster (1) or slower (-1), from here on."""
        self._position = float(self.at)
        if self._since is not None:
            self._since = self._clock()
        further = [speed for speed in self.speeds if (speed > self.speed if step > 0 else speed < self.speed)]
        if further:
            self.speed = min(further) if step > 0 else max(further)

    def seek(self, steps: int) -> None:
        """Go forward or back by twentieths of the whole."""
        self.go_to(self.at + int(steps * _STEP * self.length))

    def go_to(self, at: int) -> None:
        """Go to a time on the race's clock; whether it runs stays."""
        self._position = float(min(max(at, 0), self.length))
        if self._since is not None:
            self._since = self._clock()

    def moment(self, number: int, at: int) -> Moment | None:
        """Return a lane as it stands at ``at``; ``None`` for one that has no run in this round."""
        entry = self.entries.get(number)
        return None if entry is None else Moment(entry.run, entry.transcript, at)

    def place(self, number: int, at: int) -> int | None:
        """Return the place in which a lane has finished by ``at``, from 1; ``None`` while it is running or if it is not
        ranked. Equal times share a place."""
        entry = self.entries.get(number)
        return None if entry is None or at < entry.length else self._places.get(number)
