"""How tokens compare with their run, and thinning for the plot."""

import pickle
import random
from collections.abc import Callable

import numpy as np
import pytest

from decodescope.metrics.pace import Pace, RunningMedian, pace, thin
from decodescope.metrics.series import Int64Array

MS = 1_000_000


@pytest.mark.parametrize(
    ("gap", "expected"),
    [
        (0.0, Pace.ORDINARY),
        (10.0, Pace.ORDINARY),
        (14.9, Pace.ORDINARY),  # thresholds at 1.5, 3 and 10 medians: 15, 30 and 100 ms
        (15.0, Pace.SLOW),
        (29.9, Pace.SLOW),
        (30.0, Pace.SLOWER),
        (99.9, Pace.SLOWER),
        (100.0, Pace.SLOWEST),
        (9000.0, Pace.SLOWEST),
    ],
)
def test_classes_begin_at_their_threshold(gap: float, expected: Pace) -> None:
    assert pace(round(gap * MS), 10.0 * MS) is expected


@pytest.mark.parametrize("median", [None, 0.0])
def test_without_a_median_everything_is_ordinary(median: float | None) -> None:
    assert pace(10**12, median) is Pace.ORDINARY


def test_nothing_added_has_no_median() -> None:
    assert RunningMedian().value is None


def test_few_values_are_exact() -> None:
    median = RunningMedian()
    median.add(30)
    assert median.value == 30.0
    median.add(10)
    assert median.value == 20.0
    median.add(11)
    assert median.value == 11.0


def test_a_zero_gap_is_a_value() -> None:
    median = RunningMedian()
    median.add(0)
    assert median.value == 0.0


DISTRIBUTIONS: dict[str, Callable[[random.Random], float]] = {
    "steady": lambda r: r.gauss(6.6e6, 0.2e6),
    "uniform": lambda r: r.uniform(1e6, 80e6),
    "long tail": lambda r: r.lognormvariate(16, 1.2),
    "rare stalls": lambda r: r.gauss(7e6, 0.5e6) * (20 if r.random() < 0.05 else 1),
    "two modes": lambda r: r.gauss(5e6, 0.3e6) if r.random() < 0.6 else r.gauss(15e6, 1e6),
    "slow server": lambda r: r.expovariate(1 / 2e9) + 1e8,
    "all alike": lambda r: 6_600_000,
    "a few microseconds": lambda r: r.uniform(2e3, 9e3),
    "minutes": lambda r: r.uniform(60e9, 600e9),
}


@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_the_running_median_is_near_the_median(name: str) -> None:
    draw = DISTRIBUTIONS[name]
    generator = random.Random(name)
    median, gaps = RunningMedian(), []
    for count in range(1, 4002):
        gap = max(1, round(draw(generator)))
        gaps.append(gap)
        median.add(gap)
        if count <= 32 or count % 1000 == 1:
            exact = float(np.median(gaps))
            tolerance = 0.015 if count > 32 else 1e-12
            assert median.value == pytest.approx(exact, rel=tolerance), f"after {count} gaps"


def test_gaps_outside_the_counted_range_are_counted_at_its_ends() -> None:
    low, high = RunningMedian(), RunningMedian()
    for _ in range(101):
        low.add(0)
        high.add(10**15)  # 11 days
    assert low.value is not None
    assert low.value < 1100
    assert high.value is not None
    assert high.value > 20 * 60e9


def test_the_running_median_holds_no_more_for_many_gaps() -> None:
    median = RunningMedian()
    sizes = []
    for gap in range(20_000):
        median.add(gap * 1000)
        if gap in (1000, 19_999):
            sizes.append(len(pickle.dumps(median)))
    assert sizes[1] <= sizes[0] + 16  # a larger count takes a few digits more


def series(*values: int) -> Int64Array:
    return np.array(values, dtype=np.int64)


def test_what_fits_is_left_as_it_is() -> None:
    positions, maxima = thin(series(3, 1, 2), 3)
    assert positions.tolist() == [0, 1, 2]
    assert maxima.tolist() == [3, 1, 2]


def test_each_run_gives_its_largest_value() -> None:
    # 5 values, 3 buckets: runs of 2, which is the least power of two with 3 × 2 ≥ 5.
    positions, maxima = thin(series(1, 9, 2, 3, 7), 3)
    assert positions.tolist() == [0, 2, 4]
    assert maxima.tolist() == [9, 3, 7]


@pytest.mark.parametrize("buckets", [1, 80])
def test_nothing_thins_to_nothing(buckets: int) -> None:
    positions, maxima = thin(series(), buckets)
    assert positions.tolist() == []
    assert maxima.tolist() == []


def test_one_bucket_holds_the_maximum() -> None:
    positions, maxima = thin(series(*range(1000), 5), 1)
    assert positions.tolist() == [0]
    assert maxima.tolist() == [999]


@pytest.mark.parametrize("buckets", [0, -1])
def test_no_buckets_are_refused(buckets: int) -> None:
    with pytest.raises(ValueError, match=f"not {buckets}"):
        thin(series(1), buckets)


def test_thinning_any_series_keeps_its_peak_and_its_bounds() -> None:
    generator = random.Random(7)
    for _ in range(500):
        values = series(*(generator.randrange(10**9) for _ in range(generator.randrange(1, 700))))
        buckets = generator.randrange(1, 130)
        positions, maxima = thin(values, buckets)
        assert 1 <= len(positions) == len(maxima) <= buckets
        assert maxima.max() == values.max()
        assert set(maxima.tolist()) <= set(values.tolist())
        steps = set(np.diff(positions).tolist())
        assert len(steps) <= 1
        assert all(step & (step - 1) == 0 for step in steps)
        for start, end, largest in zip(positions, [*positions[1:], len(values)], maxima, strict=True):
            assert values[start:end].max() == largest


def test_old_points_stay_while_the_series_grows() -> None:
    generator = random.Random(8)
    values = series(*(generator.randrange(10**9) for _ in range(600)))
    buckets = 40
    before: dict[int, int] = {}
    for count in range(1, len(values) + 1):
        positions, maxima = thin(values[:count], buckets)
        step = int(positions[1]) if len(positions) > 1 else 1
        now = dict(zip(positions.tolist(), maxima.tolist(), strict=True))
        old_step = sorted(before)[1] if len(before) > 1 else 1
        if step == old_step:
            # All but the last point, whose run was still filling, are where they were.
            finished = dict(list(before.items())[:-1])
            assert finished.items() <= now.items()
        else:
            assert set(now) <= set(before) | {count - 1}
        before = now
