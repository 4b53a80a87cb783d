"""The figures of a generation as people read them: the same digits in every form, as on the screen."""

from collections.abc import Iterator

import msgspec

from ...metrics import numbers
from ...metrics.ending import ending
from ...metrics.run import Run
from .subject import Subject


class Figure(msgspec.Struct, frozen=True):
    """One figure."""

    name: str
    label: str
    """What the screen calls it."""
    text: str
    """With its unit; a dash where there is no value."""


def figures(subject: Subject) -> tuple[Figure, ...]:
    """Return the figures in the order in which they are told."""
    return tuple(_figures(subject))


def _figures(subject: Subject) -> Iterator[Figure]:
    run, model = subject.run, subject.generation.model
    gaps = run.percentiles
    yield Figure("ttft", "TTFT", numbers.milliseconds(run.ttft_ns))
    if run.reasoning_tokens:
        yield Figure("ttfa", "TTFA", numbers.milliseconds(run.ttfa_ns))
    yield Figure("tpot", "TPOT", numbers.milliseconds(run.tpot_ns))
    for name in ("p50", "p95", "p99", "max"):
        yield Figure(name, f"ITL {name}", numbers.milliseconds(None if gaps is None else getattr(gaps, name)))
    yield Figure("write", "write", numbers.rate(run.decode_rate))
    yield Figure("read", "read", numbers.rate(run.prefill_rate))
    yield Figure("slowdown", "slowdown", numbers.times(run.slowdown))
    yield Figure("prompt", "prompt tokens", numbers.count(run.prompt_tokens))
    yield Figure("cached", "cached", numbers.count(run.cached_tokens))
    yield Figure("tokens", "tokens", numbers.count(run.token_count))
    yield Figure("elapsed", "elapsed", numbers.seconds(run.elapsed_ns))
    yield Figure("load", "load", numbers.seconds(None if model is None else model.load_ns))
    yield Figure("warmup", "warm-up", numbers.seconds(None if model is None else model.warmup_ns))
    yield Figure("seed", "seed", str(run.taken.seed))
    yield Figure("end", "end", ending(run, run.finish_reason))


def verdict(run: Run) -> str:
    """Return in a sentence whether the run was quiet enough to be quoted."""
    found = run.disturbance
    if found is None:
        return "Too few tokens to tell whether the run was disturbed."
    told = f"{found.sentence[0].upper()}{found.sentence[1:]}"
    return f"{told}: to be quoted." if found.quotable else f"{told}: not to be quoted."
