import pytest

from decodescope.tui import numbers


@pytest.mark.parametrize(
    ("ns", "text"),
    [
        (None, "–"),
        (0, "0.0 ms"),
        (6_940_000, "6.9 ms"),
        (99_940_000, "99.9 ms"),
        (99_960_000, "100 ms"),
        (1_234_000_000, "1,234 ms"),
        (12_345_000_000, "12.3 s"),
    ],
)
def test_milliseconds(ns: float | None, text: str) -> None:
    assert numbers.milliseconds(ns) == text


@pytest.mark.parametrize(
    ("ns", "text"),
    [(None, "–"), (1_240_000_000, "1.2 s"), (99_940_000_000, "99.9 s"), (125e9, "2:05"), (3725e9, "1:02:05")],
)
def test_seconds(ns: float | None, text: str) -> None:
    assert numbers.seconds(ns) == text


def test_rates_factors_and_counts() -> None:
    assert numbers.rate(None) == numbers.times(None) == numbers.count(None) == "–"
    assert numbers.rate(0.04) == "0.0 tok/s"
    assert numbers.rate(145.4) == "145 tok/s"
    assert numbers.rate(12_345.6) == "12,346 tok/s"
    assert numbers.times(8.34) == "8.3×"
    assert numbers.times(123.4) == "123×"
    assert numbers.count(0) == "0"
