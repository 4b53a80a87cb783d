"""Moving a comparison to where a test wants it."""

import select
import time
from collections.abc import Callable
from pathlib import Path

from decodescope.backends.events import Event
from decodescope.backends.launch import ScriptFile, Source
from decodescope.backends.requests import EngineSettings, Message, Request, Sampling
from decodescope.comparison.plan import ComparisonPlan, LanePlan
from decodescope.comparison.runner import Comparison, Stage

from ..conftest import DEADLINE_SECONDS

ENDED = (Stage.DONE, Stage.CANCELLED)


def plan(
    *sources: Source | Path,
    rounds: int = 1,
    together: bool = False,
    quality: bool = False,
    text: str | None = None,
    tokens: int = 8,
    prompt: str = "Why is the sky blue?",
    make: tuple[str | None, ...] = (),
    context: int = 0,
    micro_batch: int = 512,
) -> ComparisonPlan:
    """A plan with a lane for each source; paths are scripts."""
    lanes = [
        LanePlan(f"lane {number}", ScriptFile(source) if isinstance(source, Path) else source, kind)
        for number, (source, kind) in enumerate(zip(sources, make or (None,) * len(sources), strict=True))
    ]
    return ComparisonPlan(
        lanes=tuple(lanes),
        settings=EngineSettings(context=context, batch=micro_batch, micro_batch=micro_batch, threads=1),
        request=Request(messages=(Message("user", prompt),), sampling=Sampling(seed=7), max_tokens=tokens),
        rounds=rounds,
        together=together,
        quality=quality,
        text=text,
    )


def drive(
    comparison: Comparison, until: Callable[[list[tuple[int, Event]]], bool] = lambda events: False
) -> list[tuple[int, Event]]:
    """Read until the comparison has ended or ``until``, given the new events, says so; returns all events."""
    deadline = time.monotonic() + DEADLINE_SECONDS
    events: list[tuple[int, Event]] = []
    while comparison.stage not in ENDED:
        assert time.monotonic() < deadline, f"still {comparison.stage}"
        select.select(list(comparison.filenos()), [], [], 1)
        new = comparison.receive()
        events += new
        if until(new):
            break
    return events


def finish(comparison: Comparison) -> list[tuple[int, Event]]:
    """Start and read to the end."""
    return comparison.start() + drive(comparison)
