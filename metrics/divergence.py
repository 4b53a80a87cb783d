"""How far one model's distributions are from a reference's, on the same text.

Names and formulas are those of llama.cpp's ``llama-perplexity --kl-divergence``, over every position that was scored.
"""

import math
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..backends.events import Scored
from ..backends.token_facts import Probability
from .likelihood import Likelihood
from .series import Column, Series

FloatArray: TypeAlias = NDArray[np.float64]

_LEAST_COUNT = 11
"""Values from which on llama.cpp gives a mean its uncertainty."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A figure and how sure it is."""

    value: float
    uncertainty: float | None
    """One standard error; ``None`` where there is none."""


class Divergence:
    """Collects the scored stretches of one lane; memory is bounded by the number of positions."""

    def __init__(self, tokens: tuple[int, ...], prompt_tokens: int) -> None:
        """``tokens``: the common text; the first ``prompt_tokens`` of them are the prompt (all, for a given text)."""
        self.tokens = tokens
        self.prompt_tokens = prompt_tokens
        self._positions = Series()
        self._kld = Column(np.float64)
        self._same_top = 0
        self._likelihood = Likelihood()
        self._ns = 0
        self.pieces: dict[int, bytes] = {}
        """Bytes of the tokens of the text by id, as far as it has been scored."""

    def apply(self, scored: Scored) -> None:
        """Take in the next stretch. Raises ValueError when it is not behind those before it."""
        count = len(scored.logprobs)
        if self.count and scored.first <= self._positions.values[-1]:
            raise ValueError(f"position {scored.first} was scored before")
        each_ns = scored.compute_ns // max(1, count)
        for offset in range(count):
            self._positions.append(scored.first + offset)
            self._likelihood.append(
                Probability(
                    logprob=scored.logprobs[offset],
                    rank=scored.ranks[offset],
                    entropy_nats=scored.entropies[offset],
                    top=scored.top[offset],
                    cost_ns=each_ns,
                )
            )
        for kld in scored.kld:
            self._kld.append(kld)
        self._same_top += sum(scored.same_top)
        self.pieces.update(scored.pieces)
        self._ns += scored.decode_ns + scored.compute_ns

    @property
    def count(self) -> int:
        """Positions scored so far."""
        return len(self._positions)

    @property
    def positions(self) -> NDArray[np.int64]:
        """Position in the text of each scored token, shape (n,), ascending."""
        return self._positions.values

    @property
    def kld(self) -> FloatArray:
        """KL divergence from the reference at each scored position, nats, shape (n,); shape (0,) for the reference."""
        return self._kld.values

    def probability(self, position: int) -> Probability | None:
        """Return what this lane thought of the token at ``position`` of the text; ``None`` where it is not scored.

        ``cost_ns`` is the token's share of what computing its stretch took.
        """
        index = int(np.searchsorted(self.positions, position))
        if index == self.count or self.positions[index] != position:
            return None
        return self._likelihood.at(index)

    @property
    def mean_kld(self) -> Estimate | None:
        """Mean KLD, nats."""
        return _mean(self.kld) if len(self._kld) else None

    @property
    def kld_99(self) -> float | None:
        """99.0% KLD: the percentile, linear interpolation."""
        return float(np.percentile(self.kld, 99)) if len(self._kld) else None

    @property
    def same_top(self) -> Estimate | None:
        """Same top p, 0 to 1: how often the likeliest token is the reference's, with the error √(p (1 − p)/(n − 1))."""
        count = len(self._kld)
        if not count:
            return None
        share = self._same_top / count
        return Estimate(share, math.sqrt(share * (1 - share) / (count - 1)) if count > 1 else None)

    @property
    def perplexity(self) -> Estimate | None:
        """Perplexity of the text under this lane: e to the mean negative log-probability, of which it has the error."""
        if not self.count:
            return None
        mean = _mean(-self._likelihood.logprobs.astype(np.float64))
        value = math.exp(mean.value)
        return Estimate(value, None if mean.uncertainty is None else value * mean.uncertainty)

    @property
    def rate(self) -> float | None:
        """Tokens scored per second of decode and compute time."""
        return self.count / self._ns * 1e9 if self._ns else None


def _mean(values: FloatArray) -> Estimate:
    """The mean of ``values``, shape (n,), n > 0, and √((mean of squares − squared mean)/(n − 1))."""
    count = len(values)
    uncertainty = math.sqrt(float(np.var(values)) / (count - 1)) if count >= _LEAST_COUNT else None
    return Estimate(float(np.mean(values)), uncertainty)
