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
    assert numbers.times(16.8) == "17×"
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


def test_the_same_digits_where_the_unit_stands_elsewhere() -> None:
    for ns in (0, 6_940_000, 99_940_000, 99_960_000, 1_234_000_000):
        assert f"{numbers.bare_milliseconds(ns)} ms" == numbers.milliseconds(ns)
    assert numbers.bare_milliseconds(12_400_000_000) == "12,400"
    assert f"{numbers.bare_rate(9.31)} tok/s" == numbers.rate(9.31) == "9.3 tok/s"
    assert numbers.characters_rate(512.4) == "512 char/s"
    assert numbers.entropy(2.345) == "2.3 bits"
    assert numbers.bandwidth(21.44e9) == "21.4 GB/s"
    assert numbers.size(96_576_768) == "92 MiB"
    assert numbers.counted(1, "token") == "1 token"
    assert numbers.counted(1204, "token") == "1,204 tokens"


def test_ratios_intervals_and_spreads() -> None:
    assert [numbers.ratio(value) for value in (1.0, 1.214, 0.0512, 9.996, 123.4)] == [
        "1.00×",
        "1.21×",
        "0.051×",
        "10.0×",
        "123×",
    ]
    assert numbers.interval(1.184, 1.246) == "1.18 to 1.25"
    assert numbers.interval(None, None) == numbers.ratio(None) == numbers.spread(None, None, None) == "–"
    assert numbers.spread(145.2, 143.4, 148.0) == "145 (143 to 148)"
    assert numbers.spread(145.2, 145.1, 145.3) == "145"
    assert numbers.spread(6.9e6, 6.8e6, 7.1e6, numbers.bare_milliseconds) == "6.9 (6.8 to 7.1)"


def test_figures_of_quality_have_the_digits_that_they_are_sure_of() -> None:
    assert numbers.divergence(0.01234, 0.00041) == "0.0123 ± 0.0004"
    assert numbers.divergence(0.000123, 0.0000041) == "0.000123 ± 0.000004"
    assert numbers.divergence(-1e-9, 2e-9) == "0.000000 ± 0.000000"
    assert numbers.divergence(1.5) == "1.5000"
    assert numbers.agreement(0.98431, 0.00112) == "98.43 ± 0.11 %"
    assert numbers.agreement(1.0, 0.0) == "100.00 ± 0.00 %"
    assert numbers.perplexity(12.344, 0.212) == "12.34 ± 0.21"
    assert numbers.divergence(None) == numbers.agreement(None) == numbers.perplexity(None) == numbers.size(None) == "–"
