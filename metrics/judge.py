"""Judges tokens as they come: what is usual at this point of the run, and what disturbed them."""

from collections import deque
from collections.abc import Sequence

import numpy as np

from .baseline import FEWEST, WINDOW, Baseline, baseline_at, baselines, quartile
from .disturbance import KNOWN_FACTOR, Cause, Spent, Usual, cause_of
from .series import Column, Int8Array, Int64Array, Series


class Judge:
    """Follows the gaps of one run at constant cost per token.

    Nothing is said until there are enough gaps to tell what is usual; the gaps until then are judged together with the
    one that completes them.
    """

    def __init__(self) -> None:
        self._gap = Baseline()
        self._recent: deque[Spent] = deque(maxlen=WINDOW)
        self._unjudged: list[Spent] = []
        self._usual = Series()
        self._causes = Column(np.int8)

    def add(self, token: Spent) -> Cause:
        """Take in the next gap; return the cause of its disturbance, ``NONE`` while it cannot be judged."""
        usual = self._follow(token)
        self._unjudged.append(token)
        if usual is None:
            return Cause.NONE
        cause = Cause.NONE
        for earlier in self._unjudged:
            cause = self._cause(earlier, usual)
            self._usual.append(usual)
            self._causes.append(cause)
        self._unjudged.clear()
        return cause

    def _follow(self, token: Spent) -> int | None:
        facts = token.facts
        self._recent.append(token)
        return self._gap.add(token.gap, facts.wait_ns if facts.longest_wait_ns is None else facts.longest_wait_ns)

    def _cause(self, token: Spent, usual: int) -> Cause:
        # What else is usual matters only for those that took long.
        if token.gap < KNOWN_FACTOR * usual:
            return Cause.NONE
        recent = self._recent
        others = (
            quartile([one.sample for one in recent]),
            quartile([one.rest for one in recent]),
            quartile([one.facts.involuntary_switches or 0 for one in recent]),
        )
        return cause_of(token, Usual(usual, *others))

    def extend(self, tokens: Sequence[Spent]) -> None:
        """Take in the gaps of a whole run at once; the same comes out as one by one."""
        if len(tokens) < FEWEST:
            for token in tokens:
                self.add(token)
            return
        gaps = np.array([token.gap for token in tokens], dtype=np.int64)
        waits = [
            token.facts.wait_ns if token.facts.longest_wait_ns is None else token.facts.longest_wait_ns
            for token in tokens
        ]
        usual = baselines(np.maximum(gaps - np.array([wait or 0 for wait in waits], dtype=np.int64), 0))
        usual[: FEWEST - 1] = usual[FEWEST - 1]
        self._usual.extend(usual)
        causes = np.zeros(len(tokens), dtype=np.int8)
        samples = np.array([token.sample for token in tokens], dtype=np.int64)
        rests = np.array([token.rest for token in tokens], dtype=np.int64)
        switches = np.array([token.facts.involuntary_switches or 0 for token in tokens], dtype=np.int64)
        # As in ``_cause``.
        for position in np.flatnonzero(gaps >= KNOWN_FACTOR * usual).tolist():
            at = max(position, FEWEST - 1)
            others = [baseline_at(values, at) or 0 for values in (samples, rests, switches)]
            causes[position] = cause_of(tokens[position], Usual(int(usual[position]), *others))
        self._causes.extend(causes)
        for token in tokens[-WINDOW:]:
            self._follow(token)

    def take(self, other: "Judge", count: int, recent: Sequence[Spent]) -> None:
        """Go on from the first ``count`` gaps of another run; ``recent``: the last ``WINDOW`` of them, or all."""
        for token in recent:
            self._follow(token)
        if count < FEWEST:
            self._unjudged += recent
        else:
            self._usual.extend(other.usual_ns[:count])
            self._causes.extend(other.causes[:count])

    @property
    def usual_ns(self) -> Int64Array:
        """What an undisturbed token would have taken, for each gap judged so far; shape (m,), m ≤ number of gaps."""
        return self._usual.values

    @property
    def causes(self) -> Int8Array:
        """The ``Cause`` of each gap judged so far; shape (m,)."""
        return self._causes.values
