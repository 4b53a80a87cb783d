"""Lanes against each other: ratios paired by round, and who is the fastest."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from ..metrics.bootstrap import geometric_mean, ratio_interval
from .figures import Ratio

LEAST_RATIO = 1.005
"""A difference that would be written as 1.00× makes no winner, however sure it is."""

RoundRates = Mapping[int, float]
"""Rate of each round that counts, by the round's number."""


def ratio(first: RoundRates, second: RoundRates) -> Ratio | None:
    """Return ``first`` over ``second`` by the rounds that both have; ``None`` without such a round."""
    common = sorted(first.keys() & second.keys())
    return _ratio(tuple(first[number] for number in common), tuple(second[number] for number in common))


@lru_cache(maxsize=512)
def _ratio(first: tuple[float, ...], second: tuple[float, ...]) -> Ratio | None:
    if not first:
        return None
    found = ratio_interval(first, second)
    if found is None:
        return Ratio(geometric_mean(first, second), None, None)
    return Ratio(found.value, found.low, found.high)


@dataclass(frozen=True, slots=True)
class Standing:
    """The fastest lane and what it is ahead of."""

    leader: int
    """Number of the lane."""
    ahead_of: tuple[tuple[int, Ratio | None], ...]
    """Every other ranked lane with the leader's ratio to it, the closest first; ``None``: no round in common."""

    @property
    def shown(self) -> bool:
        """Whether the leader is shown to be faster than every other lane."""
        return all(is_faster(found) for _, found in self.ahead_of)


def is_faster(found: Ratio | None) -> bool:
    """Whether a ratio is shown to be above 1, and large enough to be spoken of."""
    return found is not None and found.shown and found.value >= LEAST_RATIO


def standing(rates: Mapping[int, RoundRates]) -> Standing | None:
    """Return who leads among the ranked lanes, each with the rates of its rounds; ``None`` below two lanes."""
    if len(rates) < 2:
        return None
    common = set.intersection(*(set(of_lane) for of_lane in rates.values()))
    leader = max(rates, key=lambda number: _mean_logarithm(rates[number], sorted(common or rates[number])))
    others = [(number, ratio(rates[leader], rates[number])) for number in rates if number != leader]
    others.sort(key=lambda other: 0.0 if other[1] is None else other[1].value)
    return Standing(leader, tuple(others))


def _mean_logarithm(rates: RoundRates, rounds: Sequence[int]) -> float:
    return math.fsum(math.log(rates[number]) for number in rounds) / len(rounds)
