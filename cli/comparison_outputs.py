"""The result of a comparison in the forms that are printed."""

import csv
import io
import json
import types
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from enum import Enum, auto
from typing import Any, get_args, get_type_hints

from ..backends.events import Finished, Token
from ..backends.text import TextStream, visible
from ..comparison.lane import Lane, Round
from ..comparison.results import LaneResult, Results
from ..comparison.runner import Comparison
from ..comparison.table import columns
from .columns import table
from .comparison_plan import Asked
from .options import valid_text
from .streams import data_width

_NS, _MS = "_ns", "_ms"
_NS_PER_MS = 1e6


class Form(Enum):
    """How the result is printed."""

    TABLE = auto()
    JSON = auto()
    CSV = auto()
    MD = auto()


def written(form: Form, comparison: Comparison, results: Results, asked: Asked) -> str:
    """Return the result as text, its last line ended."""
    if form is Form.JSON:
        return json.dumps(_report(comparison, results, asked), ensure_ascii=False, allow_nan=False, indent=2) + "\n"
    if form is Form.CSV:
        return _csv(results)
    return _markdown(results) if form is Form.MD else _table(results)


def _table(results: Results) -> str:
    shown = columns(results)
    rows = [[column.heading for column in shown]]
    rows += [[visible(column.text(row)) for column in shown] for row in results.rows]
    right = [place for place, column in enumerate(shown) if column.number]
    return "".join(f"{line}\n" for line in table(rows, [0], data_width(), right))


def _markdown(results: Results) -> str:
    shown = columns(results)
    lines = [
        [column.heading for column in shown],
        ["---:" if column.number else "---" for column in shown],
        *([_cell(column.text(row)) for column in shown] for row in results.rows),
    ]
    said = [_inline(results.verdict), *([""] if results.notes else []), *(f"- {_inline(one)}" for one in results.notes)]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines) + "\n" + "".join(f"{line}\n" for line in said)


def _inline(text: str) -> str:
    """Return text of unknown origin as Markdown shows it, on one line."""
    marked = "".join(f"\\{character}" if character in "\\`*_[]<>&#" else character for character in visible(text))
    return " ".join(marked.split())


def _cell(text: str) -> str:
    return _inline(text).replace("|", "\\|")


def _csv(results: Results) -> str:
    out = io.StringIO()
    names = [name for name, kind in _columns(LaneResult) if kind is not None]
    writer = csv.DictWriter(out, names, lineterminator="\n", extrasaction="ignore")
    writer.writeheader()
    for row in results.rows:
        writer.writerow(dict(_flat(_plain(row))))
    return out.getvalue()


def _columns(kind: type, prefix: str = "") -> Iterator[tuple[str, type | None]]:
    """Yield the names of the columns for a record; a record in it has one for each of its own fields."""
    for name, hint in get_type_hints(kind).items():
        shown = prefix + _renamed(name)
        options = get_args(hint) if isinstance(hint, types.UnionType) else (hint,)
        record = next((option for option in options if is_dataclass(option)), None)
        if isinstance(record, type):
            yield from _columns(record, f"{shown}_")
            if record.__name__ == "Ratio":
                yield f"{shown}_shown", bool
        elif name != "all_rounds":  # as many as there are
            yield shown, str


def _flat(value: dict[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for name, entry in value.items():
        if isinstance(entry, dict):
            yield from _flat(entry, f"{prefix}{name}_")
        elif not isinstance(entry, list):
            yield prefix + name, entry


def _renamed(name: str) -> str:
    return name.removesuffix(_NS) + _MS if name.endswith(_NS) else name


def _plain(value: Any, *, ns: bool = False) -> Any:
    """Return a record of the results as plain JSON values; times in ms, as their names then say."""
    if is_dataclass(value):
        entries = {field.name: getattr(value, field.name) for field in fields(value)}
        if hasattr(value, "shown"):
            entries["shown"] = value.shown
        return {
            _renamed(name): _plain(entry, ns=name.endswith(_NS) or (ns and name != "rounds"))
            for name, entry in entries.items()
        }
    if isinstance(value, tuple):
        return [_plain(entry) for entry in value]
    if isinstance(value, str):
        return valid_text(value)
    if ns and value is not None:
        return value / _NS_PER_MS
    return value


def _report(comparison: Comparison, results: Results, asked: Asked) -> dict[str, Any]:
    settings = asked.options.described()
    del settings["model"]
    settings["seed"] = comparison.plan.request.sampling.seed
    return {
        "stage": comparison.stage.name.lower(),
        "winner": None if results.winner is None else valid_text(results.rows[results.winner].label),
        "verdict": results.verdict,
        "notes": list(results.notes),
        "same_tokens": results.same_tokens,
        "rounds": comparison.rounds,
        "together": comparison.plan.together,
        "loaded_in_turn": comparison.in_turn,
        "settings": settings,
        "prompt": asked.prompt,
        "lanes": [{**_plain(row), **_of_lane(lane)} for row, lane in zip(results.rows, comparison.lanes, strict=True)],
    }


def _of_lane(lane: Lane) -> dict[str, Any]:
    model, made, failed = lane.model, lane.made, lane.failed
    return {
        "phase": lane.phase.name.lower(),
        "model": None
        if model is None
        else {
            "name": valid_text(model.name),
            "file": valid_text(model.file),
            "architecture": valid_text(model.architecture),
            "parameters": model.parameters,
            "context": model.context,
            "threads": model.threads,
            "gpu_layers": model.gpu_layers,
            "devices": list(model.devices),
        },
        "made": None
        if made is None
        else {"from": made.source_quantization, "reused": made.reused, "fallbacks": list(made.fallbacks)},
        "error": None if failed is None else {"what": failed.what, "reason": failed.reason, "remedy": failed.remedy},
        "answers": [_answer(one) for one in lane.rounds],
    }


def _answer(one: Round) -> str:
    stream = TextStream()
    parts: list[tuple[int, str]] = []
    for event in one.events:
        if isinstance(event, Token):
            parts += stream.feed(event)
        elif isinstance(event, Finished):
            parts += stream.finish(event)
    return "".join(text for _, text in [*parts, *stream.flush()])
