"""One take ready to be shown at any moment: its timeline, its figures and its text."""

from array import array
from bisect import bisect_right
from collections.abc import Sequence

from ...backends.events import Event, Failed, Finished, Token
from ...metrics.run import Run
from ...traces.generations import Take
from ..conversation.fragment import Fragment
from ..conversation.marks import marks_of
from ..transcript import AnswerText, Piece
from .timeline import Timeline

PLACEHOLDER = "▯ "
"""Stands for a token whose text was left out; two cells."""


class Film:
    """Made once; making it takes about a second for 100,000 tokens."""

    def __init__(self, take: Take, *, text: bool = True) -> None:
        """``text``: whether the recording holds any."""
        self.take = take
        self.events: Sequence[Event] = take.events
        self.timeline = Timeline(self.events)
        self.run: Run | None = None if take.generation is None else take.generation.run()
        """The whole of it."""
        self._places = array("q")
        self.fragments: list[Fragment] = []
        """The whole text, tinted as it is in the end."""
        self._write(text=text)

    def _write(self, *, text: bool) -> None:
        marks = [] if self.run is None else marks_of(self.run).tolist()
        answer = AnswerText()
        first = len(self.take.opening)
        for place, event in enumerate(self.events[first:], first):
            if isinstance(event, Token):
                pieces = answer.feed(event)
                if not text and not event.control:
                    pieces = [Piece(event.index, PLACEHOLDER, event.thinking)]
            elif isinstance(event, Finished | Failed):
                pieces = answer.finish(event if isinstance(event, Finished) else None)
            else:
                continue
            for piece in pieces:
                mark = marks[piece.index - 1] if 0 < piece.index <= len(marks) else 0
                self.fragments.append(Fragment(piece.index, piece.text, mark, piece.thinking))
                self._places.append(place)

    def readable(self, place: int) -> int:
        """Return how many fragments can be read when so many events have come."""
        return bisect_right(self._places, place - 1)

    def answer(self, place: int) -> str:
        """Return the answer so far, without reasoning; the reasoning where there is nothing else."""
        shown = self.fragments[: self.readable(place)]
        return "".join(one.text for one in shown if not one.thinking) or "".join(one.text for one in shown)
