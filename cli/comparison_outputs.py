"""The result of a comparison in the forms that are printed."""

import json
from enum import Enum, auto
from typing import Any

from ..backends.text import written_by
from ..comparison.export import as_json
from ..comparison.formats import as_csv, as_markdown
from ..comparison.lane import Lane
from ..comparison.results import Results
from ..comparison.retold import RetoldComparison
from ..comparison.runner import Comparison
from ..comparison.table import as_rows, columns
from ..metrics.summary import failure
from .columns import table
from .options import valid_text
from .streams import data_width


class Form(Enum):
    """How the result is printed."""

    TABLE = auto()
    JSON = auto()
    CSV = auto()
    MD = auto()


Ended = Comparison | RetoldComparison
"""A comparison, now or as it was."""


def written(form: Form, comparison: Ended, results: Results, settings: dict[str, Any]) -> str:
    """Return the result as text, its last line ended; ``settings``: what all lanes were asked for."""
    match form:
        case Form.JSON:
            return (
                json.dumps(_report(comparison, results, settings), ensure_ascii=False, allow_nan=False, indent=2) + "\n"
            )
        case Form.CSV:
            return valid_text(as_csv(results))
        case Form.MD:
            report, seed = as_markdown(results, quality=_scored(results)), comparison.plan.request.sampling.seed
            return report if seed < 0 else f"{report}\nSeed {seed}, the same for all lanes.\n"
        case Form.TABLE:
            return _table(results)


def said(results: Results, form: Form) -> str:
    """Return what stands below the result, for stderr; empty where it is in the result itself."""
    return "" if form is Form.MD else "\n".join([results.verdict, *results.notes])


def _scored(results: Results) -> bool:
    return any(row.perplexity is not None for row in results.rows)


def _table(results: Results) -> str:
    shown = columns(results, wide=True, quality=_scored(results))
    right = [place for place, column in enumerate(shown) if column.right]
    return "".join(f"{line}\n" for line in table(as_rows(results, shown, full=True), [0], data_width(), right))


def _report(comparison: Ended, results: Results, settings: dict[str, Any]) -> dict[str, Any]:
    report = as_json(results)
    report |= {
        "stage": comparison.stage.name.lower(),
        "rounds": comparison.rounds,
        "together": comparison.plan.together,
        "loaded_in_turn": comparison.in_turn,
        "prompt": comparison.plan.prompt,
        "settings": settings,
    }
    for described, lane in zip(report["lanes"], comparison.lanes, strict=True):
        described |= _of_lane(lane)
    return report


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
            "dominant_type": model.dominant_type or None,
            "parameters": model.parameters,
            "context": model.context,
            "threads": model.threads,
            "gpu_layers": model.gpu_layers,
            "devices": list(model.devices),
        },
        "made": None
        if made is None
        else {"from": made.source_quantization, "reused": made.reused, "fallbacks": list(made.fallbacks)},
        "error": None if failed is None else failure(failed),
        "warnings": lane.warnings,
        "answers": [written_by(one.events).text for one in lane.rounds],
    }
