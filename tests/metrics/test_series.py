"""Growing columns of integers."""

import numpy as np
import pytest

from decodescope.metrics.series import Series


def test_a_new_series_is_empty() -> None:
    series = Series()
    assert len(series) == 0
    assert series.values.tolist() == []
    assert series.values.dtype == np.int64


@pytest.mark.parametrize("count", [1, 255, 256, 257, 1000, 100_000])
def test_values_come_back_in_order_whatever_the_growth(count: int) -> None:
    series = Series()
    for value in range(count):
        series.append(value * 3 - 7)
    assert len(series) == count
    assert np.array_equal(series.values, np.arange(count, dtype=np.int64) * 3 - 7)


def test_the_view_cannot_be_written_to_and_appending_still_works() -> None:
    series = Series()
    series.append(1)
    view = series.values
    with pytest.raises(ValueError, match="read-only"):
        view[0] = 2
    series.append(3)
    assert series.values.tolist() == [1, 3]


def test_a_view_taken_earlier_keeps_its_values() -> None:
    series = Series()
    series.append(5)
    view = series.values
    for value in range(1000):
        series.append(value)
    assert view.tolist() == [5]


def test_whole_range_of_nanoseconds_is_kept_exactly() -> None:
    series = Series()
    for value in (2**63 - 1, -(2**63), 2**60 + 1):
        series.append(value)
    assert series.values.tolist() == [2**63 - 1, -(2**63), 2**60 + 1]


def test_memory_stays_within_twice_the_values() -> None:
    series = Series()
    for value in range(100_000):
        series.append(value)
    base = series.values.base
    assert base is not None
    # 8 bytes a value, and doubling leaves at most as much again free.
    assert base.nbytes <= 2 * 8 * 100_000
