"""What the facts about each token cost, and whether they name what disturbs it."""

import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from decodescope.backends.contract import Backend
from decodescope.backends.events import Event, Finished, RequestTaken, Token
from decodescope.backends.requests import Request, Sampling
from decodescope.metrics.disturbance import Cause
from decodescope.metrics.run import Run

from . import PROMPT
from .engine_speed import TOKENS, collect, decode_ns, engine
from .figures import Figure, paired_ratio

PAIRS = 15
ROUNDS = 3
JUDGED_TOKENS = 200
SLOW_FACTOR = 3
_BUSY = "while True: pass"


def cost_of_probabilities() -> list[Figure]:
    """Decode with probability facts against decode without."""
    costs: list[int] = []
    with engine(context=2048) as backend:

        def measured(probabilities: bool) -> float:
            events = _generate(backend, TOKENS, probabilities)
            costs.extend(
                event.probability.cost_ns for event in events if isinstance(event, Token) and event.probability
            )
            return decode_ns(events)

        measured(True)
        costs.clear()
        ratio, without_ns, with_ns = paired_ratio(lambda: measured(False), lambda: measured(True), PAIRS)
    rates = f"{(TOKENS - 1) / with_ns * 1e9:.1f} and {(TOKENS - 1) / without_ns * 1e9:.1f} tok/s"
    share = statistics.median(costs) / (without_ns / (TOKENS - 1))
    return [
        Figure("decode with probability facts / without", f"{ratio:.3f}", "≥ 0.95", ratio >= 0.95, rates),
        Figure(
            "computing probability facts, share of a token",
            f"{share:.1%}",
            "≤ 5 %",
            share <= 0.05,
            f"{statistics.median(costs) / 1e6:.2f} ms",
        ),
    ]


def naming_disturbances() -> list[Figure]:
    """Quiet runs and runs beside a process that keeps one core busy, in turn."""
    quiet_shares: list[float] = []
    slow = named = 0
    levels: list[tuple[float, float]] = []
    with engine(context=2048) as backend:
        _run(backend, 32)
        for _ in range(ROUNDS):
            quiet = _run(backend, JUDGED_TOKENS)
            quiet_shares.append(float(quiet.outliers.mean()))
            with busy_core():
                busy = _run(backend, JUDGED_TOKENS)
            median = float(np.median(quiet.itl_ns))
            is_slow = busy.itl_ns > SLOW_FACTOR * median
            slow += int(is_slow.sum())
            named += int((busy.causes[1:][is_slow] == Cause.PREEMPTED).sum())
            levels.append((median / 1e6, (busy.usual_ns or 0) / 1e6))
    share = statistics.median(quiet_shares)
    told = ", ".join(f"{median:.1f}/{usual:.1f}" for median, usual in levels)
    return [
        Figure(
            "tokens marked as disturbed in a quiet run",
            f"{share:.1%}",
            "≤ 2 %",
            share <= 0.02,
            f"median of {', '.join(f'{one:.1%}' for one in quiet_shares)}",
        ),
        Figure(
            f"tokens over {SLOW_FACTOR}× the quiet median, one core busy, named pre-empted",
            "none so slow" if slow == 0 else f"{named / slow:.1%}",
            "≥ 90 %",
            None if slow == 0 else named >= 0.9 * slow,
            f"{named} of {slow}; quiet median/usual time found when busy, ms: {told}",
        ),
    ]


@contextmanager
def busy_core() -> Iterator[None]:
    """Another process that never rests."""
    process = subprocess.Popen([sys.executable, "-c", _BUSY])
    try:
        time.sleep(0.3)
        yield
    finally:
        process.kill()
        process.wait()


def _generate(backend: Backend, tokens: int, probabilities: bool = False) -> list[Event]:
    sampling = Sampling(temp=0, ignore_eos=True)
    backend.generate(Request(prompt=PROMPT, max_tokens=tokens, sampling=sampling, probabilities=probabilities))
    return collect(backend, Finished)


def _run(backend: Backend, tokens: int) -> Run:
    events = _generate(backend, tokens)
    run = Run(next(event for event in events if isinstance(event, RequestTaken)))
    for event in events:
        run.apply(event)
    return run
