"""What the repetitions come to, with the sums worked by hand."""

import pytest
from msgspec.structs import replace

from decodescope.backends.token_facts import Scheduling
from decodescope.bench.figures import repetition, verdict
from decodescope.bench.plan import Trial

from .rows import MS, a_row, measured


@pytest.mark.parametrize(
    ("trial", "name"),
    [
        (Trial(prompt=512), "pp512"),
        (Trial(generate=128), "tg128"),
        (Trial(prompt=512, generate=128), "pp512+tg128"),
        (Trial(generate=128, depth=4096), "tg128 @ d4096"),
    ],
)
def test_names(trial: Trial, name: str) -> None:
    assert trial.name == name


def test_reading_has_a_rate_a_ttft_and_no_latencies() -> None:
    row = a_row(Trial(prompt=100), measured(prompt=50), measured(prompt=40))
    # 100 tokens in 50 and in 40 ms: 2,000 and 2,500 per second.
    assert row.mean_rate == pytest.approx(2250)
    assert row.rate_deviation == pytest.approx(353.553, abs=0.001)  # √(250² + 250²)
    assert row.mean_ns == 45 * MS
    assert row.ttft_ns == 45 * MS
    assert row.itl is None
    assert (row.judged, row.disturbed, row.lost_share, row.quiet) == (None, None, None, None)


def test_writing_has_latencies_and_no_ttft() -> None:
    row = a_row(Trial(generate=4), measured([4, 5, 6, 7]), measured([4, 5, 6, 25]))
    assert row.mean_rate == pytest.approx((4 / 0.022 + 4 / 0.040) / 2)
    assert row.ttft_ns is None
    assert row.itl is not None
    assert row.itl.p50 == 5.5 * MS  # of 4 4 5 5 6 6 7 25
    assert row.itl.max == 25 * MS


def test_both_are_timed_together() -> None:
    row = a_row(Trial(prompt=10, generate=2), measured([5, 5], prompt=20))
    assert row.mean_rate == pytest.approx(12 / 0.030)
    assert row.ttft_ns == 20 * MS


def test_one_repetition_has_no_deviation() -> None:
    row = a_row(Trial(prompt=10), measured(prompt=20))
    assert (row.deviation_ns, row.rate_deviation) == (None, None)


def test_a_quiet_machine() -> None:
    row = a_row(Trial(generate=40), measured([5] * 40, waits=[0] * 40))
    assert (row.judged, row.disturbed, row.lost_share, row.quiet) == (40, 0, 0.0, True)
    assert verdict([row]).startswith("The machine was quiet")


def test_a_busy_machine() -> None:
    gaps, waits = [5.0] * 38 + [55, 55], [0.0] * 38 + [50, 50]
    row = a_row(Trial(generate=40), measured([5] * 40), measured(gaps, waits=waits))
    # The second: 100 of 300 ms lost. Both: 100 of 500.
    assert (row.judged, row.disturbed) == (80, 2)
    assert row.lost_share == pytest.approx(0.2)
    assert [one.quiet for one in row.repetitions] == [True, False]
    assert row.quiet is False
    assert "tg40 lost more than 5 %" in verdict([row])


def test_waiting_for_a_core_while_reading_is_lost_time() -> None:
    waited = replace(measured(prompt=100), prompt_scheduling=Scheduling(wait_ns=40 * MS, longest_wait_ns=30 * MS))
    found = repetition(Trial(prompt=100), waited)
    assert found.lost_share == pytest.approx(0.3)
    assert found.quiet is False


def test_what_nobody_knows_is_not_called_quiet() -> None:
    assert verdict([a_row(Trial(prompt=10), measured(prompt=20))]) == ""
