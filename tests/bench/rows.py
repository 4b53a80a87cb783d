"""Rows made by hand."""

from collections.abc import Sequence
from pathlib import Path

from msgspec.structs import replace

from decodescope.backends.events import Measured, MeasuredWith
from decodescope.backends.launch import ScriptFile
from decodescope.backends.requests import EngineSettings
from decodescope.backends.token_facts import Scheduling
from decodescope.bench.figures import Row, repetition
from decodescope.bench.plan import BenchPlan, Group, Trial
from decodescope.traces.header import LlamaBuild

from ..small_model import SMALL

MS = 1_000_000
BUILD = LlamaBuild(package="0.3.36", version="0.5.0", commit="0c1e570", number=1)
WITH = MeasuredWith(t=0, model="llama 256M Q4_1", processors=("a processor",), gpus=(), backends=("CPU",))
MODEL = replace(SMALL, name="a model", file="/m/a.gguf", bytes=96_576_768, parameters=134_515_008, context=1024)


def measured(gaps: Sequence[float] = (), prompt: float | None = None, waits: Sequence[float] | None = None) -> Measured:
    """A measurement; everything in ms. ``waits``: the longest wait for a core in each gap."""
    own = [round(gap * MS) for gap in gaps]
    prompt_ns = None if prompt is None else round(prompt * MS)
    return Measured(
        t=7 + sum(own) + (prompt_ns or 0),
        started=7,
        prompt_ns=prompt_ns,
        prompt_scheduling=None,
        gaps=tuple(own),
        decode_ns=tuple(own),
        sample_ns=(0,) * len(own),
        scheduling=tuple(Scheduling(wait_ns=round(wait * MS), longest_wait_ns=round(wait * MS)) for wait in waits)
        if waits is not None
        else (None,) * len(own),
    )


def a_group(*trials: Trial, settings: EngineSettings | None = None) -> Group:
    return Group("a model", ScriptFile(Path("a.jsonl")), settings or EngineSettings(), trials)


def a_row(trial: Trial, *repetitions: Measured) -> Row:
    return Row(
        group=a_group(trial),
        trial=trial,
        model=MODEL,
        ran_with=WITH,
        began=0.0,
        repetitions=tuple(repetition(trial, one) for one in repetitions),
    )


def a_plan(*rows: Row) -> BenchPlan:
    return BenchPlan(groups=tuple(row.group for row in rows))
