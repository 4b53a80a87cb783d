"""What a spreadsheet, or pandas, would make of a CSV: written apart from the program, to judge it by."""

import csv
import io
import re

_NUMBER = re.compile(r"[-+]?(\d[\d,.]*|\.\d+)([eEdD][-+]?\d+)?")
_OWN_NUMBER = re.compile(r"-?(0|[1-9]\d*)(\.\d+)?(e[+-]\d+)?")
_MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec mai juin okt dez".split()  # noqa: SIM905
_DATES = (
    re.compile(r"\d{1,4}([-/. ])\d{1,2}(\1\d{1,4})?([T ]\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?)?"),
    re.compile(r"\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?( ?[aApP][mM]?)?"),
    re.compile(r"\d{1,2} ?[aApP][mM]?"),
    re.compile(rf"({'|'.join(_MONTHS)})[a-z]*[-/. ]*\d{{1,4}}([-/., ]+\d{{1,4}})?", re.IGNORECASE),
    re.compile(rf"\d{{1,4}}[-/. ]*({'|'.join(_MONTHS)})[a-z]*([-/., ]+\d{{1,4}})?", re.IGNORECASE),
    re.compile(r"\d+ \d+/\d+"),
)
_NOTHING = {
    "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN", "<NA>", "N/A", "NA", "NULL",
    "NaN", "None", "n/a", "nan", "null", "#REF!", "#DIV/0!", "#VALUE!", "#NAME?", "#NUM!", "#NULL!",
}  # fmt: skip


def stays_text(cell: str) -> bool:
    """Whether a cell is a text, the same, to everyone who opens the table."""
    bare = cell.strip(" \t\r\n\u00a0")
    plain = bare.strip("()$€£¥% ").lstrip("-+")
    return not (
        bare.startswith(("=", "+", "-", "@"))
        or cell.startswith(("\t", "\r", "\n"))
        or bare in _NOTHING
        or bare.lower() in {"true", "false", "inf", "infinity", "wahr", "falsch", "vrai", "faux"}
        or (plain != "" and _NUMBER.fullmatch(plain) is not None)
        or any(date.fullmatch(bare) for date in _DATES)
    )


def stays_a_number(cell: str) -> bool:
    """Whether a cell is a number of which no digit is lost."""
    digits = re.sub(r"e.*|[-.]", "", cell).strip("0")
    return _OWN_NUMBER.fullmatch(cell) is not None and len(digits) <= 15


def changed(table: str, texts: set[str]) -> list[tuple[str, str]]:
    """Return the cells, with their columns, that would not stay what they are; ``texts``: the columns that hold texts.

    A column that is all texts must not become numbers in part.
    """
    rows = list(csv.DictReader(io.StringIO(table)))
    assert rows
    assert texts <= set(rows[0])
    return [
        (name, cell)
        for row in rows
        for name, cell in row.items()
        if cell != "" and not (stays_text(cell) if name in texts else stays_a_number(cell))
    ]
