"""Plays recorded events again: a backend without an engine."""

import os
import select
import threading
import time
from collections.abc import Callable, Sequence

from .events import Event, Failed
from .requests import MeasureRequest, Request, ScoreRequest

END = 1 << 62
"""A position that lies behind every recording."""

_REMEDY = "Ask a model that is loaded."


class ReplayClock:
    """Where a replay stands: ns since the beginning of the recording.

    One clock may drive several recordings, so that they run together. ``changed`` is notified whenever somebody who
    waits for a position has to look again.
    """

    def __init__(
        self, position: int = 0, *, speed: float = 1.0, clock: Callable[[], int] = time.perf_counter_ns
    ) -> None:
        """``clock`` is the real one, ns. Raises ValueError unless ``speed`` is positive."""
        self.changed = threading.Condition()
        self._clock = clock
        self._since = clock()
        self._base = position
        self._paused = False
        self._speed = _positive(speed)

    @property
    def position(self) -> int:
        """The time of the recording that is reached now."""
        with self.changed:
            passed = 0 if self._paused else int((self._clock() - self._since) * self._speed)
            return min(self._base + passed, END)

    @property
    def speed(self) -> float:
        """How many times faster than it was recorded."""
        return self._speed

    @speed.setter
    def speed(self, speed: float) -> None:
        """Go on from here at another speed. Raises ValueError unless it is positive."""
        with self.changed:
            self._set(self.position)
            self._speed = _positive(speed)

    @property
    def paused(self) -> bool:
        """Whether time stands still."""
        return self._paused

    def pause(self) -> None:
        """Let time stand still."""
        with self.changed:
            self._set(self.position)
            self._paused = True

    def resume(self) -> None:
        """Let time go on from where it stands."""
        with self.changed:
            self._set(self.position)
            self._paused = False

    def seek(self, position: int) -> None:
        """Go to a position, onward or back; ``END`` for the end. Whether it is paused stays."""
        with self.changed:
            self._set(position)

    def until(self, position: int) -> float | None:
        """Return how many real seconds pass until a position is reached; ``None`` while paused before it."""
        with self.changed:
            ahead = position - self.position
            if ahead <= 0:
                return 0.0
            return None if self._paused else ahead / self._speed / 1e9

    def _set(self, position: int) -> None:
        self._base, self._since = position, self._clock()
        self.changed.notify_all()


class ReplayBackend:
    """A ``Backend`` that hands recorded events over when their time has come on a ``ReplayClock``.

    The recording's beginning is its first event, or ``origin`` (ns, on the recorded clock). When the clock was set back
    before something that has been handed over, everything comes again from the first event on: the reader begins anew.
    ``closed`` is true once the last event was handed over; setting the clock back and ``extend`` undo that, and a
    reader that had left off has to look again.
    """

    def __init__(self, events: Sequence[Event], clock: ReplayClock, *, origin: int | None = None) -> None:
        self.clock = clock
        self._events = list(events)
        self._origin = origin
        self._next = 0
        self._refusals: list[Event] = []
        self._shut = False
        self._signalled = False
        self._read_end, self._write_end = os.pipe()
        os.set_blocking(self._read_end, False)
        self._waiter = threading.Thread(target=self._wait_for_events, name="replay", daemon=True)
        self._waiter.start()

    @property
    def now(self) -> int:
        """Return what the recorded clock shows, ns; it stops at the last event."""
        with self.clock.changed:
            if not self._events:
                return 0
            return min(self._start + self.clock.position, self._events[-1].t)

    def extend(self, events: Sequence[Event]) -> None:
        """Add what has been recorded since."""
        with self.clock.changed:
            self._events += events
            self.clock.changed.notify_all()

    def fileno(self) -> int:
        """See ``Backend``."""
        return self._read_end

    def receive(self, timeout: float | None = 0.0) -> list[Event]:
        """See ``Backend``."""
        if self._shut:
            return []
        if timeout != 0.0:
            select.select([self._read_end], [], [], timeout)
        with self.clock.changed:
            if self._signalled:
                os.read(self._read_end, 1)
                self._signalled = False
            if self._set_back:
                self._next = 0
            first = self._next
            while self._next < len(self._events) and self._due_in(self._next) == 0.0:
                self._next += 1
            refusals, self._refusals = self._refusals, []
            self.clock.changed.notify_all()
            return [*self._events[first : self._next], *refusals]

    @property
    def closed(self) -> bool:
        """See ``Backend``, and above."""
        with self.clock.changed:
            over = self._next >= len(self._events) and not self._set_back and not self._refusals
            return self._shut or over

    def generate(self, request: Request) -> None:
        """Refuse in words."""
        self._refuse("This is a recording: it answers no prompt.")

    def tokenize(self, text: str) -> None:
        """Refuse in words."""
        self._refuse("This is a recording: it cuts no text into tokens.")

    def score(self, request: ScoreRequest) -> None:
        """Refuse in words."""
        self._refuse("This is a recording: it scores no text.")

    def measure(self, request: MeasureRequest) -> None:
        """Refuse in words."""
        self._refuse("This is a recording: it measures nothing.")

    def cancel(self) -> None:
        """Nothing runs."""

    def probabilities(self, on: bool) -> None:
        """Nothing is computed."""

    def close(self) -> None:
        """See ``Backend``."""
        with self.clock.changed:
            if self._shut:
                return
            self._shut = True
            self.clock.changed.notify_all()
        self._waiter.join()
        os.close(self._read_end)
        os.close(self._write_end)

    def _refuse(self, what: str) -> None:
        with self.clock.changed:
            failed = Failed(t=self.now, stage="generate", what=what, remedy=_REMEDY)
            self._refusals.append(failed)
            self.clock.changed.notify_all()

    @property
    def _start(self) -> int:
        return self._events[0].t if self._origin is None else self._origin

    @property
    def _set_back(self) -> bool:
        """Whether something that has been handed over lies in the future."""
        return self._next > 0 and self._due_in(self._next - 1) != 0.0

    def _due_in(self, place: int) -> float | None:
        return self.clock.until(self._events[place].t - self._start)

    def _wait_for_events(self) -> None:
        """Make the descriptor readable whenever there is something to receive."""
        with self.clock.changed:
            while not self._shut:
                wait = self._seconds_to_next()
                if wait == 0.0:
                    os.write(self._write_end, b".")
                    self._signalled = True
                    wait = None
                self.clock.changed.wait(wait)

    def _seconds_to_next(self) -> float | None:
        if self._signalled:
            return None
        if self._refusals or self._set_back:
            return 0.0
        return self._due_in(self._next) if self._next < len(self._events) else None


def _positive(speed: float) -> float:
    if speed <= 0:
        raise ValueError(f"a replay cannot run at {speed:g} times its speed")
    return speed
