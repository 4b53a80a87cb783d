"""What a token takes when nothing disturbs it."""

import random

from decodescope.metrics.baseline import FEWEST, WINDOW, Baseline


def after(*values: tuple[int, int | None]) -> int | None:
    baseline, found = Baseline(), None
    for gap, wait in values:
        found = baseline.add(gap, wait)
    return found


def test_nothing_is_said_of_few_gaps() -> None:
    assert after(*[(10, None)] * (FEWEST - 1)) is None
    assert after(*[(10, None)] * FEWEST) == 10


def test_it_is_the_lower_quartile() -> None:
    # Sorted 1 to 8: a quarter of 8 values is below the one at place 2, counted from 0.
    assert after(*((value, None) for value in (8, 1, 7, 2, 6, 3, 5, 4))) == 3


def test_waits_are_taken_off() -> None:
    assert after(*[(100, 90)] * FEWEST) == 10
    assert after(*[(100, None)] * FEWEST) == 100


def test_a_wait_longer_than_the_gap_leaves_nothing() -> None:
    assert after(*[(100, 130)] * FEWEST) == 0


def test_only_the_window_counts() -> None:
    assert after(*[(10, None)] * 1000, *[(20, None)] * WINDOW) == 20


def test_any_series_gives_the_quartile_of_its_window() -> None:
    generator = random.Random(3)
    baseline = Baseline()
    values: list[int] = []
    for _ in range(600):
        values.append(generator.choice((7, generator.randrange(1, 1000))))
        found = baseline.add(values[-1])
        window = sorted(values[-WINDOW:])
        assert found == (window[len(window) // 4] if len(window) >= FEWEST else None)
