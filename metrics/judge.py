"""Judges tokens as they come: what is usual at this point of the run, and what disturbed them."""

import numpy as np

from .baseline import Baseline
from .disturbance import Cause, Spent, Usual, cause_of
from .series import Column, Int8Array, Int64Array, Series


class Judge:
    """Follows the gaps of one run at constant cost per token.

    Nothing is said until there are enough gaps to tell what is usual; the gaps until then are judged together with the
    one that completes them.
    """

    def __init__(self) -> None:
        self._gap, self._sample, self._rest, self._switches = Baseline(), Baseline(), Baseline(), Baseline()
        self._unjudged: list[Spent] = []
        self._usual = Series()
        self._causes = Column(np.int8)

    def add(self, token: Spent) -> Cause:
        """Take in the next gap; return the cause of its disturbance, ``NONE`` while it cannot be judged."""
        facts = token.facts
        gap = self._gap.add(token.gap, facts.wait_ns if facts.longest_wait_ns is None else facts.longest_wait_ns)
        sample = self._sample.add(token.sample)
        rest = self._rest.add(token.rest)
        switches = self._switches.add(facts.involuntary_switches or 0)
        self._unjudged.append(token)
        if gap is None or sample is None or rest is None or switches is None:
            return Cause.NONE
        usual, cause = Usual(gap, sample, rest, switches), Cause.NONE
        for earlier in self._unjudged:
            cause = cause_of(earlier, usual)
            self._usual.append(gap)
            self._causes.append(cause)
        self._unjudged.clear()
        return cause

    @property
    def usual_ns(self) -> Int64Array:
        """What an undisturbed token would have taken, for each gap judged so far; shape (m,), m ≤ number of gaps."""
        return self._usual.values

    @property
    def causes(self) -> Int8Array:
        """The ``Cause`` of each gap judged so far; shape (m,)."""
        return self._causes.values
