"""A row per token."""

import csv
import io
import math
from pathlib import Path

from msgspec.structs import replace

from decodescope.backends.text import visible
from decodescope.traces.exports.table import COLUMNS, as_csv, lanes_as_csv

from ...spreadsheets import changed
from ..samples import HEADER
from .recorded import GAP, PIECES, SLOW, exported, quiet_then_disturbed, tokens_of


def _rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_every_token_is_a_row_and_every_row_a_line(tmp_path: Path) -> None:
    text = as_csv(exported(tmp_path))
    rows = _rows(text)
    assert len(rows) == 40 + 1
    assert text.count("\n") == len(rows) + 1
    assert tuple(rows[0]) == COLUMNS
    assert {row["generation"] for row in rows[:-1]} == {"1"}
    assert rows[-1]["generation"] == "2"
    assert not any(ord(character) < 32 for character in text.replace("\n", ""))


def test_times(tmp_path: Path) -> None:
    events = quiet_then_disturbed()
    rows = _rows(as_csv(exported(tmp_path, events)))
    first, second, slow = rows[0], rows[1], rows[SLOW - 1]
    assert first["at_ms"] == "430.0"  # 2,430 − 2,000
    assert (first["gap_ns"], first["gap_ms"], first["decode_ns"]) == ("", "", "")
    assert (second["gap_ns"], second["gap_ms"]) == (str(GAP + 2000), "6.914")
    assert (second["decode_ns"], second["sample_ms"]) == (str(GAP - 300_000), "0.1")
    start = HEADER.t
    assert [int(row["since_start_ns"]) + start for row in rows] == [token.t for token in tokens_of(events)]
    assert (slow["cause"], slow["involuntary_switches"], slow["wait_ns"]) == ("preempted", "37", str(12 * GAP))
    assert [row["cause"] for row in rows].count("") == len(rows) - 1
    assert rows[0]["read_bytes"] == ""


def test_probabilities(tmp_path: Path) -> None:
    rows = _rows(as_csv(exported(tmp_path)))
    assert rows[9]["probability"] == "0.367879441171442"  # e⁻¹ to 15 digits
    assert rows[9]["rank"] == "1"
    assert math.isclose(float(rows[9]["entropy_bits"]), 1 / math.log(2))
    assert rows[-1]["probability"] == rows[-1]["rank"] == rows[-1]["probability_ns"] == ""


def test_bytes_are_exact_and_text_is_no_formula(tmp_path: Path) -> None:
    rows = _rows(as_csv(exported(tmp_path, quiet_then_disturbed())))
    assert [bytes.fromhex(row["bytes"].removeprefix("hex:")) for row in rows] == [
        PIECES[index % len(PIECES)] for index in range(1, 41)
    ]
    formula = next(row for row in rows if row["bytes"] == f"hex:{b'=1+1'.hex()}")
    assert formula["text"] == "'=1+1"
    assert next(row for row in rows if row["bytes"] == "hex:0a")["text"] == "␊"


_TEXTS = {"cause", "bytes", "text"}


def test_no_cell_is_changed_by_a_spreadsheet(tmp_path: Path) -> None:
    pieces = [
        b"1", b">1", b"1e", b'=cmd|"/c calc"!A1', b"@SUM(1)", b"-1+1", b"\t=1", b"\r=2", b"00012", b"1234567890123456",
        b"1-2", b" 3/4", b"TRUE", b"null", b"None", b"'", b"1E5", b" 12", b"\xff", b"", b"May 5", b"50%", b"\xc2\xb2",
        b"hi",
    ]  # fmt: skip
    late = 40 * 24 * 3600 * 10**9  # a machine that has been up for 40 days
    events = [
        replace(event, t=event.t + late, **({"piece": piece} if piece is not None else {}))
        for event, piece in zip(
            quiet_then_disturbed(len(pieces) + 10),
            [*[None] * 8, *pieces, *[None] * 11],
            strict=True,
        )
    ]
    export = exported(tmp_path, events)
    for start in (events[0].t, late):
        export = replace(export, header=replace(HEADER, t=start))
        assert changed(as_csv(export), _TEXTS) == []
    assert changed(as_csv(replace(export, header=None)), _TEXTS) == []
    assert changed(lanes_as_csv([("=1", export), ("3e31", export), ("a", export)]), {"lane", *_TEXTS}) == []
    rows = _rows(as_csv(export))[: len(pieces)]
    assert [bytes.fromhex(row["bytes"].removeprefix("hex:")) for row in rows] == pieces
    assert [row["text"].removeprefix("'") if row["text"] else "" for row in rows] == [
        visible(piece.decode("utf-8", "replace")) for piece in pieces
    ]


def test_without_text(tmp_path: Path) -> None:
    rows = _rows(as_csv(exported(tmp_path, text=False)))
    assert {(row["id"], row["bytes"], row["text"]) for row in rows} == {("", "", "")}
    assert rows[SLOW - 1]["cause"] == "preempted"
