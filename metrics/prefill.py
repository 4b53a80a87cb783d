"""How reading a prompt will go on, foreseen from how it went so far.

A prompt token costs more the deeper it stands, since it attends to all tokens before it: cost(d) = a + b · d, so that
the tokens from depth s to e take a · (e − s) + b · (e² − s²) / 2. Both are fitted by weighted least squares to the mean
cost per micro-batch. Only ends of micro-batches say what depth costs: within one, all its tokens are computed together,
layer by layer, and progress is even. The first micro-batch of a run counts little (caches and clocks are cold), and one
that was disturbed counts less the further it lies off; two in a row, and what was before counts less.

Early on there is more noise than growth to be seen. What is expected of b / a beforehand (a ``PrefillPrior``) therefore
weighs as one more observation: from the model's shape in an engine's first run, from the run before it later.
"""

import math

import msgspec
import numpy as np
import numpy.typing as npt

from ..backends.events import ModelReady, PrefillProgress, PromptReady
from .series import Int64Array, Series

_NOISE = 0.05
"""How far the mean cost of a micro-batch usually lies off, as a share."""
_FIRST_WEIGHT = 0.25
_DISTURBED = 3 * _NOISE
_FORMER_WEIGHT = 0.25
_LEAST_FRACTION = 0.1
"""A micro-batch of which less was done says nothing yet."""
_SETTLED_TOKENS = 64
"""Fewer tokens take little less than a whole pass over the weights, so their cost says nothing of more tokens."""
_ATTENTION_SLOWNESS = 1.2
"""Time of a multiplication in attention over one with the weights: 0.4 to 5, depending on the machine's kernels."""
_SHAPE_SPREAD = 1.5
"""So wide that the first micro-batches of a prompt decide which one fits."""
_RUN_SPREAD = 0.2
_LEAST_RATIO_SPREAD = 2e-5
_UNKNOWN_RATIO_SPREAD = 2e-4
_BASE_SPREAD = 0.2


class PrefillFit(msgspec.Struct, frozen=True):
    """Cost of a prompt token against its depth: ``base_ns + growth_ns × depth``."""

    base_ns: float
    """At depth 0."""
    growth_ns: float
    """More per token of context before it; not negative."""

    def ns(self, start: float, end: float) -> float:
        """Time for the prompt tokens from depth ``start`` to ``end``: a (e − s) + b (e² − s²) / 2."""
        return (end - start) * self.cost_ns((start + end) / 2)

    def cost_ns(self, depth: float) -> float:
        """Time of one token at that depth."""
        return self.base_ns + self.growth_ns * depth

    def rate(self, depth: float) -> float:
        """Tokens per second at that depth."""
        return 1e9 / self.cost_ns(depth)


class PrefillPrior(msgspec.Struct, frozen=True):
    """What is expected before anything was measured."""

    ratio: float
    """b / a, per token of depth."""
    ratio_spread: float
    """Its standard deviation."""
    base_ns: float | None = None
    """a; ``None`` when nothing is known of it."""


NO_PRIOR = PrefillPrior(0.0, _UNKNOWN_RATIO_SPREAD)


def prior_of_model(model: ModelReady) -> PrefillPrior:
    """Return what the shape of a model lets expect; little where the engine does not tell it."""
    if model.attention_growth is None:
        return NO_PRIOR
    return _prior(model.attention_growth * _ATTENTION_SLOWNESS, _SHAPE_SPREAD)


def _prior(ratio: float, spread: float, base_ns: float | None = None) -> PrefillPrior:
    """``spread``: of the ratio, as a share of it."""
    return PrefillPrior(ratio, max(ratio * spread, _LEAST_RATIO_SPREAD), base_ns)


class PrefillForecast:
    """Follows one prefill; each event costs the same, however long the prompt is.

    ``micro_batch``: tokens computed together, as ``ModelReady`` says.
    """

    def __init__(self, micro_batch: int = 512, prior: PrefillPrior = NO_PRIOR) -> None:
        self._micro_batch = max(1, micro_batch)
        self._prior = prior
        self._sums = np.zeros(5)
        self._was_off = 0.0
        self._ends = Series()
        self._spans = Series()
        self._cached = self._total = self._started = 0
        self._last: tuple[int, int] | None = None
        """(depth, ns) of the newest event."""
        self._batch: tuple[int, int] | None = None
        """(depth, ns) where the micro-batch in progress began."""

    def apply(self, event: PromptReady | PrefillProgress) -> None:
        """Take in the next event of the run."""
        if isinstance(event, PromptReady):
            self._cached, self._total, self._started = event.cached, len(event.tokens), event.t
            self._last = self._batch = (event.cached, event.t)
        elif self._last is not None and self._batch is not None and event.processed > self._last[0]:
            self._total = event.total
            self._advance(min(event.processed, event.total), event.t)

    def _advance(self, depth: int, t: int) -> None:
        assert self._last is not None
        assert self._batch is not None
        end = min(self._batch[0] + self._micro_batch, self._total)
        while end <= depth:
            last_depth, last_t = self._last
            # Progress is even within a micro-batch, so its end lies on the line between the events around it.
            end_t = t - round((t - last_t) * (depth - end) / (depth - last_depth)) if depth > last_depth else t
            self._complete(end, end_t)
            self._last = self._batch = (end, end_t)
            if end >= self._total:
                return
            end = min(end + self._micro_batch, self._total)
        self._last = (depth, t)

    def _complete(self, end: int, end_t: int) -> None:
        assert self._batch is not None
        start, start_t = self._batch
        tokens = end - start
        middle, cost = (start + end) / 2, (end_t - start_t) / tokens
        off = self._off(middle, cost)
        if self._was_off * off > 0:
            self._sums *= _FORMER_WEIGHT
        weight = 1.0 if self._was_off * off > 0 else _damping(off)
        self._sums += _moments(middle, cost, weight * self._usual_weight(tokens))
        self._was_off = off
        self._ends.append(end)
        self._spans.append(end_t - start_t)

    def _usual_weight(self, tokens: float) -> float:
        return tokens / self._micro_batch * (_FIRST_WEIGHT if len(self._ends) == 0 else 1.0)

    def _off(self, middle: float, cost: float) -> float:
        """Return how far a micro-batch lies off what is known before it, as a share; 0 within the usual noise."""
        known = len(self._ends) > 0 or self._prior.base_ns is not None
        expected = _solve(self._sums, self._prior) if known else None
        if expected is None:
            return 0.0
        off = cost / expected.cost_ns(middle) - 1
        return off if abs(off) > _DISTURBED else 0.0

    @property
    def fit(self) -> PrefillFit | None:
        """Cost against depth as far as it is known; ``None`` before anything is."""
        sums = self._sums
        partial = self._in_progress()
        if partial is not None:
            sums = sums + _moments(*partial)
        return _solve(sums, self._prior)

    def _in_progress(self) -> tuple[float, float, float] | None:
        """Middle, cost per token and weight of the micro-batch in progress; ``None`` when too little of it is done."""
        if self._last is None or self._batch is None:
            return None
        start, start_t = self._batch
        tokens = min(self._micro_batch, self._total - start)
        done = self._last[0] - start
        if tokens <= 0 or done < _LEAST_FRACTION * tokens:
            return None
        middle, cost = start + tokens / 2, (self._last[1] - start_t) / done
        return middle, cost, _damping(self._off(middle, cost)) * self._usual_weight(done)

    @property
    def settled(self) -> bool:
        """Whether ``fit`` rests on enough tokens, of this run or of one before it, to tell of other lengths."""
        return self._read_enough or self._prior.base_ns is not None

    @property
    def _read_enough(self) -> bool:
        return self._last is not None and self._last[0] - self._cached >= min(_SETTLED_TOKENS, self._micro_batch)

    @property
    def total_ns(self) -> int | None:
        """Time for the whole prefill: so far + ``remaining_ns``; ``None`` where that is."""
        remaining = self.remaining_ns
        if remaining is None or self._last is None:
            return None
        return self._last[1] - self._started + remaining

    @property
    def remaining_ns(self) -> int | None:
        """Time left from the newest event on; 0 when all is read, ``None`` while nothing can be said."""
        if self._last is None or self._batch is None:
            return None
        if self._last[0] >= self._total:
            return 0
        fit = self.fit
        if fit is None:
            return None
        start = self._batch[0]
        end = min(start + self._micro_batch, self._total)
        left_of_batch = (end - self._last[0]) / (end - start)
        return round(left_of_batch * fit.ns(start, end) + fit.ns(end, self._total))

    @property
    def rate_against_depth(self) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """Measured (depths, rates) of the micro-batches that are done, shape (n,) each: middles, tokens per second."""
        ends = self._ends.values
        tokens = np.diff(ends, prepend=self._cached)
        return ends - tokens / 2, tokens * 1e9 / np.maximum(self._spans.values, 1)

    @property
    def micro_batch_ns(self) -> Int64Array:
        """Time of each micro-batch that is done, shape (n,)."""
        return self._spans.values

    @property
    def prior(self) -> PrefillPrior:
        """What this run lets expect of the next one on the same engine."""
        fit = self.fit
        if fit is None or len(self._ends) == 0 or not self._read_enough:
            return self._prior
        # A run of one micro-batch tells how quick the engine is, and nothing new of the growth.
        if len(self._ends) < 3:
            return msgspec.structs.replace(self._prior, base_ns=fit.base_ns)
        ratio = fit.growth_ns / fit.base_ns
        return _prior(ratio, _RUN_SPREAD, fit.base_ns)


def forecast_for(model: ModelReady, before: PrefillForecast | None = None) -> PrefillForecast:
    """Return a forecast for the next run on ``model``; ``before``: that of the run before it on the same engine."""
    return PrefillForecast(model.micro_batch, prior_of_model(model) if before is None else before.prior)


def _damping(off: float) -> float:
    """Huber's weight of what lies ``off``: its pull no longer grows beyond the usual noise."""
    return _DISTURBED / abs(off) if off else 1.0


def _moments(x: float, y: float, weight: float) -> npt.NDArray[np.float64]:
    return weight * np.array([1.0, x, x * x, y, x * y])


def _solve(sums: npt.NDArray[np.float64], prior: PrefillPrior) -> PrefillFit | None:
    """Minimise Σ w (y − a − b x)² / noise² + (b − ratio · a)² / spread² + (a − base)² / spread²."""
    weight, sum_x, sum_xx, sum_y, sum_xy = (float(value) for value in sums)
    # The scale that turns shares into ns: the cost of a token, of which any estimate will do.
    if prior.base_ns is not None:
        level = prior.base_ns
    elif weight > 0:
        level = sum_y / weight / (1 + prior.ratio * sum_x / weight)
    else:
        return None
    if level <= 0:
        return None
    trust = 1 / (_NOISE * level) ** 2
    of_ratio = 1 / (prior.ratio_spread * level) ** 2
    of_base = 0.0 if prior.base_ns is None else 1 / (_BASE_SPREAD * level) ** 2
    ratio = prior.ratio
    aa = trust * weight + of_ratio * ratio * ratio + of_base
    ab = trust * sum_x - of_ratio * ratio
    bb = trust * sum_xx + of_ratio
    ya = trust * sum_y + of_base * (prior.base_ns or 0.0)
    yb = trust * sum_xy
    determinant = aa * bb - ab * ab
    if determinant <= 0:
        return None
    base, growth = (ya * bb - yb * ab) / determinant, (yb * aa - ya * ab) / determinant
    if growth < 0 or base <= 0 or not math.isfinite(base + growth):
        # Noise that looks like tokens growing cheaper, or free at first: only the level can be told.
        base = (trust * sum_y + of_base * level) / (trust * (weight + prior.ratio * sum_x) + of_base)
        growth = prior.ratio * base
    return PrefillFit(base, growth)
