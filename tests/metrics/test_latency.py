"""The definitions of the latency figures, against sums worked by hand."""

import numpy as np
import pytest

from decodescope.metrics import latency
from decodescope.metrics.series import Int64Array

MS = 1_000_000
SECOND = 1_000_000_000


def ns(*milliseconds: float) -> Int64Array:
    return np.array([round(value * MS) for value in milliseconds], dtype=np.int64)


def test_four_tokens_a_tenth_of_a_second_apart() -> None:
    times = ns(1000, 1100, 1200, 1300)
    assert latency.ttft_ns(0, times) == 1 * SECOND
    assert latency.tpot_ns(times) == 100 * MS  # (1.3 s − 1.0 s) / (4 − 1)
    assert latency.itl_ns(times).tolist() == [100 * MS, 100 * MS, 100 * MS]
    assert latency.e2e_ns(0, times) == 1300 * MS
    assert latency.rate_per_second(3, 300 * MS) == pytest.approx(10.0)


def test_everything_counts_from_when_the_request_was_taken() -> None:
    times = ns(1000, 1500)
    assert latency.ttft_ns(400 * MS, times) == 600 * MS
    assert latency.e2e_ns(400 * MS, times) == 1100 * MS
    assert latency.ttfa_ns(400 * MS, times, np.array([0, 1])) == 1100 * MS


def test_tpot_is_a_mean_and_differs_from_the_median() -> None:
    # Gaps of 10, 10 and 70 ms: (90 ms) / 3 = 30 ms, while the median gap is 10 ms.
    times = ns(0, 10, 20, 90)
    assert latency.tpot_ns(times) == 30 * MS
    figures = latency.percentiles(latency.itl_ns(times))
    assert figures is not None
    assert figures.p50 == 10 * MS


def test_one_token_has_no_time_per_output_token() -> None:
    times = ns(1000)
    assert latency.tpot_ns(times) is None
    assert latency.percentiles(latency.itl_ns(times)) is None
    assert latency.ttft_ns(0, times) == 1 * SECOND
    assert latency.e2e_ns(0, times) == 1 * SECOND


def test_no_token_has_no_figure_at_all() -> None:
    times = ns()
    assert latency.ttft_ns(0, times) is None
    assert latency.ttfa_ns(0, times, ns()) is None
    assert latency.tpot_ns(times) is None
    assert latency.e2e_ns(0, times) is None
    assert latency.itl_ns(times).tolist() == []
    assert latency.percentiles(latency.itl_ns(times)) is None


def test_reasoning_counts_for_the_first_token_and_not_for_the_first_answer() -> None:
    times = ns(1000, 3000, 5000, 5100)
    answer = np.array([0, 0, 1, 1], dtype=np.int64)
    assert latency.ttft_ns(0, times) == 1 * SECOND
    assert latency.ttfa_ns(0, times, answer) == 5 * SECOND


def test_an_answer_that_never_left_reasoning_has_no_first_answer() -> None:
    assert latency.ttfa_ns(0, ns(1000, 2000), np.array([0, 0], dtype=np.int64)) is None


def test_a_first_token_at_once_is_zero_and_not_missing() -> None:
    assert latency.ttft_ns(1000 * MS, ns(1000)) == 0
    assert latency.ttfa_ns(1000 * MS, ns(1000), np.array([1])) == 0
    assert latency.tpot_ns(ns(1000, 1000)) == 0.0


@pytest.mark.parametrize(
    ("flags", "place", "expected"),
    [
        ([1, 1, 0, 1], 0, (0, 1)),
        ([1, 1, 0, 1], 1, (0, 1)),
        ([1, 1, 0, 1], 3, (3, 3)),
        ([0, 1, 1], 2, (1, 2)),
        ([1, 0, 1, 1, 0], 1, (1, 3)),  # holds the end of the answer as well
        ([1, 0], 1, (1, 1)),
    ],
)
def test_a_block_of_reasoning(flags: list[int], place: int, expected: tuple[int, int]) -> None:
    assert latency.block(np.array(flags), place) == expected


def test_percentiles_interpolate_between_the_closest_ranks() -> None:
    # Ranks 0 to 3. p50: rank 1.5 → 25. p95: rank 2.85 → 30 + 0.85 × 10 = 38.5. p99: rank 2.97 → 39.7.
    figures = latency.percentiles(ns(40, 10, 30, 20))
    assert figures is not None
    assert figures.p50 == pytest.approx(25 * MS)
    assert figures.p95 == pytest.approx(38.5 * MS)
    assert figures.p99 == pytest.approx(39.7 * MS)
    assert figures.max == 40 * MS


def test_percentiles_of_one_gap_are_that_gap() -> None:
    assert latency.percentiles(ns(7)) == latency.Percentiles(7.0 * MS, 7.0 * MS, 7.0 * MS, 7.0 * MS)


def test_percentiles_leave_the_gaps_as_they_are() -> None:
    gaps = ns(40, 10, 30, 20)
    latency.percentiles(gaps)
    assert gaps.tolist() == ns(40, 10, 30, 20).tolist()


@pytest.mark.parametrize(("count", "duration"), [(0, SECOND), (-1, SECOND), (3, 0), (3, -5), (0, 0)])
def test_nothing_done_or_no_time_passed_is_no_rate(count: int, duration: int) -> None:
    assert latency.rate_per_second(count, duration) is None


def test_figures_are_exact_on_a_clock_that_has_run_for_years() -> None:
    # 2**60 ns are 36 years: a float could not tell times 100 ns apart there.
    start = 2**60
    times = np.array([start + 100, start + 107], dtype=np.int64)
    assert latency.ttft_ns(start, times) == 100
    assert latency.tpot_ns(times) == 7.0
    assert latency.e2e_ns(start, times) == 107


def test_decode_rate_is_the_inverse_of_tpot() -> None:
    times = ns(3, 11, 25, 26)
    tpot = latency.tpot_ns(times)
    rate = latency.rate_per_second(3, 23 * MS)
    assert tpot is not None
    assert rate is not None
    assert rate * tpot == pytest.approx(1e9)
