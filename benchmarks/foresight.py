"""What is foreseen beside what came: the end of a prefill, and the floor of the time per output token."""

import statistics

from decodescope.backends.bandwidth import measure_bandwidth
from decodescope.backends.contract import Backend
from decodescope.backends.events import Event, Finished, ModelReady, PrefillProgress, PromptReady, RequestTaken
from decodescope.backends.launch import launch, resolve
from decodescope.backends.requests import EngineSettings, Request, Sampling
from decodescope.metrics.floor import NoFloor, bandwidth_use, limit, memory_floor
from decodescope.metrics.prefill import PrefillForecast, PrefillPrior, prior_of_model
from decodescope.metrics.run import Run

from . import PROMPT, THREADS, prompt_of_length
from .engine_speed import collect, generate
from .figures import Figure

PROMPT_TOKENS = 4000
RUNS = 5
FORESEEN_AT = 0.25
WRITTEN = 256


def prefill_foreseen() -> list[Figure]:
    """The time left at a quarter of a long prompt: from the fit, and by the simple rate."""
    backend, model = _ready(context=PROMPT_TOKENS + 64)
    fresh, later, simple = [], [], []
    try:
        prior: PrefillPrior | None = None
        for number in range(RUNS):
            events = _read(backend, f"{number} " + prompt_of_length(PROMPT_TOKENS - 2))
            estimate, by_rate, truth, forecast = _foresee(events, model, prior_of_model(model))
            fresh.append(abs(estimate / truth - 1))
            simple.append(abs(by_rate / truth - 1))
            if prior is not None:
                estimate, _, _, _ = _foresee(events, model, prior)
                later.append(abs(estimate / truth - 1))
            prior = forecast.prior
    finally:
        backend.close()
    error = statistics.median(fresh)
    worst = f"worst {max(fresh):.0%} of {RUNS}; the simple rate: {statistics.median(simple):.0%}"
    knowing = f"knowing the run before: {statistics.median(later):.0%}"
    name = f"time left at {FORESEEN_AT:.0%} of {PROMPT_TOKENS:,} prompt tokens, median error"
    return [Figure(name, f"{error:.0%}", "≤ 15 %", error <= 0.15, f"{worst}; {knowing}")]


def floor() -> list[Figure]:
    """TPOT beside its floor."""
    bandwidth = measure_bandwidth(THREADS)
    backend, model = _ready(context=2048)
    try:
        events = generate(backend, PROMPT, WRITTEN)
    finally:
        backend.close()
    run = Run(next(event for event in events if isinstance(event, RequestTaken)))
    for event in events:
        run.apply(event)
    bound = memory_floor(model, bandwidth.bytes_per_second)
    if isinstance(bound, NoFloor):
        return [Figure("model bandwidth use", "-", "shown", None, bound.value)]
    share, tpot = bandwidth_use(run, bound), run.tpot_ns
    assert share is not None
    assert tpot is not None
    sets_the_pace = limit(share)
    detail = (
        f"{bandwidth.bytes_per_second / 1e9:.1f} GB/s; TPOT {tpot / 1e6:.2f} ms, floor {share * tpot / 1e6:.2f} ms; "
        f"{'' if sets_the_pace is None else sets_the_pace.value} sets the pace"
    )
    return [Figure("model bandwidth use in decode", f"{share:.0%}", "shown", None, detail)]


def _ready(context: int) -> tuple[Backend, ModelReady]:
    backend = launch(resolve("demo"), EngineSettings(threads=THREADS, context=context))
    try:
        model = next(event for event in collect(backend, ModelReady) if isinstance(event, ModelReady))
    except BaseException:
        backend.close()
        raise
    return backend, model


def _read(backend: Backend, prompt: str) -> list[Event]:
    backend.generate(Request(prompt=prompt, max_tokens=0, sampling=Sampling(temp=0)))
    return collect(backend, Finished)


def _foresee(
    events: list[Event], model: ModelReady, prior: PrefillPrior
) -> tuple[float, float, float, PrefillForecast]:
    """Return (estimate, estimate by the rate so far, truth) of the time left then, ns, and the forecast at the end."""
    forecast = PrefillForecast(model.micro_batch, prior)
    start = next(event.t for event in events if isinstance(event, PromptReady))
    end = [event.t for event in events if isinstance(event, PrefillProgress)][-1]
    found: tuple[float, float, float] | None = None
    for event in events:
        if not isinstance(event, PromptReady | PrefillProgress):
            continue
        forecast.apply(event)
        if isinstance(event, PromptReady) or found is not None:
            continue
        done, todo = event.processed - event.cached, event.total - event.cached
        left = forecast.remaining_ns
        if done >= FORESEEN_AT * todo and left is not None:
            found = (left, (event.t - start) * (todo - done) / done, end - event.t)
    if found is None:
        raise RuntimeError("The engine reported no progress.")
    return (*found, forecast)
