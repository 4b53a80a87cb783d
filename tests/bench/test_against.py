"""New results against old ones."""

import json
from typing import Any

import pytest
from msgspec.structs import replace

from decodescope.bench.against import (
    AgainstError,
    Change,
    Compared,
    Result,
    compare,
    lines,
    result_of,
    results_in,
)
from decodescope.bench.fields import record
from decodescope.bench.plan import Trial

from .rows import BUILD, a_row, measured

ROW = a_row(Trial(generate=10), *(measured([gap] * 10) for gap in (6.0, 6.01, 6.02, 5.99, 6.0)))
RESULT = result_of(record(ROW, BUILD))


def times(factor: float, result: Result = RESULT) -> Result:
    """The same, taking so many times as long."""
    return replace(result, samples_ns=tuple(round(ns * factor) for ns in result.samples_ns))


def change(factor: float, tolerance: float = 0.05) -> Change:
    (found,) = compare([times(factor)], [RESULT], tolerance).compared
    return found.change


@pytest.mark.parametrize(
    ("factor", "found"), [(1.0, Change.NONE), (1.04, Change.NONE), (1.10, Change.SLOWER), (0.9, Change.FASTER)]
)
def test_a_change(factor: float, found: Change) -> None:
    assert change(factor) is found


def test_the_ratio_is_of_speeds() -> None:
    (found,) = compare([times(1.25)], [RESULT], 0.05).compared
    assert found.speed.value == pytest.approx(0.8)
    assert found.speed.low < 0.8 < found.speed.high < 0.82


def test_a_change_within_the_noise_is_none() -> None:
    noisy = replace(RESULT, samples_ns=tuple(round(60e6 * factor) for factor in (1, 1.4, 0.8, 1.3, 1.1)))
    (found,) = compare([noisy], [RESULT], 0.05).compared
    assert found.speed.value < 0.95
    assert found.change is Change.NONE


def test_the_tolerance_counts() -> None:
    assert change(1.10, tolerance=0.2) is Change.NONE
    assert change(1.02, tolerance=0.0) is Change.SLOWER


def test_what_passes() -> None:
    assert not compare([RESULT], [RESULT], 0.05).slower
    slower = compare([times(1.2)], [RESULT], 0.05)
    assert [one.new.name for one in slower.slower] == ["tg10"]
    assert slower.conclusion == "Slower by more than 5.0 %: tg10."
    nothing = compare([RESULT], [], 0.05)
    assert nothing.compared == ()
    assert nothing.conclusion == "Nothing could be compared."


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"n_threads": 4}, "other threads (2, was 4)"),
        ({"cpu_info": "another"}, "other machine (a processor, was another)"),
        ({"model_size": 1}, "other model"),
        ({"type_k": "q8_0"}, "other -ctk (f16, was q8_0)"),
        ({"n_gen": 11}, "not in the old results"),
        ({"sample": True}, "not in the old results"),
    ],
)
def test_what_cannot_be_compared_and_why(changes: dict[str, Any], why: str) -> None:
    found = compare([RESULT], [replace(RESULT, **changes)], 0.05)
    assert found.compared == ()
    assert found.left[0].why == why
    assert any(line.startswith("Not compared: tg10 (llama 256M Q4_1, 2 threads): ") for line in lines(found))


def test_what_is_not_measured_any_more() -> None:
    found = compare([RESULT], [RESULT, replace(RESULT, n_gen=99)], 0.05)
    assert [(one.row.name, one.why) for one in found.left] == [("tg99", "not measured now")]


def test_one_repetition_is_not_enough() -> None:
    found = compare([replace(RESULT, samples_ns=RESULT.samples_ns[:1])], [RESULT], 0.05)
    assert found.left[0].why == "fewer than two repetitions now"


def test_repetitions_on_a_busy_machine_do_not_count() -> None:
    gaps, waits = [6.0] * 38 + [55, 55], [0.0] * 38 + [49, 49]
    trial = Trial(generate=40)
    quiet = [measured([gap] * 40) for gap in (6.0, 6.01, 5.99)]
    busy = measured(gaps, waits=waits)
    old = result_of(record(a_row(trial, *quiet), BUILD))
    (found,) = compare([result_of(record(a_row(trial, busy, *quiet), BUILD))], [old], 0.05).compared
    assert found.speed.value == pytest.approx(1.0)
    left = compare([result_of(record(a_row(trial, busy, busy, *quiet[:1]), BUILD))], [old], 0.05).left
    assert left[0].why == "too disturbed now: 1 of 3 repetitions undisturbed"
    noisy = compare([result_of(record(a_row(trial, busy, busy), BUILD))], [old], 0.05, noisy=True)
    (found,) = noisy.compared
    assert found.change is Change.SLOWER
    assert found.busy == ("now",)
    assert "| slower, busy now |" in "\n".join(lines(noisy))
    assert any(line.startswith("The machine was busy, which counts here: tg40.") for line in lines(noisy))
    quiet_noisy = compare([old], [old], 0.05, noisy=True)
    assert not any("busy" in line for line in lines(quiet_noisy))


def test_results_of_llama_bench_itself() -> None:
    own = record(ROW, BUILD)
    for name in ("sample", "repetitions", "quiet", "ttft_ms", "itl_ms"):
        del own[name]
    for text in (json.dumps([own]), json.dumps(own) + "\n\n" + json.dumps(own)):
        (found,) = compare([RESULT], results_in(text.encode(), "old.json"), 0.05).compared
        assert isinstance(found, Compared)
        assert found.change is Change.NONE


@pytest.mark.parametrize("text", ["{", "[1]", "| a | b |", '{"n_gen": 1}', "\udcff", "", " \n\n", "[]", "[" * 100_000])
def test_what_is_no_result(text: str) -> None:
    with pytest.raises(AgainstError, match=r"^old\.json holds no results"):
        results_in(text.encode("utf-8", "surrogateescape"), "old.json")


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"samples_ns": [5, 0]}, "in row 2: in samples_ns a repetition of tg10 took no time, or less."),
        ({"samples_ns": [-(10**30), 5]}, "in row 2: in samples_ns a repetition of tg10 took no time, or less."),
        ({"samples_ns": [10**30, 10**30]}, "in row 2: in samples_ns a repetition of tg10 took more than a week."),
        ({"n_depth": -1}, "in row 2: n_depth is no number of tokens."),
        ({"n_gen": 10**30}, "in row 2: n_gen is no number of tokens."),
        ({"n_gen": 0}, "in row 2: n_prompt and n_gen are 0"),
    ],
)
def test_a_figure_that_cannot_be(changes: dict[str, Any], said: str) -> None:
    own = record(ROW, BUILD)
    with pytest.raises(AgainstError) as raised:
        results_in(json.dumps([own, {**own, **changes}]).encode(), "old.json")
    assert str(raised.value).startswith("old.json holds a figure that cannot be, ")
    assert said in str(raised.value)


def test_a_number_beyond_all_bounds_is_no_result() -> None:
    with pytest.raises(AgainstError, match="holds no results"):
        results_in(json.dumps([{**record(ROW, BUILD), "n_threads": 10**30}]).encode(), "old.json")


def test_the_table() -> None:
    heading, rule, row, blank, conclusion = lines(compare([times(1.25)], [RESULT], 0.05))
    assert heading.count("|") == rule.count("|") == row.count("|")
    assert row.startswith("| tg10 | llama 256M Q4_1, 2 threads | 167 | 133 | 0.80× | 0.80 to 0.80 | slower |")
    assert (blank, conclusion) == ("", "Slower by more than 5.0 %: tg10.")


@pytest.mark.parametrize(
    ("undisturbed", "disturbed", "is_compared"),
    [(2, 0, True), (2, 1, False), (3, 1, True), (3, 3, True), (3, 4, False)],
)
def test_too_few_undisturbed_repetitions_are_not_slower(undisturbed: int, disturbed: int, is_compared: bool) -> None:
    """Those that are there are all slower by half: they may have been disturbed a little as well."""
    trial = Trial(generate=40)
    old = result_of(record(a_row(trial, *(measured([gap] * 40) for gap in (6.0, 6.01, 5.99))), BUILD))
    quiet = [measured([9.0 + number / 100] * 40) for number in range(undisturbed)]
    busy = measured([6.0] * 38 + [55, 55], waits=[0.0] * 38 + [49, 49])
    found = compare([result_of(record(a_row(trial, *quiet, *[busy] * disturbed), BUILD))], [old], 0.05)
    assert [one.change for one in found.compared] == [Change.SLOWER] * is_compared
    assert len(found.left) == (not is_compared)
