"""How far one model's distributions are from a reference's, on the same text.

Names and formulas are those of llama.cpp's ``llama-perplexity --kl-divergence``.
"""

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..backends.events import Scored
from ..backends.token_facts import Probability

FloatArray: TypeAlias = NDArray[np.float64]


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

    def apply(self, scored: Scored) -> None:
        """Take in the next stretch."""
        raise NotImplementedError

    @property
    def count(self) -> int:
        """Positions scored so far."""
        raise NotImplementedError

    @property
    def positions(self) -> NDArray[np.int64]:
        """Position in the text of each scored token, shape (n,), ascending."""
        raise NotImplementedError

    @property
    def kld(self) -> FloatArray:
        """KL divergence from the reference at each scored position, nats, shape (n,); shape (0,) for the reference."""
        raise NotImplementedError

    def probability(self, position: int) -> Probability | None:
        """Return what this lane thought of the token at ``position`` of the text; ``None`` where it is not scored."""
        raise NotImplementedError

    @property
    def mean_kld(self) -> Estimate | None:
        """Mean KLD, nats."""
        raise NotImplementedError

    @property
    def kld_99(self) -> float | None:
        """99.0% KLD: the percentile, linear interpolation."""
        raise NotImplementedError

    @property
    def same_top(self) -> Estimate | None:
        """Same top p, 0 to 1: how often the likeliest token is the reference's."""
        raise NotImplementedError

    @property
    def perplexity(self) -> Estimate | None:
        """Perplexity of the text under this lane."""
        raise NotImplementedError

    @property
    def rate(self) -> float | None:
        """Tokens scored per second of decode and compute time."""
        raise NotImplementedError
