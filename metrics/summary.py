"""The summary of one generation, under the names that users of llama.cpp know.

The fields are those of llama-server's ``timings`` object, and the latencies beside them. ``predicted_ms`` is the time
from the first to the last token, so ``predicted_per_second`` is (N − 1) / that time: the decode rate.
"""

from typing import Any

from ..backends.events import Failed, ModelReady
from ..backends.text import Written
from .disturbance import Disturbance
from .run import Run


def as_ms(ns: float | None) -> float | None:
    """Return ns as ms, to the microsecond."""
    return None if ns is None else round(ns / 1e6, 3)


def rounded(value: float | None) -> float | None:
    """Return a rate to three decimals."""
    return None if value is None else round(value, 3)


def summarize(run: Run, model: ModelReady | None, settings: dict[str, Any]) -> dict[str, Any]:
    """Return the summary as plain JSON values; milliseconds, tokens per second, ``None`` where there is no value.

    ``settings``: what the generation was run with, as the caller names it.
    """
    gaps = run.percentiles
    return {
        "prompt_n": run.evaluated_tokens,
        "cache_n": run.cached_tokens,
        "prompt_ms": as_ms(run.prefill_ns),
        "prompt_per_second": rounded(run.prefill_rate),
        "predicted_n": run.token_count,
        "predicted_ms": as_ms(run.decode_ns_total),
        "predicted_per_second": rounded(run.decode_rate),
        "ttft_ms": as_ms(run.ttft_ns),
        "ttfa_ms": as_ms(run.ttfa_ns),
        "tpot_ms": as_ms(run.tpot_ns),
        "itl_ms": None
        if gaps is None
        else {"p50": as_ms(gaps.p50), "p95": as_ms(gaps.p95), "p99": as_ms(gaps.p99), "max": as_ms(gaps.max)},
        "e2e_ms": as_ms(run.e2e_ns),
        "load_ms": None if model is None else as_ms(model.load_ns),
        "finish_reason": run.finish_reason,
        "disturbance": None if run.disturbance is None else described(run.disturbance),
        "thread_changes": [
            {
                "token": tokens + 1,
                "ms": as_ms(change.t - run.taken.t),
                "from": change.before,
                "to": change.after,
                "why": change.why,
            }
            for tokens, change in run.thread_changes
        ],
        "model": None if model is None else _model_facts(model),
        "settings": {**settings, "seed": run.taken.seed},
    }


def texts(run: Run, text: Written) -> dict[str, Any]:
    """Return the text that was written as plain JSON values, the last fields of a summary."""
    return {
        "text": text.text,
        "answer": None if run.reasoning_unknown else text.answer or None,
        "reasoning": text.reasoning,
        "reasoning_closed": run.reasoning_closed,
        "channels": [{"name": name, "text": said} for name, said in text.channels],
    }


def described(found: Disturbance) -> dict[str, Any]:
    """Return a disturbance as plain JSON values, times in ms."""
    return {
        "tokens": found.tokens,
        "disturbed": found.disturbed,
        "lost_ms": as_ms(found.lost_ns),
        "suspended_ms": as_ms(found.suspended_ns),
        "share": round(found.share, 4),
        "quotable": found.quotable,
        "causes": {cause.name.lower(): number for cause, number in found.causes.items()},
    }


def failure(failed: Failed) -> dict[str, str]:
    """Return a failure as plain JSON values."""
    return {"what": failed.what, "reason": failed.reason, "remedy": failed.remedy}


def _model_facts(model: ModelReady) -> dict[str, Any]:
    return {
        "name": model.name,
        "file": model.file,
        "architecture": model.architecture,
        "quantization": model.quantization,
        "requantized_from": model.requantized_from or None,
        "dominant_type": model.dominant_type or None,
        "bytes": model.bytes,
        "weight_bytes_per_token": model.weight_bytes_per_token,
        "kv_bytes_per_token": model.kv_bytes_per_token,
        "parameters": model.parameters,
        "trained_context": model.trained_context,
        "context": model.context,
        "layers": model.layers,
        "gpu_layers": model.gpu_layers,
        "threads": model.threads,
        "threads_batch": model.threads_batch,
        "micro_batch": model.micro_batch,
        "devices": list(model.devices),
        "template": model.template,
        "warmup_ms": as_ms(model.warmup_ns),
    }
