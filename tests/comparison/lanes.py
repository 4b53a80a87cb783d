"""Lanes made by hand: how long each round took, and what happened in it."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from decodescope.backends.events import (
    Event,
    Failed,
    Finished,
    PrefillProgress,
    PromptReady,
    Quantized,
    RequestTaken,
    Token,
)
from decodescope.backends.launch import ScriptFile
from decodescope.backends.requests import Sampling
from decodescope.backends.token_facts import Scheduling
from decodescope.comparison.lane import Lane, LanePhase, Round
from decodescope.comparison.plan import LanePlan
from decodescope.metrics.run import Run

from ..small_model import SMALL

MS = 1_000_000
MIB = 2**20
PROMPT = tuple(range(100))

MODEL = replace(SMALL, quantization="Q8_0", bytes=100 * MIB, parameters=100_000_000)


def a_round(
    ms: float = 10.0,
    *,
    number: int = 1,
    prefill: float = 100.0,
    ids: Sequence[int] = tuple(range(20)),
    end: str | None = "length",
    cached: int = 0,
    prompt: tuple[int, ...] = PROMPT,
    piece: bytes = b"abcd",
    slow: int = 0,
    facts: Scheduling | None = None,
) -> Round:
    """A round with a token every ``ms`` ms, the first one 10 ms after a prefill of ``prefill`` ms.

    The last ``slow`` tokens take ten times as long; ``facts`` are the first token's. ``end``: a reason to finish,
    ``failed``, or ``None`` while it is under way.
    """
    t = 0
    events: list[Event] = [
        RequestTaken(t=t, request=number, prompt="x", sampling=Sampling(), seed=1),
        PromptReady(t=t, tokens=prompt, cached=cached),
    ]
    t += round(prefill * MS)
    events.append(PrefillProgress(t=t, processed=len(prompt), cached=cached, total=len(prompt)))
    t += 10 * MS
    for index, id in enumerate(ids, 1):
        if index > 1:
            t += round(ms * MS * (10 if index > len(ids) - slow else 1))
        events.append(
            Token(
                t=t, index=index, id=id, piece=piece, decode_ns=1, sample_ns=1, scheduling=facts if index == 1 else None
            )
        )
    if end == "failed":
        events.append(Failed(t=t, stage="generate", what="It failed."))
    elif end is not None:
        events.append(Finished(t=t, reason=end))  # type: ignore[arg-type]
    taken = events[0]
    assert isinstance(taken, RequestTaken)
    run = Run(taken)
    for event in events[1:]:
        run.apply(event)
    return Round(number, run, events)


def a_lane(
    number: int,
    label: str,
    *rounds: Round | float,
    phase: LanePhase = LanePhase.DONE,
    failed: Failed | None = None,
    made: Quantized | None = None,
    model: dict[str, Any] | None = None,
    note: str = "",
) -> Lane:
    """A lane with these rounds; a number stands for a round with a token every so many ms."""
    lane = Lane(number, LanePlan(label, ScriptFile(Path("a.jsonl"))), phase)
    lane.failed, lane.made, lane.scores_note = failed, made, note
    lane.model = msgspec.structs.replace(MODEL, quantization=label, **(model or {}))
    for place, one in enumerate(rounds, 1):
        made_round = a_round(one, number=place) if isinstance(one, int | float) else one
        made_round.number = place
        lane.rounds.append(made_round)
    return lane
