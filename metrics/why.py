"""Why a model is slower to write than to read, in the figures of one run.

Reading, the tokens of a micro-batch share one pass over the weights. Writing, every token takes a pass of its own.
"""

from typing import Literal

import msgspec

from ..backends.events import ModelReady
from .floor import MemoryFloor, mean_depth, token_bytes
from .prefill import PrefillFit
from .run import FEWEST_READ, Run

Unit = Literal["tokens/s", "times", "bytes", "ns"]


class Fact(msgspec.Struct, frozen=True):
    """One line of the explanation."""

    label: str
    value: float | None
    """In ``unit``; ``None`` when this run does not tell."""
    unit: Unit
    note: str
    """What it is, in a few words."""


class Why(msgspec.Struct, frozen=True, kw_only=True):
    """The explanation as values; ``None`` where this run does not tell."""

    read_rate: float | None
    """Prompt tokens evaluated per second."""
    write_rate: float | None
    """Tokens written per second."""
    ratio: float | None
    """``read_rate / write_rate``."""
    bytes_per_prompt_token: float | None
    """Bytes read for a prompt token, at most: (passes × weights + KV cache read once per pass) / tokens evaluated."""
    bytes_per_token: float | None
    """Bytes read for a written token, at least, mean over the run: weights + KV cache."""
    micro_batch: int | None
    """Prompt tokens that share a pass over the weights, at most."""
    floor_ns: float | None
    """Time per output token that memory bandwidth alone demands, at the run's mean depth."""
    longer_prompt_ns: float | None
    """What a prompt twice as long would add to the TTFT, without any of it cached beyond what is."""
    longer_answer_ns: float | None
    """What an answer twice as long would add, at this run's TPOT; deeper context makes it a little more."""
    cached_tokens: int | None
    """Prompt tokens that needed no reading."""
    saved_ns: float | None
    """What reading those would have taken, by this run or, where it read too little, by the run before it; ``None``
    when there are none."""


def explain(run: Run, model: ModelReady | None, floor: MemoryFloor | None = None) -> Why:
    """Return what ``run`` on ``model`` says; ``floor`` where the machine's bandwidth is known and applies."""
    read, write = run.prefill_rate, run.decode_rate
    depth = mean_depth(run)
    fit = _fit_of(run)
    known = fit if fit is not None or not run.forecast.settled else run.forecast.fit
    written = run.token_count if run.tpot_ns is not None else None
    return Why(
        read_rate=read,
        write_rate=write,
        ratio=run.slowdown,
        bytes_per_prompt_token=_bytes_per_prompt_token(run, model),
        bytes_per_token=_bytes_per_token(model, depth),
        micro_batch=None if model is None else model.micro_batch,
        floor_ns=None if floor is None or depth is None else floor.ns(depth),
        longer_prompt_ns=_longer_prompt_ns(run, fit),
        longer_answer_ns=None if written is None or run.tpot_ns is None else written * run.tpot_ns,
        cached_tokens=run.cached_tokens,
        saved_ns=None if known is None or not run.cached_tokens else known.ns(0, run.cached_tokens),
    )


def facts(why: Why) -> tuple[Fact, ...]:
    """Return the explanation line by line, in the order in which it is told; lines without a value included."""
    shared = "" if why.micro_batch is None else f", shared by up to {why.micro_batch:,}"
    cached = f"{why.cached_tokens:,} cached tokens" if why.cached_tokens else "no cached tokens"
    return (
        Fact("read", why.read_rate, "tokens/s", "prompt tokens evaluated per second"),
        Fact("write", why.write_rate, "tokens/s", "tokens generated per second"),
        Fact("ratio", why.ratio, "times", "slower to write than to read"),
        Fact("per prompt token", why.bytes_per_prompt_token, "bytes", f"read from memory at most{shared}"),
        Fact(
            "per written token", why.bytes_per_token, "bytes", "read from memory: all weights it needs, and the context"
        ),
        Fact("floor", why.floor_ns, "ns", "time per token that memory alone demands"),
        Fact("prompt twice as long", why.longer_prompt_ns, "ns", "more until the first token"),
        Fact("answer twice as long", why.longer_answer_ns, "ns", "more until the end"),
        Fact("saved by the cache", why.saved_ns, "ns", cached),
    )


def _bytes_per_token(model: ModelReady | None, depth: float | None) -> float | None:
    if model is None or depth is None or not model.weight_bytes_per_token:
        return None
    return token_bytes(model.weight_bytes_per_token, model.kv_bytes_per_token, model.sliding_window, depth)


def _bytes_per_prompt_token(run: Run, model: ModelReady | None) -> float | None:
    evaluated, cached = run.evaluated_tokens, run.cached_tokens
    if model is None or not model.weight_bytes_per_pass or not evaluated or cached is None:
        return None
    starts = range(0, evaluated, model.micro_batch)
    depths = sum(cached + min(start + model.micro_batch, evaluated) for start in starts)
    return (len(starts) * model.weight_bytes_per_pass + depths * model.kv_bytes_per_token) / evaluated


def _fit_of(run: Run) -> PrefillFit | None:
    """Return the cost of a prompt token against its depth, such that this run's prefill takes what it took.

    The forecast knows of earlier runs; its shape is kept, its level is this run's. ``None`` when too little was read.
    """
    fit, took, read = run.forecast.fit, run.prefill_ns, run.evaluated_tokens
    if fit is None or not took or not read or read < FEWEST_READ or run.cached_tokens is None:
        return None
    factor = took / fit.ns(run.cached_tokens, run.cached_tokens + read)
    return PrefillFit(fit.base_ns * factor, fit.growth_ns * factor)


def _longer_prompt_ns(run: Run, fit: PrefillFit | None) -> float | None:
    tokens = run.prompt_tokens
    return None if fit is None or not tokens or not run.prefill_done else fit.ns(tokens, 2 * tokens)
