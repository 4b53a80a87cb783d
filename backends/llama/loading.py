"""Loading a GGUF file into llama.cpp: model, context, and what they are."""

import ctypes
import os
import time
from collections.abc import Callable
from typing import Any

import msgspec

from ..engine import EngineError
from ..free_memory import available_bytes
from ..requests import CacheType, EngineSettings
from ..threads import thread_choice
from ..wire import OpenLlama
from .bindings import llama_cpp
from .context_size import ContextSize, choose_context
from .engine_threads import Threads
from .native import Device, NativeLog, devices, gpu_layers

_FLASH_ATTENTION = {
    "on": llama_cpp.LLAMA_FLASH_ATTN_TYPE_ENABLED,
    "off": llama_cpp.LLAMA_FLASH_ATTN_TYPE_DISABLED,
    "auto": llama_cpp.LLAMA_FLASH_ATTN_TYPE_AUTO,
}

# enum ggml_type, ggml.h
_CACHE_TYPES: dict[CacheType, int] = {
    "f32": 0,
    "f16": 1,
    "q4_0": 2,
    "q4_1": 3,
    "q5_0": 6,
    "q5_1": 7,
    "q8_0": 8,
    "iq4_nl": 20,
    "bf16": 30,
}

_PROGRESS_INTERVAL_NS = 20_000_000


class LoadedContext(msgspec.Struct, frozen=True):
    """A context of llama.cpp and how it came out."""

    handle: Any
    threads: Threads
    batch: int
    micro_batch: int


def load_model(opening: OpenLlama, log: NativeLog, report: Callable[[float], None]) -> Any:
    """Load the weights and return llama.cpp's model, reporting the fraction done. Raises EngineError."""
    log.clear()
    last = 0

    def on_progress(fraction: float, _data: Any) -> bool:
        nonlocal last
        now = time.perf_counter_ns()
        if fraction >= 1.0 or now - last >= _PROGRESS_INTERVAL_NS:
            last = now
            report(fraction)
        return True

    parameters = llama_cpp.llama_model_default_params()
    parameters.n_gpu_layers = gpu_layers(opening.settings.gpu_layers)
    parameters.use_extra_bufts = opening.settings.repack
    callback = llama_cpp.llama_progress_callback(on_progress)
    parameters.progress_callback = callback
    report(0.0)
    model = llama_cpp.llama_model_load_from_file(opening.path, parameters)
    if not model:
        raise EngineError(
            f"llama.cpp could not load {opening.name}.",
            log.complaints or "llama.cpp gave no reason.",
            "Copy or download the file anew, or update llama-cpp-python if the architecture is new.",
        )
    refusal = _cannot_generate(model)
    if refusal is not None:
        llama_cpp.llama_model_free(model)
        raise EngineError(f"{opening.name} cannot generate text.", refusal, "Choose a text generation model.")
    return model


def _cannot_generate(model: Any) -> str | None:
    if not llama_cpp.llama_model_has_decoder(model):
        return "The model has no decoder: it makes embeddings."
    if llama_cpp.llama_model_has_encoder(model):
        return "Encoder-decoder models are not supported."
    if llama_cpp.llama_model_is_diffusion(model):
        return "Diffusion models do not write token by token."
    return None


def plan_context(opening: OpenLlama, used: list[Device]) -> ContextSize:
    """Choose the context before anything is loaded. Raises EngineError when what was asked for cannot fit."""
    free = max(0, free_bytes(used) - opening.bytes)
    return choose_context(opening.settings.context, opening.trained_context, opening.kv_bytes_per_token, free)


def open_context(model: Any, settings: EngineSettings, size: ContextSize, log: NativeLog) -> LoadedContext:
    """Create a context of that size. Raises EngineError."""
    threads = _threads(settings)
    batch = min(settings.batch, max(size.tokens, settings.micro_batch))
    parameters = llama_cpp.llama_context_default_params()
    parameters.n_ctx = size.tokens
    parameters.n_batch = batch
    parameters.n_ubatch = min(settings.micro_batch, batch)
    parameters.n_seq_max = 1
    parameters.n_threads = threads.decode
    parameters.n_threads_batch = threads.batch
    parameters.flash_attn_type = _FLASH_ATTENTION[settings.flash_attention]
    parameters.type_k = _CACHE_TYPES[settings.cache_type_k]
    parameters.type_v = _CACHE_TYPES[settings.cache_type_v]
    parameters.no_perf = True
    log.clear()
    context = llama_cpp.llama_init_from_model(model, parameters)
    if not context:
        raise EngineError(
            f"llama.cpp could not make a context of {size.tokens:,} tokens.",
            log.complaints or "llama.cpp gave no reason.",
            "Try a smaller -c, another cache type (-ctk, -ctv) or -fa on.",
        )
    # llama.cpp cuts both to the context.
    return LoadedContext(context, threads, llama_cpp.llama_n_batch(context), llama_cpp.llama_n_ubatch(context))


def used_devices(settings: EngineSettings) -> list[Device]:
    """The devices that compute: GPUs when layers go there, and the CPU."""
    found = devices()
    gpus = [device for device in found if device.is_gpu]
    if gpus and settings.gpu_layers != 0 and llama_cpp.llama_supports_gpu_offload():
        return gpus
    return [device for device in found if not device.is_gpu][-1:]


def offloaded_layers(model: Any, settings: EngineSettings, used: list[Device]) -> int:
    """How many layers the GPUs hold; llama.cpp counts the output as one more layer."""
    if not any(device.is_gpu for device in used):
        return 0
    layers: int = llama_cpp.llama_model_n_layer(model)
    return min(gpu_layers(settings.gpu_layers), layers + 1)


def free_bytes(used: list[Device]) -> int:
    """Memory that weights and KV cache can take: of the GPUs in use, else of this machine or container."""
    gpus = [device.free_bytes for device in used if device.is_gpu]
    return sum(gpus) if gpus else available_bytes()


def _threads(settings: EngineSettings) -> Threads:
    decode = settings.threads or thread_choice().threads
    return Threads(decode, settings.threads_batch or decode)


def model_text(model: Any, key: str) -> str:
    """A metadata value as text; empty when the file has none."""
    buffer = ctypes.create_string_buffer(512)
    size = llama_cpp.llama_model_meta_val_str(model, key.encode(), buffer, len(buffer))
    return "" if size < 0 else buffer.value.decode("utf-8", "replace")


def file_text(path: bytes) -> str:
    """A path as text, for showing."""
    return os.path.abspath(path).decode("utf-8", "replace")
