"""One answer as text and progress, each with the time at which it was there."""

from array import array
from bisect import bisect_right
from collections.abc import Sequence

from ...backends.events import Event, Failed, Finished, PrefillProgress, PromptReady, Token
from ...backends.text import Piece, TextStream
from ..transcript import readable


class Transcript:
    """Follows the events of one round; all times are ns since the engine took the request."""

    def __init__(self, events: Sequence[Event], taken: int) -> None:
        """``events`` may grow; ``taken``: when the request was taken, on the engine's clock."""
        self._events = events
        self._taken = taken
        self._read = 0
        self._stream = TextStream()
        self._times = array("q")
        self._progress_times = array("q")
        self._progress: list[tuple[int, int]] = []
        self.pieces: list[Piece] = []
        """Everything readable so far."""

    def read_on(self) -> None:
        """Take in the events that came since the last call."""
        for event in self._events[self._read :]:
            self._take(event)
        self._read = len(self._events)

    def _take(self, event: Event) -> None:
        if isinstance(event, Token):
            self._add(event.t, self._stream.feed(event))
        elif isinstance(event, PromptReady):
            self._note(event.t, event.cached, len(event.tokens))
        elif isinstance(event, PrefillProgress):
            self._note(event.t, event.processed, event.total)
        elif isinstance(event, Finished):
            self._add(event.t, self._stream.finish(event))
        elif isinstance(event, Failed):
            self._add(event.t, self._stream.flush())

    def _add(self, t: int, pieces: list[Piece]) -> None:
        shown = readable(pieces)
        self.pieces += shown
        self._times.extend([t - self._taken] * len(shown))

    def _note(self, t: int, processed: int, total: int) -> None:
        self._progress_times.append(t - self._taken)
        self._progress.append((processed, total))

    def readable(self, at: int | None) -> int:
        """Return how many pieces were readable at a time; ``None``: by now."""
        return len(self.pieces) if at is None else bisect_right(self._times, at)

    def prompt_read(self, at: int | None) -> tuple[int, int] | None:
        """Return (processed, total) tokens of the prompt at a time; ``None`` before it was tokenized."""
        count = len(self._progress) if at is None else bisect_right(self._progress_times, at)
        return self._progress[count - 1] if count else None
