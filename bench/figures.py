"""What the repetitions of a test came to; ns, tokens per second, ``None`` where there is no value."""

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..backends.events import Measured, MeasuredWith, ModelReady
from ..backends.token_facts import Scheduling
from ..metrics.disturbance import QUOTABLE_SHARE, Disturbance, Spent, disturbance
from ..metrics.judge import Judge
from ..metrics.latency import Percentiles, percentiles
from ..metrics.series import Int64Array
from .plan import Group, Trial


@dataclass(frozen=True, slots=True)
class Repetition:
    """One time that a test was run."""

    ns: int
    """From the first computation to the last."""
    tokens: int
    """Tokens read and generated; the depth is not among them."""
    ttft_ns: int | None
    """Until the prompt was computed and, with sampling, a token drawn; ``None`` without a prompt."""
    gaps: Int64Array
    """Inter-token latencies, shape (n,) with n the tokens generated; the first is from the token given."""
    disturbance: Disturbance | None
    """Of the tokens generated; ``None`` where there are too few to tell what is usual."""
    lost_share: float | None
    """Share of ``ns`` that was lost: to disturbed tokens, and in the prompt to waiting for a core and to suspension.

    ``None`` where nothing is known of either.
    """
    suspended_ns: int = 0
    """Time during which the engine was stopped, or the machine asleep."""

    @property
    def rate(self) -> float:
        """Tokens per second."""
        return self.tokens * 1e9 / self.ns

    @property
    def quiet(self) -> bool | None:
        """Whether the machine was quiet enough for it to be quoted; ``None`` where nobody knows."""
        return None if self.lost_share is None else self.lost_share <= QUOTABLE_SHARE


def repetition(trial: Trial, measured: Measured) -> Repetition:
    """Return the figures of one measurement of ``trial``."""
    gaps = np.asarray(measured.gaps, dtype=np.int64)
    found = _disturbance(measured, gaps)
    in_prompt = measured.prompt_scheduling or Scheduling()
    facts = [in_prompt, *(one for one in measured.scheduling if one is not None)]
    ns = max(1, measured.t - measured.started)
    parts = None if found is None else found.lost_ns, in_prompt.longest_wait_ns, in_prompt.suspended_ns
    lost = [part for part in parts if part is not None]
    return Repetition(
        ns=ns,
        tokens=trial.prompt + trial.generate,
        ttft_ns=measured.prompt_ns,
        gaps=gaps,
        disturbance=found,
        lost_share=min(1.0, sum(lost) / ns) if lost else None,
        suspended_ns=sum(one.suspended_ns or 0 for one in facts),
    )


def _disturbance(measured: Measured, gaps: Int64Array) -> Disturbance | None:
    judge = Judge()
    for gap, decode, sample, facts in zip(
        measured.gaps, measured.decode_ns, measured.sample_ns, measured.scheduling, strict=True
    ):
        judge.add(Spent.measured(gap, decode, sample, facts))
    usual = judge.usual_ns
    suspended = sum(one.suspended_ns or 0 for one in measured.scheduling[: len(usual)] if one is not None)
    return disturbance(gaps[: len(usual)], usual, judge.causes, suspended)


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A test of one model with one set of settings, and all its repetitions, at least one."""

    group: Group
    trial: Trial
    model: ModelReady
    ran_with: MeasuredWith
    began: float
    """Seconds since the epoch."""
    repetitions: tuple[Repetition, ...]
    warnings: tuple[str, ...] = ()
    """Its engine's warnings, each once."""

    @property
    def mean_ns(self) -> float:
        """Mean time of a repetition."""
        return statistics.fmean(one.ns for one in self.repetitions)

    @property
    def deviation_ns(self) -> float | None:
        """Sample standard deviation of the times; ``None`` below two repetitions."""
        return _deviation([one.ns for one in self.repetitions])

    @property
    def mean_rate(self) -> float:
        """Mean of the repetitions' rates, tokens per second."""
        return statistics.fmean(one.rate for one in self.repetitions)

    @property
    def rate_deviation(self) -> float | None:
        """Sample standard deviation of the rates; ``None`` below two repetitions."""
        return _deviation([one.rate for one in self.repetitions])

    @property
    def ttft_ns(self) -> float | None:
        """Median TTFT."""
        known = [one.ttft_ns for one in self.repetitions if one.ttft_ns is not None]
        return statistics.median(known) if known else None

    @property
    def itl(self) -> Percentiles | None:
        """Distribution of the ITLs of all repetitions together."""
        return percentiles(np.concatenate([one.gaps for one in self.repetitions]))

    @property
    def judged(self) -> int | None:
        """Tokens of which it is known whether they were disturbed; ``None`` where of none."""
        return _sum([one.disturbance.tokens for one in self.repetitions if one.disturbance is not None])

    @property
    def disturbed(self) -> int | None:
        """How many of them were."""
        return _sum([one.disturbance.disturbed for one in self.repetitions if one.disturbance is not None])

    @property
    def lost_share(self) -> float | None:
        """Share of the time of those repetitions of which it is known that was lost."""
        known = [(one.lost_share, one.ns) for one in self.repetitions if one.lost_share is not None]
        return math.fsum(share * ns for share, ns in known) / sum(ns for _, ns in known) if known else None

    @property
    def quiet(self) -> bool | None:
        """Whether the machine was quiet enough in all repetitions; ``None`` where nobody knows of any."""
        known = [one.quiet for one in self.repetitions if one.quiet is not None]
        return all(known) if known else None


def _sum(numbers: Sequence[int]) -> int | None:
    return sum(numbers) if numbers else None


def _deviation(values: Sequence[float]) -> float | None:
    return statistics.stdev(values) if len(values) > 1 else None


def verdict(rows: Sequence[Row]) -> str:
    """Return in a sentence whether the machine was quiet enough; empty where nobody knows."""
    known = [row for row in rows if row.quiet is not None]
    busy = [row for row in known if not row.quiet]
    share = f"{QUOTABLE_SHARE:.0%}".replace("%", " %")
    if not known:
        return ""
    if not busy:
        return f"The machine was quiet: no repetition lost more than {share} of its time to disturbances."
    names = ", ".join(dict.fromkeys(row.trial.name for row in busy))
    return (
        f"Not to be quoted, since the machine was busy: {names} lost more than {share} of their time in a repetition."
    )
