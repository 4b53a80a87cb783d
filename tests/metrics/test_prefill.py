"""How a prefill will go on."""

import random
from collections.abc import Iterator

import msgspec
import numpy as np
import pytest

from decodescope.backends.events import PrefillProgress, PromptReady
from decodescope.metrics.prefill import (
    NO_PRIOR,
    PrefillFit,
    PrefillForecast,
    PrefillPrior,
    forecast_for,
    prior_of_model,
)

from .test_summary import MODEL

MS = 1_000_000
TRUTH = PrefillFit(base_ns=4 * MS, growth_ns=1000)
"""4 ms a token at first, 1 µs more for each token before it: at depth 4,000 it is twice as much."""
RATIO = 1000 / (4 * MS)
OPEN = PrefillPrior(0.0, 1.0)
"""Expects nothing, so that only what is measured counts."""


def progress(
    total: int,
    cached: int = 0,
    micro_batch: int = 512,
    updates: int = 32,
    noise: float = 0.0,
    seed: int = 0,
    truth: PrefillFit = TRUTH,
    first: float = 1.0,
) -> Iterator[PrefillProgress]:
    """What an engine of that ``truth`` reports: even progress within each micro-batch.

    ``first``: the time of the first one over what it would take later.
    """
    chance = random.Random(seed)
    t = 0.0
    for start in range(cached, total, micro_batch):
        end = min(start + micro_batch, total)
        span = truth.ns(start, end) * (1 + noise * chance.gauss()) * (first if start == cached else 1)
        for update in range(1, updates + 1):
            done = start + (end - start) * update // updates
            yield PrefillProgress(
                t=round(t + span * (done - start) / (end - start)), processed=done, cached=cached, total=total
            )
        t += span


def prompt(total: int, cached: int = 0) -> PromptReady:
    return PromptReady(t=0, tokens=tuple(range(total)), cached=cached)


def started(total: int, cached: int = 0, micro_batch: int = 512, prior: PrefillPrior = NO_PRIOR) -> PrefillForecast:
    forecast = PrefillForecast(micro_batch, prior)
    forecast.apply(prompt(total, cached))
    return forecast


def read_to(forecast: PrefillForecast, events: list[PrefillProgress], depth: int) -> tuple[int, int]:
    """Apply events up to ``depth``; return (estimate, truth) of the time left."""
    last = events[0]
    for event in events:
        if event.processed > depth:
            break
        forecast.apply(event)
        last = event
    left = forecast.remaining_ns
    assert left is not None
    return left, events[-1].t - last.t


def test_the_cost_of_a_piece() -> None:
    # 100 tokens x 4 ms + (200² − 100²) / 2 x 1 µs
    assert TRUTH.ns(100, 200) == 400 * MS + 15_000 * 1000
    assert TRUTH.rate(0) == 250.0
    assert TRUTH.rate(4000) == 125.0


def test_an_exact_series_is_found_out() -> None:
    forecast = started(4000, prior=OPEN)
    left, truth = read_to(forecast, list(progress(4000)), 1536)
    assert left == pytest.approx(truth, rel=1e-3)
    fit = forecast.fit
    assert fit is not None
    assert fit.base_ns == pytest.approx(TRUTH.base_ns, rel=1e-3)
    assert fit.growth_ns == pytest.approx(TRUTH.growth_ns, rel=1e-3)


@pytest.mark.parametrize("depth", [100, 512, 700, 1000, 2048, 3999])
def test_with_the_right_expectation_it_is_exact_at_once(depth: int) -> None:
    left, truth = read_to(started(4000, prior=PrefillPrior(RATIO, RATIO / 2)), list(progress(4000)), depth)
    assert left == pytest.approx(truth, rel=1e-3, abs=1000)


def test_inside_a_micro_batch_progress_is_even() -> None:
    # 400 tokens in one go: half of them done means half of the time, whatever depth costs elsewhere.
    for part in (0.25, 0.5, 0.75):
        events = list(progress(400))
        left, truth = read_to(started(400, prior=PrefillPrior(RATIO, RATIO / 2)), events, round(400 * part))
        assert left == pytest.approx(truth, rel=1e-3)


def test_with_noise_a_quarter_tells_the_whole_to_within_15_percent() -> None:
    off, simple = [], []
    for seed in range(40):
        events = list(progress(4000, noise=0.05, seed=seed))
        left, truth = read_to(started(4000, prior=PrefillPrior(RATIO * 1.3, RATIO * 0.65)), events, 1000)
        off.append(abs(left / truth - 1))
        simple.append(abs((events[-1].t - truth) * 3 / truth - 1))
    assert np.percentile(off, 85) < 0.15
    assert np.median(off) < np.median(simple) / 2


@pytest.mark.parametrize("slowness", [0.41, 0.8, 1.3, 3.0, 5.0])
def test_a_quarter_tells_the_whole_whatever_attention_takes(slowness: float) -> None:
    """What the shape lets expect, on machines that compute attention and weights unlike; the first micro-batch is 5 %
    slow. At 0.41 it is a rate that falls from 1,750 to 1,200 tokens per second over 4,000 tokens of a small model."""
    growth = 3.2552e-4
    truth = PrefillFit(base_ns=0.57 * MS, growth_ns=0.57 * MS * growth * slowness)
    prior = prior_of_model(msgspec.structs.replace(MODEL, attention_growth=growth))
    off = []
    for seed in range(20):
        events = list(progress(4000, noise=0.01, seed=seed, truth=truth, first=1.05))
        left, took = read_to(started(4000, prior=prior), events, 1000)
        off.append(abs(left / took - 1))
    assert np.median(off) <= 0.15
    assert max(off) < 0.2


def test_without_any_expectation_it_beats_the_simple_rate() -> None:
    events = list(progress(4000))
    left, truth = read_to(started(4000), events, 1500)
    simple = (events[-1].t - truth) * (4000 - 1500) / 1500
    assert abs(left - truth) < abs(simple - truth) / 2


def test_a_cached_prefix_begins_deep() -> None:
    forecast = started(4000, cached=2000, prior=OPEN)
    left, truth = read_to(forecast, list(progress(4000, cached=2000)), 3536)
    assert left == pytest.approx(truth, rel=1e-3)
    depths, rates = forecast.rate_against_depth
    assert depths.tolist() == [2256, 2768, 3280]
    assert rates == pytest.approx([TRUTH.rate(depth) for depth in (2256, 2768, 3280)], rel=1e-3)


def test_rates_are_those_of_whole_micro_batches() -> None:
    forecast = started(1200)
    read_to(forecast, list(progress(1200)), 1200)
    depths, rates = forecast.rate_against_depth
    # 0 to 512, 512 to 1,024 and 1,024 to 1,200
    assert depths.tolist() == [256, 768, 1112]
    assert rates == pytest.approx([TRUTH.rate(depth) for depth in (256, 768, 1112)], rel=1e-3)
    assert forecast.micro_batch_ns.sum() == pytest.approx(TRUTH.ns(0, 1200), rel=1e-6)


def test_events_that_jump_over_the_ends_of_micro_batches_are_divided_evenly() -> None:
    forecast = started(1024, micro_batch=256)
    forecast.apply(PrefillProgress(t=1000 * MS, processed=1024, cached=0, total=1024))
    assert forecast.micro_batch_ns.tolist() == [250 * MS] * 4
    assert forecast.remaining_ns == 0


def test_a_device_that_reports_micro_batches_only() -> None:
    left, truth = read_to(started(4000, prior=OPEN), list(progress(4000, updates=1)), 1536)
    assert left == pytest.approx(truth, rel=1e-3)


def test_a_pause_is_not_taken_for_the_pace() -> None:
    events = list(progress(4000))
    late = [
        event if event.processed <= 1100 else msgspec.structs.replace(event, t=event.t + 20_000 * MS)
        for event in events
    ]
    left, truth = read_to(started(4000, prior=PrefillPrior(RATIO, RATIO / 2)), late, 2048)
    # 20 s in a micro-batch of 2.5 s, where the whole takes 24 s
    assert left == pytest.approx(truth, rel=0.3)


def test_a_machine_that_became_slower_is_noticed() -> None:
    forecast = started(4096, prior=PrefillPrior(RATIO, RATIO / 2))
    t = 0
    for start in range(0, 3072, 512):
        t += round(TRUTH.ns(start, start + 512)) * (3 if start >= 1024 else 1)
        forecast.apply(PrefillProgress(t=t, processed=start + 512, cached=0, total=4096))
    assert forecast.remaining_ns == pytest.approx(3 * TRUTH.ns(3072, 4096), rel=0.2)


def test_costs_that_seem_to_fall_are_taken_as_level() -> None:
    forecast = started(2048, prior=OPEN)
    for number, t in enumerate((500, 900, 1200), start=1):
        forecast.apply(PrefillProgress(t=t * MS, processed=512 * number, cached=0, total=2048))
    fit = forecast.fit
    assert fit is not None
    assert fit.growth_ns == 0
    assert forecast.remaining_ns == pytest.approx(400 * MS, rel=0.2)


def test_nothing_to_read() -> None:
    forecast = started(230, cached=230)
    assert forecast.remaining_ns == 0
    forecast.apply(PrefillProgress(t=5, processed=230, cached=230, total=230))
    assert forecast.remaining_ns == 0
    assert forecast.fit is None
    depths, rates = forecast.rate_against_depth
    assert depths.size == rates.size == 0


def test_nothing_is_said_before_anything_is_known() -> None:
    forecast = PrefillForecast()
    assert forecast.remaining_ns is None
    assert forecast.total_ns is None
    forecast.apply(PrefillProgress(t=5, processed=10, cached=0, total=20))  # of a prompt that was never announced
    assert forecast.remaining_ns is None
    forecast = started(4000)
    assert forecast.remaining_ns is None
    assert not forecast.settled


def test_the_total_is_what_was_and_what_is_left() -> None:
    forecast = started(4000, prior=PrefillPrior(RATIO, RATIO / 2))
    read_to(forecast, list(progress(4000)), 1000)
    assert forecast.total_ns == pytest.approx(TRUTH.ns(0, 4000), rel=1e-3)


def test_a_run_tells_the_next_one_before_it_begins() -> None:
    first = started(4000, prior=OPEN)
    read_to(first, list(progress(4000)), 4000)
    second = started(300, prior=first.prior)
    assert second.settled
    assert second.remaining_ns == pytest.approx(TRUTH.ns(0, 300), rel=0.01)
    third = started(6000, cached=4000, prior=first.prior)
    assert third.remaining_ns == pytest.approx(TRUTH.ns(4000, 6000), rel=0.01)


def test_runs_on_one_engine_pass_on_what_they_know() -> None:
    model = msgspec.structs.replace(MODEL, attention_growth=RATIO)
    first = forecast_for(model)
    first.apply(prompt(4000))
    assert first.remaining_ns is None
    read_to(first, list(progress(4000)), 4000)
    second = forecast_for(model, first)
    second.apply(prompt(1000))
    assert second.remaining_ns == pytest.approx(TRUTH.ns(0, 1000), rel=0.05)


def test_a_short_run_passes_on_what_it_knows() -> None:
    prior = PrefillPrior(RATIO, RATIO / 2)
    few = started(20, prior=prior)
    read_to(few, list(progress(20)), 20)
    assert few.prior == prior  # 20 tokens take about as long as one
    knowing = PrefillPrior(RATIO, RATIO / 2, base_ns=1 * MS)
    chat = started(20, prior=knowing)
    read_to(chat, list(progress(20)), 20)
    assert chat.prior == knowing
    one = started(400, prior=prior)
    read_to(one, list(progress(400)), 400)
    assert (one.prior.ratio, one.prior.ratio_spread) == (RATIO, RATIO / 2)
    assert one.prior.base_ns == pytest.approx(TRUTH.base_ns, rel=0.01)


def test_a_model_without_known_shape_expects_nothing() -> None:
    assert prior_of_model(MODEL) == NO_PRIOR
    shaped = prior_of_model(msgspec.structs.replace(MODEL, attention_growth=3e-4))
    assert 3e-4 <= shaped.ratio <= 9e-4
    assert shaped.base_ns is None
    assert prior_of_model(msgspec.structs.replace(MODEL, attention_growth=0.0)).ratio_spread > 0
