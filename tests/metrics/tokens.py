"""Runs made by hand: gaps in ms and what happened in them."""

from collections.abc import Iterable
from typing import Any

from decodescope.backends.events import RequestTaken, Token
from decodescope.backends.requests import Sampling
from decodescope.backends.token_facts import Probability, Scheduling
from decodescope.metrics.run import Run

MS = 1_000_000


def gap(
    ms: float, *, sample: float = 0.0, rest: float = 0.0, cost: float | None = None, **facts: Any
) -> dict[str, Any]:
    """One token: its time and what sampling, the loop and probabilities took of it, in ms; its scheduling facts."""
    probability = None
    if cost is not None:
        probability = Probability(logprob=-1.0, rank=1, entropy_nats=1.0, top=(), cost_ns=round(cost * MS))
    return {
        "gap": round(ms * MS),
        "decode_ns": round((ms - sample - rest - (cost or 0)) * MS),
        "sample_ns": round(sample * MS),
        "scheduling": Scheduling(**facts) if facts else None,
        "probability": probability,
    }


def waiting(ms: float, lost: float, switches: int = 37) -> dict[str, Any]:
    """A token of ``ms`` ms, ``lost`` of which one of its threads had no core."""
    wait = round(lost * MS)
    return gap(ms, involuntary_switches=switches, wait_ns=wait, longest_wait_ns=wait, minor_faults=0, major_faults=0)


def run_with(*gaps: dict[str, Any] | Iterable[dict[str, Any]]) -> Run:
    """A run whose first token came 100 ms after the request, and then these."""
    run = Run(RequestTaken(t=0, request=1, prompt="x", sampling=Sampling(), seed=1))
    run.apply(Token(t=100 * MS, index=1, id=1, piece=b"x", decode_ns=0, sample_ns=0))
    t, index = 100 * MS, 1
    for entry in gaps:
        for fields in [entry] if isinstance(entry, dict) else entry:
            t, index = t + fields["gap"], index + 1
            rest = {name: value for name, value in fields.items() if name != "gap"}
            run.apply(Token(t=t, index=index, id=index, piece=b"x", **rest))
    return run
