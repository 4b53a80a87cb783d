"""Latency figures of one generation, in vLLM's definitions.

Times are integer nanoseconds of one clock. ``None`` means that there is no value.
"""

import msgspec
import numpy as np

from .series import Int64Array


def ttft_ns(taken: int, token_times: Int64Array) -> int | None:
    """Time to first token: first token available − request taken by the engine.

    Templating, tokenizing, prefill and the first sample are in it; loading the model and drawing are not. Reasoning
    tokens count. ``token_times``: shape (n,).
    """
    return None if len(token_times) == 0 else int(token_times[0]) - taken


def ttfa_ns(taken: int, token_times: Int64Array, answer: Int64Array) -> int | None:
    """Time to first answer: as TTFT, to the first token that holds part of the answer; ``None``: none does.

    ``answer``: shape (n,), non-zero where a token does.
    """
    places = np.flatnonzero(answer)
    return None if len(places) == 0 else int(token_times[places[0]]) - taken


def block(flags: Int64Array, place: int) -> tuple[int, int]:
    """Return the first and the last place of the run of non-zero ``flags`` (shape (n,)) around ``place``, from 0.

    A place that is not flagged itself is taken for the beginning of what follows it.
    """
    first = last = place
    if flags[place]:
        before = np.flatnonzero(flags[:place] == 0)
        first = int(before[-1]) + 1 if len(before) else 0
    after = np.flatnonzero(flags[place + 1 :] == 0)
    last = place + int(after[0]) if len(after) else len(flags) - 1
    return first, last


def itl_ns(token_times: Int64Array) -> Int64Array:
    """Inter-token latencies: the gaps between consecutive tokens, shape (n − 1,)."""
    return np.diff(token_times)


def tpot_ns(token_times: Int64Array) -> float | None:
    """Time per output token: (last token − first token) / (N − 1); ``None`` below two tokens."""
    if len(token_times) < 2:
        return None
    return (int(token_times[-1]) - int(token_times[0])) / (len(token_times) - 1)


def e2e_ns(taken: int, token_times: Int64Array) -> int | None:
    """End to end: last token − request taken."""
    return None if len(token_times) == 0 else int(token_times[-1]) - taken


def rate_per_second(count: int, duration_ns: float) -> float | None:
    """``count`` things in ``duration_ns``, per second; ``None`` when nothing was done or no time passed."""
    return None if count <= 0 or duration_ns <= 0 else count * 1e9 / duration_ns


class Percentiles(msgspec.Struct, frozen=True):
    """Distribution of the ITLs in ns, linear interpolation between the closest ranks."""

    p50: float
    p95: float
    p99: float
    max: float


def percentiles(gaps: Int64Array) -> Percentiles | None:
    """p50, p95, p99 and the maximum of ``gaps`` (shape (n,), ns); ``None`` when it is empty."""
    if len(gaps) == 0:
        return None
    p50, p95, p99 = np.percentile(gaps, [50, 95, 99], method="linear")
    return Percentiles(float(p50), float(p95), float(p99), float(gaps.max()))
