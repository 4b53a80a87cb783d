"""The summary, as ``run --json`` prints it."""

import json
from typing import Any

from ...backends.events import Failed
from ...backends.text import well_formed
from ...metrics.summary import failure, summarize, texts
from .subject import Export, Subject


def as_json(export: Export) -> str:
    """Return an object, or an array of objects where there are several generations; ``generation`` is its number."""
    found = [_summary(subject) for subject in export.subjects]
    text = json.dumps(found[0] if len(found) == 1 else found, ensure_ascii=False, allow_nan=False, indent=2)
    return well_formed(text) + "\n"


def _summary(subject: Subject) -> dict[str, Any]:
    run = subject.run
    summary = summarize(run, subject.generation.model, subject.settings)
    summary["error"] = failure(run.end) if isinstance(run.end, Failed) else None
    summary["warnings"] = list(subject.warnings)
    summary |= texts(run, subject.text)
    summary["generation"] = subject.number
    return summary
