"""Comparisons that are kept in a file while they run."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from decodescope.comparison.export import as_json
from decodescope.comparison.keeping import KeptComparison
from decodescope.comparison.plan import ComparisonPlan
from decodescope.comparison.retold import RetoldComparison
from decodescope.comparison.runner import Comparison
from decodescope.traces.reader import Trace, read_trace
from decodescope.traces.recording import Recording
from decodescope.traces.versions import SEVERAL_ENGINES
from decodescope.traces.writer import TraceWriter

from .driving import finish

SETTINGS = {"seed": 7}


def kept(
    asked: ComparisonPlan,
    path: Path,
    *,
    text: bool = True,
    course: Callable[[Comparison], Any] = finish,
) -> KeptComparison:
    """Run a comparison by ``course``, to its end if nothing else is said, with a recording in ``path``."""
    recording = Recording(TraceWriter(path), SETTINGS, text=text, format=SEVERAL_ENGINES)
    comparison = KeptComparison(asked, recording)
    try:
        course(comparison)
    finally:
        comparison.close()
        recording.close()
    assert recording.news() is None
    return comparison


def retold(path: Path) -> RetoldComparison:
    """Return what a file tells, in which everything is as it should be."""
    trace = read_trace(path)
    assert trace.notes == ()
    return retold_of(trace)


def retold_of(trace: Trace) -> RetoldComparison:
    comparison = RetoldComparison(trace)
    assert comparison.notes == ()
    return comparison


def state(comparison: Comparison | RetoldComparison) -> dict[str, Any]:
    """Everything that the table, the verdict and the files say of a comparison."""
    return {
        **as_json(comparison.results),
        "stage": comparison.stage,
        "round": comparison.round,
        "rounds": comparison.rounds,
        "in_turn": comparison.in_turn,
        "prompt": comparison.plan.prompt,
        "phases": [lane.phase for lane in comparison.lanes],
        "models": [lane.model for lane in comparison.lanes],
        "made": [lane.made for lane in comparison.lanes],
        "failed": [lane.failed for lane in comparison.lanes],
    }


def events_of(comparison: Comparison | RetoldComparison) -> list[list[Any]]:
    return [[(one.number, one.events) for one in lane.rounds] for lane in comparison.lanes]
