"""How sure a ratio of few rounds is: by hand, and by simulation with fixed seeds."""

import math
from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt
import pytest

from decodescope.comparison.ratios import standing
from decodescope.metrics.bootstrap import geometric_mean, independent_ratio_interval, ratio_interval

Floats = npt.NDArray[np.float64]
COMPARISONS = 400


def test_fewer_than_two_rounds_have_no_interval() -> None:
    assert ratio_interval([], []) is None
    assert ratio_interval([2.0], [1.0]) is None
    assert geometric_mean([2.0], [1.0]) == 2.0


def test_the_value_is_the_geometric_mean_of_the_pairs() -> None:
    found = ratio_interval([2.0, 9.0], [1.0, 2.0])
    assert found is not None
    assert found.value == pytest.approx(3.0)  # √(2 × 4.5)
    assert geometric_mean([2.0, 9.0], [1.0, 2.0]) == pytest.approx(3.0)
    assert found.low * found.high == pytest.approx(9.0)  # the same factor below and above


def test_rounds_that_agree_wholly_leave_nothing_open() -> None:
    found = ratio_interval([3.0] * 5, [2.0] * 5)
    assert found is not None
    assert (found.low, found.value, found.high) == pytest.approx((1.5, 1.5, 1.5))


def test_which_lane_is_first_only_turns_the_interval_round() -> None:
    first, second = [1.0, 1.1, 0.9, 1.05, 1.02], [1.2, 1.0, 1.1, 1.15, 1.1]
    one, other = ratio_interval(first, second), ratio_interval(second, first)
    assert one is not None
    assert other is not None
    assert (1 / other.high, 1 / other.value, 1 / other.low) == pytest.approx((one.low, one.value, one.high))


def test_units_and_a_drift_that_both_lanes_share_change_nothing() -> None:
    first, second = np.array([1.0, 1.1, 0.9, 1.05]), np.array([1.2, 1.0, 1.1, 1.15])
    drift = np.array([1.0, 2.0, 3.0, 4.0])
    drifting = [(values * drift * 60).tolist() for values in (first, second)]
    one, other = ratio_interval(*drifting), ratio_interval(first.tolist(), second.tolist())
    assert one is not None
    assert other is not None
    assert (one.low, one.value, one.high) == pytest.approx((other.low, other.value, other.high))


def test_two_rounds_are_hardly_enough() -> None:
    # 20 % and 22 % faster are within chance where nobody knows the noise.
    found = ratio_interval([1.20, 1.22], [1.0, 1.0])
    assert found is not None
    assert found.low < found.value < found.high
    assert found.high / found.low > 1.1


def _normal(generator: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    return generator.normal(0, 0.02, shape)


def _heavy_tails(generator: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    return 0.02 * generator.standard_t(2, shape)


def _skewed(generator: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    return -0.03 * np.exp(generator.normal(0, 1, shape))


def _spikes(generator: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    hit = generator.random(shape) < 0.1
    return generator.normal(0, 0.01, shape) - hit * generator.exponential(0.3, shape)


def _drift(generator: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    """A machine whose pace wanders from run to run; the order of the lanes is rotated as in a comparison."""
    comparisons, rounds, lanes = shape
    walk = np.cumsum(generator.normal(0, 0.02, (comparisons, rounds * lanes)), axis=1)
    noise = generator.normal(0, 0.005, shape)
    for number in range(rounds):
        for place in range(lanes):
            noise[:, number, (place + number) % lanes] += walk[:, number * lanes + place]
    return noise


def named(logarithms: Floats) -> int | None:
    """The lane that is named as the winner; ``logarithms`` of rates, shape (rounds, lanes)."""
    rates = np.exp(logarithms)
    found = standing({lane: dict(enumerate(rates[:, lane].tolist())) for lane in range(rates.shape[1])})
    assert found is not None
    return found.leader if found.shown else None


def share_named(comparisons: Sequence[Floats] | Floats) -> float:
    return sum(named(one) is not None for one in comparisons) / len(comparisons)


@pytest.mark.parametrize("lanes", [2, 6])
@pytest.mark.parametrize("noise", [_normal, _heavy_tails, _skewed, _spikes, _drift])
def test_equal_lanes_seldom_have_a_winner(
    noise: Callable[[np.random.Generator, tuple[int, ...]], Floats], lanes: int
) -> None:
    """Asked for: at most 1 of 20 comparisons of five rounds. Of thousands it is 1 to 4 %; six lanes: none."""
    simulated = noise(np.random.default_rng([5, lanes]), (COMPARISONS, 5, lanes))
    assert share_named(simulated) <= (0.05 if lanes == 2 else 0.01)


@pytest.mark.parametrize(("rounds", "lanes", "least"), [(5, 2, 0.98), (5, 6, 0.98), (3, 2, 0.6)])
def test_five_percent_are_found_through_one_percent_of_noise(rounds: int, lanes: int, least: float) -> None:
    """Of many thousands: 99.8 % of comparisons of five rounds, 99.5 % with six lanes, 71 % of three rounds."""
    simulated = np.random.default_rng([6, rounds, lanes]).normal(0, 0.01, (COMPARISONS, rounds, lanes))
    simulated[:, :, 1] += math.log(1.05)
    winners = [named(one) for one in simulated]
    assert winners.count(1) / COMPARISONS >= least
    assert set(winners) <= {1, None}


def test_what_is_measured_apart_by_hand() -> None:
    found = independent_ratio_interval([2.0, 8.0], [1.0, 1.0, 1.0])
    assert found is not None
    assert found.value == pytest.approx(4.0)  # √(2 × 8) over 1
    assert found.low * found.high == pytest.approx(16.0)
    same = independent_ratio_interval([3.0] * 4, [2.0] * 3)
    assert same is not None
    assert (same.low, same.value, same.high) == pytest.approx((1.5, 1.5, 1.5))


def test_what_is_measured_apart_needs_two_of_each() -> None:
    assert independent_ratio_interval([1.0], [1.0, 2.0]) is None
    assert independent_ratio_interval([1.0, 2.0], [1.0]) is None


def test_what_is_measured_apart_in_any_order() -> None:
    first, second = [1.0, 1.1, 0.9, 1.05], [1.2, 1.0, 1.1, 1.15]
    assert independent_ratio_interval(first[::-1], second) is not None
    one, other = (independent_ratio_interval(first, each) for each in (second, second[::-1]))
    assert one is not None
    assert other is not None
    # Only the draws meet other values; the width stays about the same.
    assert other.value == pytest.approx(one.value)
    assert other.high / other.low == pytest.approx(one.high / one.low, rel=0.02)


@pytest.mark.parametrize(("here", "there", "noise"), [(5, 5, 0.02), (5, 5, 0.1), (3, 3, 0.02), (5, 10, 0.1)])
def test_equal_speeds_measured_apart_are_rarely_told_apart(here: int, there: int, noise: float) -> None:
    """``noise``: of the second; the first has 0.02. 5 of 100 are meant, and 9 would be three standard errors more."""
    generator = np.random.default_rng(11)
    wrong = 0
    for _ in range(COMPARISONS):
        first = np.exp(generator.normal(0, 0.02, here)).tolist()
        second = np.exp(generator.normal(0, noise, there)).tolist()
        found = independent_ratio_interval(first, second)
        assert found is not None
        wrong += not found.low <= 1 <= found.high
    assert wrong / COMPARISONS < 0.09
