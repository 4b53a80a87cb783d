"""``bench`` beside ``llama-bench`` on the same build, where that tool is at hand."""

import json
import os
import shutil
import statistics
import subprocess
import sys
from collections.abc import Sequence

from decodescope.metrics.bootstrap import ratio_interval
from decodescope.models.demo import demo_path

from . import THREADS
from .figures import Figure

PAIRS = 20
REPETITIONS = 3
PROMPT_TOKENS, GENERATED = 256, 64
TOLERANCE = 0.03
NAMES = {(PROMPT_TOKENS, 0): f"pp{PROMPT_TOKENS}", (0, GENERATED): f"tg{GENERATED}"}


def beside_llama_bench() -> list[Figure]:
    """Rates of both on the demo model, in turn; the variable LLAMA_BENCH names the tool where PATH has none.

    Of every run the fastest repetition counts: whatever else the machine does only ever takes time.
    """
    peer = os.environ.get("LLAMA_BENCH") or shutil.which("llama-bench")
    target = f"within {TOLERANCE:.0%}"
    if peer is None:
        missing = "there is no llama-bench here; LLAMA_BENCH=… names one"
        return [
            Figure(f"bench / llama-bench, {name}", "not measured", target, None, missing) for name in NAMES.values()
        ]
    commands = ([sys.executable, "-m", "decodescope", "bench"], [peer])
    rates: tuple[list[dict[str, float]], list[dict[str, float]]] = ([], [])
    for number in range(PAIRS):
        # The order within a pair alternates, so that neither always comes second.
        for which in (0, 1) if number % 2 else (1, 0):
            rates[which].append(_rates(commands[which]))
    return [_figure(name, *([one[name] for one in side] for side in rates), target) for name in NAMES.values()]


def _figure(name: str, ours: Sequence[float], theirs: Sequence[float], target: str) -> Figure:
    ratio = statistics.median(first / second for first, second in zip(ours, theirs, strict=True))
    detail = f"{statistics.median(ours):.1f} and {statistics.median(theirs):.1f} tok/s, {len(ours)} pairs"
    if (interval := ratio_interval(ours, theirs)) is not None:
        detail += f", 95 % interval of the means {interval.low:.3f} to {interval.high:.3f}"
    return Figure(f"bench / llama-bench, {name}", f"{ratio:.3f}", target, abs(ratio - 1) <= TOLERANCE, detail)


def _rates(command: list[str]) -> dict[str, float]:
    """Run one of the two; return the fastest repetition of each test, tokens per second."""
    numbers = {"-p": PROMPT_TOKENS, "-n": GENERATED, "-r": REPETITIONS, "-t": THREADS}
    flags = [word for flag, number in numbers.items() for word in (flag, str(number))]
    done = subprocess.run(
        [*command, "-m", str(demo_path()), *flags, "-o", "json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        check=True,
    )
    return {NAMES[row["n_prompt"], row["n_gen"]]: max(row["samples_ts"]) for row in json.loads(done.stdout)}
