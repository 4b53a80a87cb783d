"""A row as data: under ``llama-bench``'s names, and the figures that it lacks under those of a run's summary."""

import time
from typing import Any

from ..backends.requests import FlashAttention
from ..backends.text import well_formed
from ..metrics.latency import Percentiles, percentiles
from ..metrics.summary import as_ms
from ..traces.header import LlamaBuild
from .figures import Repetition, Row

_FLASH_ATTENTION: dict[FlashAttention, int] = {"auto": -1, "off": 0, "on": 1}  # enum llama_flash_attn_type, llama.h
_SHARE_DIGITS = 4

_DEFAULTS_BEFORE = {"cpu_mask": "0x0", "cpu_strict": False, "poll": 50}
_DEFAULTS_BETWEEN = {"n_cpu_moe": 0, "split_mode": "layer", "main_gpu": 0, "no_kv_offload": False}
_DEFAULTS_AFTER = {
    "devices": "auto",
    "tensor_split": "0.00",
    "tensor_buft_overrides": "none",
    "load_mode": "auto",
    "lazy_mode": "auto",
    "embeddings": False,
    "no_op_offload": 0,
    "no_host": False,
}
_DEFAULTS_LAST = {"fit_target": 0, "fit_min_ctx": 0}
"""Settings that keep llama.cpp's defaults, in its order."""


def record(row: Row, build: LlamaBuild) -> dict[str, Any]:
    """Return everything about ``row`` as plain JSON values, ``None`` where there is no value."""
    repetitions = row.repetitions
    return {
        **_facts(row, build),
        "n_prompt": row.trial.prompt,
        "n_gen": row.trial.generate,
        "n_depth": row.trial.depth,
        "test_time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(row.began)),
        "avg_ns": round(row.mean_ns),
        "stddev_ns": None if row.deviation_ns is None else round(row.deviation_ns),
        "avg_ts": round(row.mean_rate, 6),
        "stddev_ts": None if row.rate_deviation is None else round(row.rate_deviation, 6),
        "sample": row.trial.sample,
        "ttft_ms": as_ms(row.ttft_ns),
        "itl_ms": _percentiles(row.itl),
        "judged_n": row.judged,
        "disturbed_n": row.disturbed,
        "lost_share": _share(row.lost_share),
        "quiet": row.quiet,
        "warnings": list(row.warnings),
        "samples_ns": [one.ns for one in repetitions],
        "samples_ts": [round(one.rate, 6) for one in repetitions],
        "repetitions": [_repetition(one) for one in repetitions],
    }


def flat(values: dict[str, Any]) -> dict[str, Any]:
    """Return a record as one line of a table: nested names joined by ``_``, lists left out."""
    line: dict[str, Any] = {}
    for name, value in values.items():
        if name == "itl_ms":
            parts = dict.fromkeys(Percentiles.__struct_fields__) if value is None else value
            line |= {f"{name}_{part}": number for part, number in parts.items()}
        elif not isinstance(value, list):
            line[name] = float(value) if name == "tensor_split" else value
    return line


def _facts(row: Row, build: LlamaBuild) -> dict[str, Any]:
    model, settings, ran_with = row.model, row.group.settings, row.ran_with
    return {
        "build_commit": build.commit,
        "build_number": build.number,
        "cpu_info": ", ".join(ran_with.processors),
        "gpu_info": ", ".join(ran_with.gpus),
        "backends": ",".join(ran_with.backends),
        "model_filename": well_formed(model.file),
        "model_type": ran_with.model,
        "model_size": model.bytes,
        "model_n_params": model.parameters,
        "n_batch": settings.batch,
        "n_ubatch": settings.micro_batch,
        "n_threads": model.threads,
        **_DEFAULTS_BEFORE,
        "type_k": settings.cache_type_k,
        "type_v": settings.cache_type_v,
        "n_gpu_layers": settings.gpu_layers,
        **_DEFAULTS_BETWEEN,
        "flash_attn": _FLASH_ATTENTION[settings.flash_attention],
        **_DEFAULTS_AFTER,
        "repack": ran_with.repack,
        **_DEFAULTS_LAST,
    }


def _repetition(one: Repetition) -> dict[str, Any]:
    found = one.disturbance
    return {
        "ns": one.ns,
        "ts": round(one.rate, 6),
        "ttft_ms": as_ms(one.ttft_ns),
        "itl_ms": _percentiles(percentiles(one.gaps)),
        "judged_n": None if found is None else found.tokens,
        "disturbed_n": None if found is None else found.disturbed,
        "lost_share": _share(one.lost_share),
        "quiet": one.quiet,
    }


def _percentiles(found: Percentiles | None) -> dict[str, float | None] | None:
    if found is None:
        return None
    return {name: as_ms(getattr(found, name)) for name in Percentiles.__struct_fields__}


def _share(value: float | None) -> float | None:
    return None if value is None else round(value, _SHARE_DIGITS)
