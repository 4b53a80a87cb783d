"""The table of a comparison as Markdown and as CSV."""

from collections.abc import Mapping
from typing import Any

from ..backends.text import markdown
from ..traces import csv_text
from .export import as_json
from .figures import Results
from .table import as_rows, columns


def as_markdown(results: Results, *, quality: bool = True) -> str:
    """Return the wide table, the verdict and the notes in Markdown; names in them are no markup."""
    shown = columns(results, wide=True, quality=quality)
    heading, *rows = ([markdown(cell) for cell in row] for row in as_rows(results, shown, full=True))
    rule = ["---:" if column.right else ":---" for column in shown]
    lines = [f"| {' | '.join(row)} |" for row in (heading, rule, *rows)]
    said = [markdown(results.verdict), "", *(f"- {markdown(note)}" for note in results.notes)]
    return "\n".join([*lines, "", *said]).rstrip() + "\n"


def as_csv(results: Results) -> str:
    """Return a line a lane under the names of ``as_json``, nested ones joined by ``_``; single rounds are left out, and
    at its end it says why the lane failed."""
    rows = [
        _flat({name: value for name, value in lane.items() if name != "all_rounds"} | {"failure": row.failure or None})
        for lane, row in zip(_lanes(results), results.rows, strict=True)
    ]
    return csv_text.as_csv(tuple(rows[0]), (row.values() for row in rows))


def _lanes(results: Results) -> list[dict[str, Any]]:
    lanes: list[dict[str, Any]] = as_json(results)["lanes"]
    return lanes


def _flat(values: Mapping[str, Any], before: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for name, value in values.items():
        if isinstance(value, dict):
            flat |= _flat(value, f"{before}{name}_")
        else:
            flat[before + name] = value
    return flat
