"""Rows as they are printed, each when it is complete: Markdown as ``llama-bench`` has it, CSV, JSON and JSON Lines."""

import csv
import io
import json
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Any

from ..backends.requests import EngineSettings
from ..backends.text import markdown, visible
from ..metrics import numbers
from ..traces.header import LlamaBuild
from .fields import flat, record
from .figures import Row, verdict
from .plan import BenchPlan

_MIB, _GIB = 2**20, 2**30


class Form(Enum):
    """The form of the output."""

    MD = "md"
    CSV = "csv"
    JSON = "json"
    JSONL = "jsonl"


@dataclass(frozen=True, slots=True)
class _Column:
    heading: str
    width: int
    """In characters, at least; columns of numbers are flush right."""
    cell: Callable[[Row], str]
    right: bool = True


class Printer:
    """Turns rows into text, piece by piece."""

    def __init__(self, form: Form, plan: BenchPlan, build: LlamaBuild) -> None:
        self._form = form
        self._build = build
        self._columns = _columns(plan)
        self._rows: list[Row] = []

    def row(self, row: Row) -> str:
        """Return what a new row adds."""
        first = not self._rows
        self._rows.append(row)
        match self._form:
            case Form.MD:
                return (self._heading() if first else "") + self._line([column.cell(row) for column in self._columns])
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
        headings = [column.heading for column in self._columns]
        rules = [f"{'-' * (column.width - 1)}{':' if column.right else '-'}" for column in self._columns]
        return self._line(headings) + self._line(rules)

    def _line(self, cells: list[str]) -> str:
        padded = [
            f"{cell:>{column.width}}" if column.right else f"{cell:<{column.width}}"
            for cell, column in zip(cells, self._columns, strict=True)
        ]
        return f"| {' | '.join(padded)} |\n"

    def _footer(self) -> str:
        number = "" if self._build.number is None else f" ({self._build.number})"
        build = f"build: {self._build.commit or 'unknown'}{number}"
        said = verdict(self._rows)
        return f"{build}\n" + (f"\n{said}\n" if said else "")

    @staticmethod
    def _csv(values: dict[str, str], *, heading: bool) -> str:
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        if heading:
            writer.writerow(values)
        writer = csv.writer(text, lineterminator="\n", quoting=csv.QUOTE_ALL)
        writer.writerow(values.values())
        return text.getvalue()


def _indented(values: dict[str, Any]) -> str:
    """Return an object in the layout of ``llama-bench``: a line a field."""
    lines = [f"    {json.dumps(name)}: {_value(value)}" for name, value in values.items()]
    return "  {\n" + ",\n".join(lines) + "\n  }"


def _value(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def _columns(plan: BenchPlan) -> list[_Column]:
    """Return the columns: what differs between the rows, or is not the default, and the figures."""
    groups, default = plan.groups, EngineSettings()

    def varies(setting: str) -> bool:
        return {getattr(group.settings, setting) for group in groups} != {getattr(default, setting)}

    found = [
        _Column("model", 30, lambda row: markdown(visible(row.ran_with.model)), right=False),
        _Column("size", 10, lambda row: _size(row.model.bytes)),
        _Column("params", 10, lambda row: _parameters(row.model.parameters)),
        _Column("backend", 10, lambda row: markdown(visible(",".join(row.ran_with.backends))), right=False),
        _Column("threads", 7, lambda row: str(row.model.threads)),
    ]
    for setting, heading, width in (
        ("gpu_layers", "ngl", 3),
        ("batch", "n_batch", 7),
        ("micro_batch", "n_ubatch", 8),
        ("cache_type_k", "type_k", 6),
        ("cache_type_v", "type_v", 6),
        ("flash_attention", "fa", 4),
    ):
        if varies(setting):
            found.append(_Column(heading, width, _of_setting(setting)))
    if any(trial.sample for group in groups for trial in group.trials):
        found.append(_Column("sample", 6, lambda row: str(int(row.trial.sample))))
    found += [
        _Column("test", 15, lambda row: row.trial.name),
        _Column("t/s", 20, _rate),
        _Column("TTFT ms", 9, lambda row: numbers.bare_milliseconds(row.ttft_ns)),
    ]
    found += [_Column(f"ITL {name}", 7, _of_itl(name)) for name in ("p50", "p95", "p99")]
    found.append(_Column("disturbed", 12, _disturbed))
    return found


def _of_setting(setting: str) -> Callable[[Row], str]:
    return lambda row: str(getattr(row.group.settings, setting))


def _of_itl(name: str) -> Callable[[Row], str]:
    return lambda row: numbers.bare_milliseconds(None if row.itl is None else getattr(row.itl, name))


def _rate(row: Row) -> str:
    deviation = row.rate_deviation
    return f"{row.mean_rate:.2f}" if deviation is None else f"{row.mean_rate:.2f} ± {deviation:.2f}"


def _disturbed(row: Row) -> str:
    counted = numbers.MISSING if row.judged is None else f"{row.disturbed} of {row.judged}"
    return counted if row.quiet is not False else f"{counted}, busy"


def _size(count: int) -> str:
    return f"{count / _MIB:.2f} MiB" if count < _GIB else f"{count / _GIB:.2f} GiB"


def _parameters(count: int) -> str:
    return f"{count / 1e6:.2f} M" if count < 1e9 else f"{count / 1e9:.2f} B"
