"""Combinations of engine settings that llama.cpp would correct silently or fail on."""

from .limits import MOST_THREADS, MOST_WHOLE
from .requests import EngineSettings

_FLOAT_CACHES = ("f32", "f16", "bf16")


def check_settings(settings: EngineSettings) -> list[str]:
    """Return what is wrong with ``settings``, one sentence each with the flags to change; empty when nothing is."""
    problems = []
    if settings.micro_batch > settings.batch:
        problems.append(
            f"A micro-batch of {settings.micro_batch} tokens (-ub) does not fit into a batch of {settings.batch} (-b)."
        )
    if settings.cache_type_v not in _FLOAT_CACHES and settings.flash_attention == "off":
        problems.append(
            f"A V cache of type {settings.cache_type_v} (-ctv) needs flash attention:"
            " leave out -fa off, or use -ctv f16."
        )
    for name, value, least, most in (
        ("The context (-c)", settings.context, 0, MOST_WHOLE),
        ("The batch (-b)", settings.batch, 1, MOST_WHOLE),
        ("The micro-batch (-ub)", settings.micro_batch, 1, MOST_WHOLE),
        ("The number of threads (-t)", settings.threads, 1, MOST_THREADS),
        ("The number of threads for batches (-tb)", settings.threads_batch, 1, MOST_THREADS),
        ("The number of GPU layers (-ngl)", settings.gpu_layers, -1, MOST_WHOLE),
    ):
        if value is not None and value < least:
            problems.append(f"{name} cannot be {value}; the least is {least}.")
        if value is not None and value > most:
            problems.append(f"{name} cannot be {value}; the most is {most}.")
    return problems


def check_system(system: str | None, *, raw: bool) -> list[str]:
    """Return what is wrong with a system prompt, like ``check_settings``; ``raw``: the chat template is skipped."""
    if raw and system is not None:
        return ["A system prompt (-sys) needs the chat template, which --raw skips."]
    return []
