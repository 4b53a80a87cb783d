"""A lane of a comparison beside the same run alone, and beside itself, on quantizations of the demo model."""

import os
import select
import statistics
import time
from dataclasses import replace
from pathlib import Path

from decodescope.backends.contract import Backend
from decodescope.backends.events import Failed, ModelReady, Quantized
from decodescope.backends.launch import launch
from decodescope.backends.quantizing import start_quantizing
from decodescope.backends.requests import EngineSettings, Request, Sampling
from decodescope.comparison.plan import ComparisonPlan, LanePlan
from decodescope.comparison.results import results
from decodescope.comparison.runner import Comparison, Stage
from decodescope.models.demo import demo_path
from decodescope.models.facts import ModelFile, read_model

from . import PROMPT, THREADS
from .engine_speed import FRAME_SECONDS, collect, decode_ns, generate
from .figures import Figure

TYPES = ("Q8_0", "Q4_0", "Q2_K")
TOKENS = 128
PAIRS = 6
SELF_COMPARISONS, SELF_ROUNDS, SELF_TOKENS = 20, 5, 24
SETTINGS = EngineSettings(threads=THREADS, context=2048)


def lane_against_alone() -> list[Figure]:
    """Decode of every lane of a one-at-a-time comparison, all four loaded, against an engine that is alone."""
    models = [read_model(demo_path()), *(quantized(kind) for kind in TYPES)]
    ratios, lanes_ns, alone_ns = [], [], []
    for number in range(PAIRS):
        # The order within a pair alternates, so that neither always comes second.
        if number % 2:
            alone = [decode_alone(model) for model in models]
            lanes = decode_compared(models)
        else:
            lanes = decode_compared(models)
            alone = [decode_alone(model) for model in models]
        ratios += [first / second for first, second in zip(alone, lanes, strict=True)]
        lanes_ns += lanes
        alone_ns += alone
    ratio = statistics.median(ratios)
    rates = [(TOKENS - 1) * 1e9 / statistics.median(times) for times in (lanes_ns, alone_ns)]
    return [
        Figure(
            "decode, lane of a comparison of four / the same run alone",
            f"{ratio:.3f}",
            "≥ 0.98",
            ratio >= 0.98,
            f"{rates[0]:.1f} and {rates[1]:.1f} tok/s, {len(ratios)} pairs",
        )
    ]


def quantized(kind: str) -> ModelFile:
    """Return the demo model in another type, made if need be."""
    making = start_quantizing(read_model(demo_path()), kind)
    try:
        while not making.closed:
            for event in making.receive(None):
                if isinstance(event, Failed):
                    raise RuntimeError(f"{event.what} {event.reason}")
                if isinstance(event, Quantized):
                    return read_model(Path(os.fsdecode(event.path)))
    finally:
        making.close()
    raise RuntimeError("nothing was made")


def decode_alone(model: ModelFile) -> float:
    """From the first to the last token of the second run of an engine that is launched for it, ns."""
    backend: Backend = launch(model, SETTINGS)
    try:
        collect(backend, ModelReady)
        generate(backend, PROMPT, TOKENS)
        return decode_ns(generate(backend, PROMPT, TOKENS))
    finally:
        backend.close()


def lane_against_itself() -> list[Figure]:
    """A model beside itself: what it scores, and how often chance alone makes one of the two the winner."""
    comparison = compared(
        [read_model(demo_path())] * 2, tokens=SELF_TOKENS, rounds=SELF_COMPARISONS * SELF_ROUNDS, quality=True
    )
    winners = 0
    for number in range(SELF_COMPARISONS):
        part = slice(number * SELF_ROUNDS, (number + 1) * SELF_ROUNDS)
        winners += (
            results([replace(lane, rounds=lane.rounds[part]) for lane in comparison.lanes], together=False).winner
            is not None
        )
    found = comparison.results.rows[1]
    if found.mean_kld is None or found.same_top is None:
        raise RuntimeError(f"nothing was scored: {found.scores_note}")
    kld, same = found.mean_kld.value, found.same_top.value
    rounds = f"{SELF_COMPARISONS} of {SELF_ROUNDS} rounds of {SELF_TOKENS} tokens"
    return [
        Figure("a lane compared with itself: Mean KLD", f"{kld:.2g}", "< 1e-6", abs(kld) < 1e-6),
        Figure("a lane compared with itself: same top", f"{same:.1%}", "100 %", same == 1),
        Figure("a lane compared with itself: winners named", f"{winners}", "≤ 1 of 20", winners <= 1, rounds),
    ]


def decode_compared(models: list[ModelFile]) -> list[float]:
    """The same of each lane of a comparison: its second round, looked at once per frame as the screen does."""
    comparison = compared(models, tokens=TOKENS, rounds=2, quality=False)
    if comparison.in_turn:
        raise RuntimeError("there is not enough memory for four lanes")
    return [decode_ns(lane.rounds[1].events) for lane in comparison.lanes]


def compared(models: list[ModelFile], *, tokens: int, rounds: int, quality: bool) -> Comparison:
    """Return a comparison that is over, one lane at a time, its engines closed."""
    plan = ComparisonPlan(
        lanes=tuple(LanePlan(str(number), model) for number, model in enumerate(models)),
        settings=SETTINGS,
        request=Request(prompt=PROMPT, max_tokens=tokens, sampling=Sampling(temp=0, ignore_eos=True, seed=1)),
        rounds=rounds,
        quality=quality,
    )
    comparison = Comparison(plan)
    try:
        comparison.start()
        while comparison.stage not in (Stage.DONE, Stage.CANCELLED):
            time.sleep(FRAME_SECONDS)
            select.select(list(comparison.filenos()), [], [], 60)
            comparison.receive()
    finally:
        comparison.close()
    return comparison
