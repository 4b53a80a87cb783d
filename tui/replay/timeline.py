"""When everything in a recording comes, on the clock of its replay."""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from ...backends.events import Event, LoadProgress, ModelReady, PromptReady, RequestTaken, Token

_IDLE_NS = 300_000_000
"""Of the time between a model that is ready and a request, no more is replayed."""


class Part(Enum):
    """What is going on."""

    LOAD = "load"
    READ = "read"
    WRITE = "write"


@dataclass(frozen=True, slots=True)
class Span:
    """A part, from and to a position, ns."""

    part: Part
    start: int
    end: int


class Timeline:
    """Positions are ns from the first event on, never going back.

    Each token has a position of its own, also where recorded times go back. Idle time before the request is left out.
    """

    def __init__(self, events: Sequence[Event]) -> None:
        self._events = events
        self._due: list[int] = []
        self.token_places: list[int] = []
        """Where in the events each token stands."""
        self._token_due: list[int] = []
        self._asked = 0
        """Position of the request."""
        self._follow(events)
        self._length = self._due[-1] if self._due else 0
        self.spans = tuple(span for span in self._parts() if span.end > span.start)

    def _follow(self, events: Sequence[Event]) -> None:
        at, latest = 0, events[0].t if events else 0
        idle = False
        for place, event in enumerate(events):
            gap = max(event.t - latest, 0)
            latest = max(latest, event.t)
            if isinstance(event, RequestTaken):
                gap = min(gap, _IDLE_NS) if idle else gap
                self._asked = at + gap
                # From here on times count from the request, wherever its clock stands.
                latest = event.t
            idle = isinstance(event, ModelReady) or (idle and not isinstance(event, RequestTaken))
            at += gap
            due = max(at, self._due[-1]) if self._due else at
            if isinstance(event, Token):
                due = max(due, self._token_due[-1] + 1) if self._token_due else due
                self._token_due.append(due)
                self.token_places.append(place)
            self._due.append(due)

    def _parts(self) -> list[Span]:
        first = self._token_due[0] if self._token_due else self.length
        loaded = [due for due, event in zip(self._due, self._events, strict=True) if isinstance(event, ModelReady)]
        spans = []
        if any(isinstance(event, LoadProgress) for event in self._events):
            spans.append(Span(Part.LOAD, 0, loaded[-1] if loaded else self._asked or self.length))
        if any(isinstance(event, RequestTaken | PromptReady) for event in self._events):
            spans.append(Span(Part.READ, self._asked, first))
        if self._token_due:
            spans.append(Span(Part.WRITE, first, self.length))
        return spans

    @property
    def length(self) -> int:
        """Position of the end."""
        return self._length

    @property
    def token_count(self) -> int:
        """Tokens in the whole."""
        return len(self._token_due)

    def place(self, position: int) -> int:
        """Return how many events have come at a position."""
        return bisect_right(self._due, position)

    def tokens(self, position: int) -> int:
        """Return how many tokens have come at a position."""
        return bisect_right(self._token_due, position)

    def of_token(self, index: int) -> int:
        """Return the position of a token, from 1; before the first: of nothing written, beyond the last: the end."""
        if index <= 0 or not self._token_due:
            return max(self._token_due[0] - 1, 0) if self._token_due else 0
        return self._token_due[index - 1] if index <= len(self._token_due) else self.length

    def since_asked(self, position: int) -> int:
        """Return the time from the request to a position, ns; negative before it."""
        return position - self._asked

    def at(self, since_asked: int) -> int:
        """Return the position of a time from the request on, within the whole."""
        return min(max(since_asked + self._asked, 0), self.length)

    def recorded(self, position: int) -> int:
        """Return what the recorded clock shows at a position, ns."""
        place = self.place(position)
        if not place:
            return self._events[0].t if self._events else 0
        return self._events[place - 1].t + position - self._due[place - 1]

    def tokens_within(self, start: int, end: int) -> range:
        """Return the positions in the run (from 0) of the tokens that come from ``start`` to before ``end``."""
        return range(bisect_left(self._token_due, start), bisect_left(self._token_due, end))
