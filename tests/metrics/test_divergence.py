"""Divergence from a reference, the sums worked by hand."""

import math
from collections.abc import Sequence

import numpy as np
import pytest

from decodescope.backends.events import Scored
from decodescope.backends.token_facts import Alternative
from decodescope.metrics.divergence import Divergence

TOKENS = tuple(range(100))


def scored(first: int, logprobs: list[float], klds: Sequence[float] = (), same: Sequence[bool] = ()) -> Scored:
    count = len(logprobs)
    return Scored(
        t=0,
        first=first,
        logprobs=tuple(logprobs),
        entropies=(0.5,) * count,
        ranks=tuple(range(1, count + 1)),
        top=tuple((Alternative(position, b"x", logprob),) for position, logprob in enumerate(logprobs)),
        kld=tuple(klds),
        same_top=tuple(same),
        decode_ns=3_000_000,
        compute_ns=1_000_000,
    )


def test_nothing_scored_has_no_figures() -> None:
    divergence = Divergence(TOKENS, 10)
    assert divergence.count == 0
    assert divergence.positions.shape == divergence.kld.shape == (0,)
    assert (divergence.mean_kld, divergence.kld_99, divergence.same_top, divergence.perplexity) == (None,) * 4
    assert divergence.rate is None
    assert divergence.probability(1) is None


def test_a_reference_has_a_perplexity_and_no_divergence() -> None:
    divergence = Divergence(TOKENS, 10)
    divergence.apply(scored(1, [-1.0, -3.0]))
    assert (divergence.mean_kld, divergence.kld_99, divergence.same_top) == (None,) * 3
    assert divergence.perplexity is not None
    assert divergence.perplexity.value == pytest.approx(math.exp(2))  # (1 + 3)/2 = 2
    assert divergence.perplexity.uncertainty is None  # of two values
    assert divergence.rate == pytest.approx(2 / 4e-3)  # two in 3 + 1 ms


def test_means_and_their_errors_are_llama_cpp_s() -> None:
    """Eleven values: ten of 0 and one of 11. Mean 1, mean of squares 11, √((11 − 1)/(11 − 1)) = 1."""
    divergence = Divergence(TOKENS, 10)
    divergence.apply(scored(1, [0.0] * 5, [0.0] * 5, [True] * 5))
    divergence.apply(scored(6, [0.0] * 5 + [-11.0], [0.0] * 5 + [11.0], [True] * 3 + [False] * 3))
    assert divergence.mean_kld is not None
    assert divergence.perplexity is not None
    assert (divergence.mean_kld.value, divergence.mean_kld.uncertainty) == pytest.approx((1, 1))
    assert (divergence.perplexity.value, divergence.perplexity.uncertainty) == pytest.approx((math.e, math.e))
    # 99 % of the ten gaps is 9.9 gaps: 0.9 of the way from 0 to 11.
    assert divergence.kld_99 == pytest.approx(9.9)
    assert divergence.same_top is not None
    assert divergence.same_top.value == pytest.approx(8 / 11)
    assert divergence.same_top.uncertainty == pytest.approx(math.sqrt(8 / 11 * 3 / 11 / 10))


def test_ten_values_have_a_mean_without_an_error() -> None:
    divergence = Divergence(TOKENS, 10)
    divergence.apply(scored(1, [-1.0] * 10, [float(value) for value in range(10)], [True] * 10))
    assert divergence.mean_kld is not None
    assert (divergence.mean_kld.value, divergence.mean_kld.uncertainty) == (4.5, None)


def test_positions_are_those_of_the_whole_text_with_gaps_between_chunks() -> None:
    divergence = Divergence(TOKENS, 100)
    divergence.apply(scored(3, [-1.0, -2.0], [0.1, 0.2], [True, True]))
    divergence.apply(scored(7, [-3.0], [0.3], [False]))
    assert divergence.positions.tolist() == [3, 4, 7]
    assert divergence.kld.tolist() == [0.1, 0.2, 0.3]
    assert divergence.kld.dtype == np.float64
    assert [divergence.probability(position) is not None for position in (2, 3, 4, 5, 7, 8)] == [
        False,
        True,
        True,
        False,
        True,
        False,
    ]
    facts = divergence.probability(4)
    assert facts is not None
    assert (facts.logprob, facts.rank, facts.entropy_nats, facts.cost_ns) == (-2.0, 2, 0.5, 500_000)
    assert facts.top == (Alternative(1, b"x", -2.0),)


@pytest.mark.parametrize("first", [1, 2, 3])
def test_a_stretch_that_was_scored_before_is_refused(first: int) -> None:
    divergence = Divergence(TOKENS, 10)
    divergence.apply(scored(2, [-1.0, -2.0]))
    with pytest.raises(ValueError, match="scored before"):
        divergence.apply(scored(first, [-1.0]))
    assert divergence.count == 2
