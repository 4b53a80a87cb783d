"""How much memory a token takes in the KV cache, from the header alone.

Per token and layer, llama.cpp stores one row of keys and one of values (llama-kv-cache.cpp), each

    head_count_kv x key_length  and  head_count_kv x value_length

values wide, in the cache's own types. Header keys, below the architecture's name: ``block_count``,
``attention.head_count_kv`` (one number, or one per layer; absent: as ``attention.head_count``),
``attention.key_length`` and ``attention.value_length`` (absent: ``embedding_length / attention.head_count``).
"""

from collections.abc import Sequence

from .errors import ModelError, shown
from .ggml_types import TENSOR_TYPES, TensorType
from .header import Header

RECURRENT = frozenset({"mamba", "mamba2", "rwkv6", "rwkv6qwen2", "rwkv7", "arwkv7"})
"""Architectures whose memory is a state of fixed size, without any KV cache."""

_INTERLEAVED = frozenset({"minimax-01", "qwen35", "qwen35moe", "qwen3next", "qwen4exp"})
"""Architectures in which only every n-th layer attends; four where the header gives no ``full_attention_interval``."""

_MAX_LAYERS = 4096
_MAX_WIDTH = 2**30

_CACHE_NAMES = frozenset({"F32", "F16", "BF16", "Q8_0", "Q4_0", "Q4_1", "IQ4_NL", "Q5_0", "Q5_1"})
CACHE_TYPES: dict[str, TensorType] = {
    form.name.lower(): form for form in TENSOR_TYPES.values() if form.name in _CACHE_NAMES
}
"""The types that a KV cache can have, by the names that ``-ctk`` and ``-ctv`` take."""


def layer_count(header: Header, architecture: str) -> int:
    """Return the number of layers that a token passes: ``block_count`` less the layers that only predict ahead."""
    blocks = header.integer(f"{architecture}.block_count") or 0
    return blocks - (header.integer(f"{architecture}.nextn_predict_layers") or 0)


def cache_widths(header: Header, architecture: str) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return how many values each layer stores per token, as keys and as values; 0 for a layer without a cache.

    Layers without one are those of recurrent architectures, recurrent layers of hybrid ones, and the last layers of
    models that share their predecessors' cache (``attention.shared_kv_layers``). Models with compressed attention
    (``attention.key_length_mla``) keep keys only. A layer with a sliding window counts like any other, so for long
    contexts the sum is an upper bound there. Raises ``ModelError`` when the header contradicts itself.
    """
    layers = layer_count(header, architecture)
    if not 0 < layers <= _MAX_LAYERS:
        raise _contradiction(header, f"It claims {layers:,} layers.")
    if architecture in RECURRENT:
        return (0,) * layers, (0,) * layers
    heads = _per_layer(header, f"{architecture}.attention.head_count", layers) or (0,) * layers
    kv_heads = _per_layer(header, f"{architecture}.attention.head_count_kv", layers) or heads
    embedding = header.integer(f"{architecture}.embedding_length") or 0
    head_width = embedding // heads[0] if heads[0] > 0 else 0
    sliding = _sliding_layers(header, architecture, layers)
    key_lengths = _head_lengths(header, f"{architecture}.attention.key_length", head_width, sliding)
    value_lengths = _head_lengths(header, f"{architecture}.attention.value_length", head_width, sliding)
    if header.integer(f"{architecture}.attention.key_length_mla"):
        value_lengths = [0] * layers
    attends = _attending_layers(header, architecture, layers)
    keys = tuple(count * width * on for count, width, on in zip(kv_heads, key_lengths, attends, strict=True))
    values = tuple(count * width * on for count, width, on in zip(kv_heads, value_lengths, attends, strict=True))
    for width in (*keys, *values):
        if not 0 <= width <= _MAX_WIDTH:
            raise _contradiction(header, f"A layer of it would store {width:,} values per token.")
    return keys, values


def attention_width(header: Header, architecture: str, key_widths: Sequence[int], value_widths: Sequence[int]) -> int:
    """Return how many multiplications a token makes for each token that it attends to, over all layers.

    Every head multiplies with its own query, also where several share their keys: cache width x heads / kv heads.
    Layers with a sliding window do not grow with depth and are left out.
    """
    layers = len(key_widths)
    heads = _per_layer(header, f"{architecture}.attention.head_count", layers) or (0,) * layers
    kv_heads = _per_layer(header, f"{architecture}.attention.head_count_kv", layers) or heads
    sliding = _sliding_layers(header, architecture, layers)
    return sum(
        (key_widths[layer] + value_widths[layer]) * heads[layer] // kv_heads[layer]
        for layer in range(layers)
        if kv_heads[layer] > 0 and not sliding[layer]
    )


def bytes_per_token(key_widths: Sequence[int], value_widths: Sequence[int], type_k: str, type_v: str) -> int:
    """Return the bytes that one token takes over all layers.

    Each row of ``w`` values takes ``w / block x block size`` bytes: f16 2 bytes a value, q8_0 34 bytes per 32 values,
    q4_0 18 per 32, and so on. Raises ``ModelError`` when a type is not one a cache can have, or when its blocks do not
    divide the model's rows.
    """
    return _side_bytes("keys", key_widths, type_k) + _side_bytes("values", value_widths, type_v)


def _side_bytes(side: str, widths: Sequence[int], name: str) -> int:
    form = CACHE_TYPES.get(name)
    if form is None:
        raise ModelError(
            f"The KV cache cannot store {side} as '{shown(name, 40)}'.",
            remedy=f"Choose one of {', '.join(CACHE_TYPES)}.",
        )
    total = 0
    for width in widths:
        row = form.row_bytes(width)
        if row is None:
            raise ModelError(
                f"The KV cache of this model cannot store {side} as {name}.",
                f"Its rows of {width:,} values do not divide into blocks of {form.block}.",
                "Choose f16 or bf16.",
            )
        total += row
    return total


def _attending_layers(header: Header, architecture: str, layers: int) -> list[bool]:
    recurrent = _per_layer(header, f"{architecture}.attention.recurrent_layers", layers)
    interval = header.integer(f"{architecture}.full_attention_interval")
    if recurrent is not None:
        attends = [not flag for flag in recurrent]
    elif interval is not None or architecture in _INTERLEAVED:
        every = 4 if interval is None else interval
        if every <= 0:
            raise _contradiction(header, f"Every {every}th of its layers would attend.")
        attends = [(layer + 1) % every == 0 for layer in range(layers)]
    else:
        attends = [True] * layers
    shared = header.integer(f"{architecture}.attention.shared_kv_layers") or 0
    own = 20 if architecture == "gemma3n" else layers - shared
    return [flag and layer < own for layer, flag in enumerate(attends)]


def _head_lengths(header: Header, key: str, default: int, sliding: Sequence[bool]) -> list[int]:
    given = header.integer(key)
    everywhere = default if given is None else given
    in_window = header.integer(f"{key}_swa")
    return [in_window if slides and in_window is not None else everywhere for slides in sliding]


def _sliding_layers(header: Header, architecture: str, layers: int) -> list[bool]:
    key = f"{architecture}.attention.sliding_window_pattern"
    every = header.integer(key)
    if every is not None:  # every n-th layer sees everything, the others only their window
        return [every <= 0 or layer % every < every - 1 for layer in range(layers)]
    return [bool(flag) for flag in _per_layer(header, key, layers) or (0,) * layers]


def _per_layer(header: Header, key: str, layers: int) -> tuple[int, ...] | None:
    """Return one number per layer; the header gives one for all, one for each, or none."""
    value = header.metadata.get(key)
    if value is None:
        return None
    if isinstance(value, int):
        return (value,) * layers
    if isinstance(value, tuple) and len(value) >= layers:
        numbers = tuple(entry for entry in value[:layers] if isinstance(entry, int))
        if len(numbers) == layers:
            return numbers
    raise _contradiction(header, f"{shown(key, 80)} does not give one number for each of its {layers:,} layers.")


def _contradiction(header: Header, reason: str) -> ModelError:
    return ModelError(f"{shown(header.path.name)} contradicts itself.", reason, "Get another conversion of the model.")
