import math

import pytest

from decodescope.tui.plotting.axis import Axis, nice_ceiling, robust_ceiling, tick_label


@pytest.mark.parametrize(
    ("value", "ceiling"), [(0.7, 0.8), (1, 1), (3.0000000001, 3), (6.8, 8), (11, 20), (25, 30), (99, 100), (450, 600)]
)
def test_nice_ceiling(value: float, ceiling: float) -> None:
    assert math.isclose(nice_ceiling(value), ceiling)


def test_one_outlier_does_not_flatten_the_rest() -> None:
    values = [7.0] * 99 + [10_000.0]
    assert robust_ceiling(values, 7.0) == 28.0  # four medians


def test_ordinary_values_all_fit() -> None:
    assert robust_ceiling([6.0, 7.0, 9.0], 7.0) == pytest.approx(9.9)  # a tenth of headroom


def test_without_finite_values_there_is_no_ceiling() -> None:
    assert robust_ceiling([], 0.0) == 0.0
    assert robust_ceiling([math.inf, math.nan], 7.0) == 0.0


def test_the_axis_grows_at_once_and_shrinks_late() -> None:
    axis = Axis()
    assert axis.fit(0.0) == 0.0
    assert axis.fit(7.0) == 8.0
    assert axis.fit(11.0) == 20.0
    assert [axis.fit(7.0) for _ in range(4)] == [20.0, 20.0, 20.0, 8.0]
    assert axis.fit(math.nan) == axis.fit(math.inf) == 8.0
    assert [axis.fit(value) for value in (7.9, 6.0, 4.1, 7.0)] == [8.0] * 4


def test_a_passing_dip_does_not_shrink_it() -> None:
    axis = Axis()
    axis.fit(20.0)
    for _ in range(10):
        assert [axis.fit(5.0), axis.fit(5.0), axis.fit(15.0)] == [20.0] * 3


@pytest.mark.parametrize("value", [0, 0.001, 0.5, 7.5, 12, 600, 999, 1500, 10_000, 600_000])
def test_labels_are_short(value: float) -> None:
    assert len(tick_label(value)) <= 5
