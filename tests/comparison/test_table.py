"""The table as data and as text."""

import csv
import io
import json

import pytest

from decodescope.backends.events import Failed
from decodescope.comparison.export import as_json
from decodescope.comparison.figures import Results
from decodescope.comparison.formats import as_csv, as_markdown
from decodescope.comparison.lane import Lane
from decodescope.comparison.results import results
from decodescope.comparison.table import Column, as_rows, columns, ordered
from decodescope.metrics.divergence import Divergence, Estimate

from ..spreadsheets import changed
from .lanes import MIB, a_lane, a_round

FAILED = Failed(t=0, stage="load", what="The model could not be loaded.")


class Scores(Divergence):
    """What a lane scored, given."""

    count = 128
    mean_kld = Estimate(0.0123, 0.0004)
    kld_99 = 0.25
    same_top = Estimate(0.96, 0.01)
    perplexity = Estimate(12.345, 0.21)


def scored(lane: Lane) -> Lane:
    lane.scores = Scores((), 0)
    return lane


def three() -> Results:
    """Reference, a faster lane with scores, and one that could not be loaded."""
    return results(
        (
            a_lane(0, "Q8_0", 10, 10.2, 9.8),
            scored(a_lane(1, "Q4_0", 8, 8.1, 7.9, model={"bytes": 60 * MIB})),
            a_lane(2, "big", failed=FAILED),
        ),
        together=False,
    )


def column(found: Results, key: str) -> Column:
    return next(one for one in columns(found, wide=True) if one.key == key)


def test_the_narrow_table_has_one_figure_a_cell() -> None:
    found = three()
    assert as_rows(found, columns(found)) == [
        [
            "lane",
            "size",
            "load",
            "TTFT ms",
            "prefill tok/s",
            "ITL p50 ms",
            "ITL p95 ms",
            "decode tok/s",
            "× reference",
            "KLD",
            "same top",
            "differs at",
        ],
        ["Q8_0", "100 MiB", "0.2 s", "110", "1,000", "10.0", "10.0", "100", "reference", "–", "–", "–"],
        ["Q4_0", "60 MiB", "0.2 s", "110", "1,000", "8.0", "8.0", "125", "1.25×", "0.0123", "96.00 %", "same 20"],
        ["big", "100 MiB", "0.2 s", "–", "–", "–", "–", "–", "failed", "–", "–", "–"],
    ]


def test_the_wide_table_has_spreads_intervals_and_uncertainties() -> None:
    found = three()
    cells = dict(
        zip(
            (one.key for one in columns(found, wide=True)),
            as_rows(found, columns(found, wide=True), full=True)[2],
            strict=True,
        )
    )
    assert cells["decode"] == "125 (123 to 127)"  # 1 / 8.1 and 1 / 7.9 ms
    assert cells["itl_p50"] == "8.0 (7.9 to 8.1)"
    assert cells["ttft"] == "110"
    assert cells["ratio"].startswith("1.25× (1.2")
    assert (cells["kld"], cells["kld_99"]) == ("0.0123 ± 0.0004", "0.2500")
    assert (cells["same_top"], cells["perplexity"]) == ("96.00 ± 1.00 %", "12.35 ± 0.21")


def test_columns_come_when_they_are_needed() -> None:
    keys = [one.key for one in columns(three(), quality=False)]
    assert "kld" not in keys
    assert not {"characters", "disturbed"} & set(keys)
    disturbed = results([a_lane(0, "a", 10, a_round(10, slow=3)), a_lane(1, "b", a_round(prompt=(1,)))], together=False)
    assert {"characters", "characters_ratio", "disturbed"} <= {one.key for one in columns(disturbed)}
    assert [column(disturbed, "disturbed").cell(row) for row in disturbed.rows] == ["1 of 2", "0 of 1"]


def test_rows_are_sorted_by_any_column_and_what_has_no_value_comes_last() -> None:
    found = three()
    for key, descending, order in (
        ("decode", True, [1, 0, 2]),
        ("decode", False, [0, 1, 2]),
        ("ratio", True, [1, 0, 2]),
        ("label", False, [2, 1, 0]),
        ("label", True, [0, 1, 2]),
        ("load", True, [0, 1, 2]),
        ("kld", False, [1, 0, 2]),
    ):
        assert [row.number for row in ordered(found.rows, column(found, key), descending=descending)] == order


@pytest.mark.parametrize("key", [one.key for one in columns(three(), wide=True)])
def test_every_column_sorts_without_any_figure(key: str) -> None:
    empty = results((a_lane(0, "a"), a_lane(1, "b")), together=False)
    assert [row.number for row in ordered(empty.rows, column(empty, key), descending=False)] == [0, 1]
    assert all(column(empty, key).help.endswith(".") for _ in empty.rows)


def test_names_are_neither_markup_nor_commands() -> None:
    found = results((a_lane(0, "a|b\x1b[2J"), a_lane(1, "_x_ Q4_0", 10)), together=False)
    text = as_markdown(found)
    assert "\x1b" not in text
    assert "| a\\|b␛\\[2J |" in text
    assert "| \\_x\\_ Q4_0 |" in text
    assert len({line.replace("\\|", "").count("|") for line in text.splitlines() if line.startswith("|")}) == 1


def test_markdown_has_the_verdict_and_the_notes() -> None:
    lines = as_markdown(three()).splitlines()
    assert lines[0].startswith("| lane | size | load | TTFT ms |")
    assert lines[1].startswith("| :--- | ---: |")
    assert lines[6].startswith("Q4_0 writes 1.25× as fast as Q8_0 (95 % interval ")
    assert lines[8:] == ["- big: The model could not be loaded."]


def test_no_cell_is_changed_by_a_spreadsheet() -> None:
    lanes = (a_lane(0, "3e31", 10, 10.2, 9.8), a_lane(1, "=1+1", 8, 8.1, 7.9), a_lane(2, "00012", failed=FAILED))
    texts = {"label", "quantization", "requantized_from", "unranked", "fallbacks", "scores_note", "failure"}
    table = as_csv(results(lanes, together=False))
    assert changed(table, texts) == []
    assert [row["label"] for row in csv.DictReader(io.StringIO(table))] == ["'3e31", "'=1+1", "'00012"]


def test_json_and_csv_have_the_same_figures() -> None:
    found = as_json(three())
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    assert (found["winner"], found["same_tokens"]) == ("Q4_0", True)
    lane = found["lanes"][1]
    assert lane["predicted_per_second"] == {"median": 125.0, "min": 123.457, "max": 126.582}
    assert lane["ttft_ms"] == {"median": 110.0, "min": 110.0, "max": 110.0}
    assert lane["mean_kld"] == {"value": 0.0123, "uncertainty": 0.0004}
    assert lane["predicted_ratio"]["shown"] is True
    assert [one["predicted_per_second"] for one in lane["all_rounds"]] == [125.0, 123.457, 126.582]
    assert found["lanes"][2]["unranked"] == "failed"
    assert found["lanes"][2]["predicted_per_second"] == {"median": None, "min": None, "max": None}
    rows = list(csv.DictReader(io.StringIO(as_csv(three()))))
    assert [row["label"] for row in rows] == ["Q8_0", "Q4_0", "big"]
    assert rows[1]["predicted_per_second_median"] == "125.0"
    assert rows[1]["predicted_ratio_shown"] == "1"
    assert rows[2]["predicted_per_second_median"] == ""
    assert None not in rows[2].values()
