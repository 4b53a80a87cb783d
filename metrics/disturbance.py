"""Which tokens took longer than they should have, and what is known about why."""

from enum import IntEnum

import msgspec
import numpy as np

from ..backends.events import Token
from ..backends.token_facts import Scheduling
from . import numbers
from .series import Int8Array, Int64Array

KNOWN_FACTOR = 1.5
"""A token is disturbed from this many times its usual time on when a fact explains it."""

UNKNOWN_FACTOR = 2.0
"""A token is disturbed from this many times its usual time on, whether or not anything explains it."""

QUOTABLE_SHARE = 0.05
"""A run that lost more than this share of its time is not to be quoted: its rates are that much too low."""

_NO_FACTS = Scheduling()
_FEWEST_SWITCHES = 5
_MANY_MINOR_FAULTS = 1000  # about a microsecond each, so a thousand are a millisecond


class Cause(IntEnum):
    """What made a token slow, as far as facts tell. No guess is among them."""

    NONE = 0
    """It was not disturbed, or cannot be judged."""
    PREEMPTED = 1
    """The engine's threads were ready and had no core."""
    PAGE_IN = 2
    """Memory had to be fetched from the disk (major faults)."""
    FIRST_TOUCH = 3
    """Many pages were mapped for the first time (minor faults)."""
    SAMPLING = 4
    """The sampler took the time."""
    PROBABILITIES = 5
    """Computing the probability facts took the time."""
    REST = 6
    """The time went outside decode and sampling, in the engine's own loop."""
    UNKNOWN = 7
    """No fact explains it."""
    SUSPENDED = 8
    """The engine's process was stopped, or the machine was asleep."""


class Spent(msgspec.Struct, frozen=True, kw_only=True):
    """One token's time since the token before, in ns, and what happened in it."""

    gap: int
    decode: int
    sample: int
    probability: int | None
    """``None`` when no probability facts were computed."""
    facts: Scheduling

    @classmethod
    def of(cls, token: Token, gap: int) -> "Spent":
        """Return what is known about the ``gap`` (ns) that ended with ``token``."""
        return cls(
            gap=gap,
            decode=token.decode_ns,
            sample=token.sample_ns,
            probability=None if token.probability is None else token.probability.cost_ns,
            facts=token.scheduling or _NO_FACTS,
        )

    @classmethod
    def measured(cls, gap: int, decode: int, sample: int, facts: Scheduling | None) -> "Spent":
        """Return the same of a token of a measurement, which has no probabilities."""
        return cls(gap=gap, decode=decode, sample=sample, probability=None, facts=facts or _NO_FACTS)

    @property
    def rest(self) -> int:
        """Time outside decode, sampling and probability facts."""
        return max(self.gap - self.decode - self.sample - (self.probability or 0), 0)


class Usual(msgspec.Struct, frozen=True):
    """What an undisturbed token takes at this point of the run; ns and a count."""

    gap: int
    sample: int
    rest: int
    involuntary_switches: int


class Disturbance(msgspec.Struct, frozen=True, kw_only=True):
    """How much of a run's decode was disturbed."""

    tokens: int
    """Tokens that can be judged: all but the first, whose time is the prefill's."""
    disturbed: int
    lost_ns: int
    """Sum over the disturbed tokens of (gap − usual time)."""
    suspended_ns: int
    """Time within these tokens during which the engine was stopped or the machine was asleep."""
    share: float
    """``lost_ns`` / the time from the first to the last token."""
    quotable: bool
    """Whether the run may be quoted: at most ``QUOTABLE_SHARE`` of its time was lost."""
    causes: dict[Cause, int]
    """Disturbed tokens by cause, most frequent first; causes that did not occur are left out."""

    @property
    def sentence(self) -> str:
        """The same in words: ``14 of 400 tokens disturbed, 11 % of the time lost``."""
        if not self.disturbed:
            return "no token disturbed"
        share = self.share * 100
        lost = "less than 1" if share < 1 else f"{share:.0f}"
        told = f"{self.disturbed:,} of {self.tokens:,} tokens disturbed, {lost} % of the time lost"
        return f"{told}, suspended for {numbers.seconds(self.suspended_ns)}" if self.suspended_ns else told


def cause_of(token: Spent, usual: Usual) -> Cause:
    """Return why ``token`` took longer than usual: the first of these that accounts for half of the excess.

    Being stopped (SUSPENDED), waiting for a core (PREEMPTED; where only switches are known, at least five and twice as
    many as usual), computing probabilities, sampling, the engine's own loop (REST). Then what happened without telling
    how long it took: major faults (PAGE_IN), a thousand minor faults (FIRST_TOUCH). NONE when the token is within its
    usual time.
    """
    excess = token.gap - usual.gap
    if usual.gap <= 0 or token.gap < KNOWN_FACTOR * usual.gap:
        return Cause.NONE
    known = _known_cause(token, usual, excess)
    if known is None:
        return Cause.UNKNOWN if token.gap >= UNKNOWN_FACTOR * usual.gap else Cause.NONE
    return known


def _known_cause(token: Spent, usual: Usual, excess: int) -> Cause | None:
    if (token.facts.suspended_ns or 0) * 2 >= excess:
        return Cause.SUSPENDED
    if _preempted(token, usual, excess):
        return Cause.PREEMPTED
    if (token.probability or 0) * 2 >= excess:
        return Cause.PROBABILITIES
    if (token.sample - usual.sample) * 2 >= excess:
        return Cause.SAMPLING
    if (token.rest - usual.rest) * 2 >= excess:
        return Cause.REST
    if token.facts.major_faults:
        return Cause.PAGE_IN
    if (token.facts.minor_faults or 0) >= _MANY_MINOR_FAULTS:
        return Cause.FIRST_TOUCH
    return None


def _preempted(token: Spent, usual: Usual, excess: int) -> bool:
    wait, longest = token.facts.wait_ns, token.facts.longest_wait_ns
    if wait is not None:
        # The sum over threads overstates what was lost where many waited at once, so one must have waited long as well.
        return wait * 2 >= excess and (wait if longest is None else longest) * 10 >= excess
    switches = token.facts.involuntary_switches or 0
    return switches >= max(_FEWEST_SWITCHES, 2 * usual.involuntary_switches)


def disturbance(gaps: Int64Array, usual: Int64Array, causes: Int8Array, suspended_ns: int = 0) -> Disturbance | None:
    """Sum up a run from its ``gaps``, the ``usual`` gap at each (ns) and the ``Cause`` of each; all of shape (n,).
    ``suspended_ns``: for how long all of them were suspended.

    ``None`` when no time passed.
    """
    total = int(gaps.sum())
    if total <= 0:
        return None
    marked = causes != Cause.NONE
    lost = int((gaps[marked] - usual[marked]).sum())
    numbers = np.bincount(causes[marked], minlength=len(Cause))
    found = sorted(((Cause(cause), int(number)) for cause, number in enumerate(numbers) if number), key=lambda f: -f[1])
    return Disturbance(
        tokens=len(gaps),
        disturbed=int(marked.sum()),
        lost_ns=lost,
        suspended_ns=suspended_ns,
        share=lost / total,
        quotable=lost / total <= QUOTABLE_SHARE,
        causes=dict(found),
    )
