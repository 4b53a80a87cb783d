"""The JSON summary, field by field."""

import json

import msgspec
import pytest
from msgspec.structs import replace

from decodescope.backends.events import (
    Failed,
    Finished,
    PrefillProgress,
    PromptReady,
    RequestTaken,
    Token,
)
from decodescope.backends.requests import Sampling
from decodescope.metrics.run import Run
from decodescope.metrics.summary import summarize

from ..small_model import SMALL

MS = 1_000_000

MODEL = replace(
    SMALL,
    file="/models/small.gguf",
    bytes=92_000_000,
    parameters=134_000_000,
    threads_batch=3,
    weight_bytes_per_token=91_000_000,
    load_ns=201_500_000,
    warmup_ns=12_345_678,
)


def new_run() -> Run:
    return Run(RequestTaken(t=100 * MS, request=1, sampling=Sampling(), seed=1234))


def token(ms: float, index: int, *, thinking: bool = False) -> Token:
    return Token(t=round(ms * MS), index=index, id=index, piece=b"x", decode_ns=1, sample_ns=1, thinking=thinking)


def test_every_field_of_a_whole_run() -> None:
    run = new_run()
    run.apply(PromptReady(t=102 * MS, tokens=tuple(range(50)), cached=10))
    run.apply(PrefillProgress(t=122 * MS, processed=50, cached=10, total=50))
    for event in (token(124, 1, thinking=True), token(134, 2), token(144, 3), token(164, 4)):
        run.apply(event)
    run.apply(Finished(t=165 * MS, reason="length"))
    summary = summarize(run, MODEL, {"temp": 0.0, "seed": -1})
    assert summary == {
        "prompt_n": 40,  # 50 less 10 cached
        "cache_n": 10,
        "prompt_ms": 20.0,  # 122 − 102
        "prompt_per_second": 2000.0,  # 40 / 0.020
        "predicted_n": 4,
        "predicted_ms": 40.0,  # 164 − 124
        "predicted_per_second": 75.0,  # 3 / 0.040
        "ttft_ms": 24.0,  # 124 − 100
        "ttfa_ms": 34.0,  # 134 − 100
        "tpot_ms": 13.333,  # 40 / 3
        # Gaps 10, 10, 20. p95: rank 1.9 → 10 + 0.9 × 10. p99: rank 1.98.
        "itl_ms": {"p50": 10.0, "p95": 19.0, "p99": 19.8, "max": 20.0},
        "e2e_ms": 64.0,  # 164 − 100
        "load_ms": 201.5,
        "finish_reason": "length",
        "disturbance": None,  # too few tokens to tell what is usual
        "model": {
            "name": "Small",
            "file": "/models/small.gguf",
            "architecture": "llama",
            "quantization": "Q4_1",
            "requantized_from": None,
            "dominant_type": None,
            "bytes": 92_000_000,
            "weight_bytes_per_token": 91_000_000,
            "kv_bytes_per_token": 23040,
            "parameters": 134_000_000,
            "trained_context": 8192,
            "context": 4096,
            "layers": 30,
            "gpu_layers": 0,
            "threads": 2,
            "threads_batch": 3,
            "micro_batch": 512,
            "devices": ["CPU"],
            "template": "ChatML",
            "warmup_ms": 12.346,
        },
        "thread_changes": [],
        "settings": {"temp": 0.0, "seed": 1234},  # the seed in use, not the one that asked for a new one
    }
    assert json.loads(json.dumps(summary)) == summary


def test_the_two_rates_and_times_of_llama_cpp_agree() -> None:
    run = new_run()
    for index in range(1, 11):
        run.apply(token(100 + index * 7, index))
    summary = summarize(run, MODEL, {})
    assert summary["predicted_ms"] == 63.0
    assert summary["predicted_per_second"] == pytest.approx((summary["predicted_n"] - 1) / 0.063, abs=0.001)
    assert summary["tpot_ms"] == 7.0


def test_what_has_no_value_is_null_and_never_zero() -> None:
    summary = summarize(new_run(), None, {})
    assert summary["predicted_n"] == 0
    assert summary["settings"] == {"seed": 1234}
    assert summary["thread_changes"] == []
    said = ("predicted_n", "settings", "thread_changes")
    others = {name: value for name, value in summary.items() if name not in said}
    assert set(others.values()) == {None}


def test_one_token_has_no_pace() -> None:
    run = new_run()
    run.apply(token(124, 1))
    run.apply(Finished(t=125 * MS, reason="stop"))
    summary = summarize(run, MODEL, {})
    assert summary["predicted_n"] == 1
    assert summary["ttft_ms"] == summary["ttfa_ms"] == summary["e2e_ms"] == 24.0
    assert summary["tpot_ms"] is None
    assert summary["itl_ms"] is None
    assert summary["predicted_ms"] is None
    assert summary["predicted_per_second"] is None


def test_a_disturbed_run_says_so() -> None:
    run = new_run()
    times = [100 + index * 10 for index in range(20)] + [390, 400]
    for index, ms in enumerate(times, start=1):
        run.apply(token(ms, index))
    assert summarize(run, MODEL, {})["disturbance"] == {
        "tokens": 21,
        "disturbed": 1,
        "lost_ms": 90.0,  # 100 − 10
        "suspended_ms": 0.0,
        "share": 0.3,  # 90 / (400 − 100)
        "quotable": False,
        "causes": {"rest": 1},
    }


def test_a_failed_run_says_so() -> None:
    run = new_run()
    run.apply(token(124, 1, thinking=True))
    run.apply(Failed(t=130 * MS, stage="generate", what="It broke."))
    summary = summarize(run, MODEL, {})
    assert summary["finish_reason"] == "failed"
    assert summary["ttft_ms"] == 24.0
    assert summary["ttfa_ms"] is None


def test_the_settings_given_are_left_as_they_are() -> None:
    settings = {"seed": -1}
    summarize(new_run(), MODEL, settings)
    assert settings == {"seed": -1}


def test_a_load_that_took_no_time_is_zero_and_not_null() -> None:
    summary = summarize(new_run(), msgspec.structs.replace(MODEL, load_ns=0), {})
    assert summary["load_ms"] == 0.0
