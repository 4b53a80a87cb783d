"""One take ready to be shown at any moment: its timeline, its figures and its text."""

from array import array
from bisect import bisect_right
from collections.abc import Sequence

import numpy as np

from ...backends.events import Event, Failed, Finished, Token
from ...backends.text import Piece
from ...backends.token_facts import Kind
from ...metrics.run import Run
from ...metrics.series import Int64Array
from ...traces.generations import Take
from ..conversation.fragment import Fragment, marked
from ..conversation.marks import marks_of
from ..transcript import AnswerText
from .earlier import Earlier
from .timeline import Timeline

_PLACEHOLDER = "▯ ".encode()
"""Stands for a token whose text was left out; two cells."""


def placeholder(token: Token) -> bytes:
    """Return what stands for a token without text; nothing for one that is no part of the text."""
    return b"" if token.control else _PLACEHOLDER


class Film:
    """Made once; making it takes about a second for 100,000 tokens."""

    def __init__(self, take: Take, *, text: bool = True, earlier: Earlier = Earlier()) -> None:  # noqa: B008 (frozen)
        """``text``: whether the recording holds any."""
        self.take = take
        self.earlier = earlier
        self.events: Sequence[Event] = take.events
        self.timeline = Timeline(self.events)
        self.run: Run | None = None if take.generation is None else take.generation.run()
        """The whole of it."""
        self._disturbed_ns = None if self.run is None else _disturbed_ns(self.run)
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
                if not text and placeholder(event):
                    pieces = [Piece(event.index, placeholder(event).decode(), self._kind(event))]
            elif isinstance(event, Finished | Failed):
                pieces = answer.finish(event if isinstance(event, Finished) else None)
            else:
                continue
            self.fragments += marked(pieces, marks)
            self._places.extend([place] * len(pieces))

    def _kind(self, token: Token) -> Kind:
        """Return what a token without text was; of several things, the one that counts for the figures."""
        if self.run is None:
            return "reasoning" if token.thinking else "answer"
        return "reasoning" if self.run.reasoning[token.index - 1] else "answer"

    def longest_disturbed(self, tokens: range) -> int:
        """Return the longest time of a disturbed token among some (from 0), ns; 0 where there is none."""
        if self.run is None or self._disturbed_ns is None:
            return 0
        times = self._disturbed_ns[tokens.start : tokens.stop]
        return int(times.max()) if len(times) else 0

    def disturbed(self, tokens: range) -> int:
        """Return how many tokens among some (from 0) are disturbed."""
        return 0 if self.run is None else int(self.run.outliers[tokens.start : tokens.stop].sum())

    def readable(self, place: int) -> int:
        """Return how many fragments can be read when so many events have come."""
        return bisect_right(self._places, place - 1)

    def answer(self, place: int) -> str:
        """Return the answer so far, without reasoning; the reasoning where there is nothing else."""
        shown = self.fragments[: self.readable(place)]
        return "".join(one.text for one in shown if one.kind == "answer") or "".join(
            one.text for one in shown if one.kind == "reasoning"
        )


def _disturbed_ns(run: Run) -> Int64Array:
    """Return the time of each disturbed token, 0 for the others; shape (n,)."""
    times = np.zeros(run.token_count, dtype=np.int64)
    times[1:] = run.itl_ns
    return np.where(run.outliers, times, 0)
