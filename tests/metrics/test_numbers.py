import pytest

from decodescope.metrics import numbers


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


def test_large_numbers_as_people_say_them() -> None:
    assert numbers.short_count(512) == "512"
    assert numbers.short_count(999_999) == "999,999"
    assert numbers.short_count(1_500_000) == "1.5 M"
    assert numbers.short_count(134_515_008) == "135 M"
    assert numbers.short_count(999_500_000) == "1.0 B"
    assert numbers.short_count(70_553_706_496) == "71 B"


def test_what_decides_whether_an_answer_comes_out_the_same() -> None:
    assert numbers.sampling_facts(0.0, 5) == ["temp 0"]
    assert numbers.sampling_facts(0.8, -1) == ["temp 0.8", "a new seed each time"]
    assert numbers.sampling_facts(1.0, 0) == ["temp 1", "seed 0"]
