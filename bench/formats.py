"""Rows as they are printed, each when it is complete: Markdown as ``llama-bench`` has it, CSV, JSON and JSON Lines."""

import json
from enum import Enum
from typing import Any

from ..traces.csv_text import csv_line
from ..traces.header import LlamaBuild
from .columns import layout, line
from .fields import flat, record
from .figures import Row, verdict
from .plan import BenchPlan


class Form(Enum):
    """The form of the output."""

    MD = "md"
    CSV = "csv"
    JSON = "json"
    JSONL = "jsonl"


class Printer:
    """Turns rows into text, piece by piece; ``width``: characters in a line of the table, where they are limited."""

    def __init__(self, form: Form, plan: BenchPlan, build: LlamaBuild, width: int | None = None) -> None:
        self._form = form
        self._build = build
        self._layout = layout(plan, width)
        self._rows: list[Row] = []

    def row(self, row: Row) -> str:
        """Return what a new row adds."""
        first = not self._rows
        self._rows.append(row)
        match self._form:
            case Form.MD:
                cells = [column.cell(row) for column in self._layout.columns]
                return (self._heading() if first else "") + line(self._layout.columns, cells)
            case Form.CSV:
                return self._csv(flat(record(row, self._build)), heading=first)
            case Form.JSON:
                return ("[\n" if first else ",\n") + _indented(record(row, self._build))
            case Form.JSONL:
                return json.dumps(record(row, self._build), ensure_ascii=False, allow_nan=False) + "\n"

    def end(self) -> str:
        """Return what comes after the last row."""
        match self._form:
            case Form.MD:
                return f"\n{self._footer()}" if self._rows else ""
            case Form.JSON:
                return "\n]\n" if self._rows else "[]\n"
            case Form.CSV | Form.JSONL:
                return ""

    def _heading(self) -> str:
        columns = self._layout.columns
        rules = [f"{'-' * (column.width - 1)}{':' if column.right else '-'}" for column in columns]
        return line(columns, [column.heading for column in columns]) + line(columns, rules)

    def _footer(self) -> str:
        number = "" if self._build.number is None else f" ({self._build.number})"
        build = f"build: {self._build.commit or 'unknown'}{number}"
        if self._layout.left_out:
            names = ", ".join(self._layout.left_out)
            build += f"\nNo room for: {names}.\nA pipe, a file and -o csv have them."
        said = verdict(self._rows)
        return f"{build}\n" + (f"\n{said}\n" if said else "")

    @staticmethod
    def _csv(values: dict[str, Any], *, heading: bool) -> str:
        return (csv_line(values) if heading else "") + csv_line(values.values(), quoted=True)


def _indented(values: dict[str, Any]) -> str:
    """Return an object in the layout of ``llama-bench``: a line a field."""
    lines = [f"    {json.dumps(name)}: {_value(value)}" for name, value in values.items()]
    return "  {\n" + ",\n".join(lines) + "\n  }"


def _value(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)
