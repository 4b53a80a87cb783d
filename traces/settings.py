"""The settings of a generation as plain JSON values, under the long names of the flags."""

from typing import Any

from ..backends.requests import EngineSettings, Sampling


def described(
    *,
    model: str | None,
    settings: EngineSettings,
    sampling: Sampling,
    max_tokens: int,
    stop: tuple[str, ...],
    system: str | None,
    raw: bool,
) -> dict[str, Any]:
    """Return all of it; ``model``: as it was asked for."""
    return {
        "model": model,
        "ctx_size": settings.context,
        "batch_size": settings.batch,
        "ubatch_size": settings.micro_batch,
        "threads": settings.threads,
        "threads_batch": settings.threads_batch,
        "n_gpu_layers": settings.gpu_layers,
        "flash_attn": settings.flash_attention,
        "cache_type_k": settings.cache_type_k,
        "cache_type_v": settings.cache_type_v,
        "no_repack": not settings.repack,
        **of_request(sampling, max_tokens, stop),
        "system_prompt": system,
        "raw": raw,
    }


def of_request(sampling: Sampling, max_tokens: int, stop: tuple[str, ...]) -> dict[str, Any]:
    """Return what every request has of its own."""
    return {
        "seed": sampling.seed,
        "temp": sampling.temp,
        "top_k": sampling.top_k,
        "top_p": sampling.top_p,
        "min_p": sampling.min_p,
        "repeat_penalty": sampling.repeat_penalty,
        "repeat_last_n": sampling.repeat_last_n,
        "ignore_eos": sampling.ignore_eos,
        "from_model": list(sampling.from_model),
        "n_predict": max_tokens,
        "stop": list(stop),
    }
