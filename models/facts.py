"""What a model is, from its header alone."""

import re
from pathlib import Path

import msgspec

from .checks import refuse_incomplete, refuse_unfit_kind, refuse_without_tensors
from .errors import ModelError, shown
from .ggml_types import FILE_TYPES, GUESSED_FILE_TYPE
from .header import Header, LongArray, Scalar, Tensor
from .kv_cache import attention_width, bytes_per_token, cache_widths, layer_count
from .labels import contradicted, type_of_most
from .shards import read_shards, without_shard_number
from .weights import WeightTraffic, multiplied_weights, weight_traffic

_QUANTIZATION_SUFFIX = re.compile(
    r"[-_.](UD[-_])?(I?Q\d+_\w+|TQ\d_0|MXFP4(_MOE)?|NVFP4|BF16|F?P?16|F?P?32)$", re.IGNORECASE | re.ASCII
)
REQUANTIZED_KEY = "decodescope.requantized_from"
"""In the header of a quantization that was made here."""
MADE_SUFFIX = re.compile(r"-(?P<recipe>[A-Z0-9_]+)\.from-\w+\.(?P<state>[0-9a-f]{10})$", re.ASCII)
"""How the names of quantizations that were made here end."""
_SAMPLING = "general.sampling."
_NAMELESS = re.compile(r"(ggml-)?model|sha256[-:][0-9a-f]{64}", re.IGNORECASE | re.ASCII)


class ModelFile(msgspec.Struct, frozen=True, kw_only=True):
    """A model that can be loaded. Texts are of unknown origin."""

    path: Path
    """What llama.cpp is to open: the file, or the first shard."""
    shards: tuple[Path, ...]
    """All files of the model, in order."""
    name: str
    """What people call it: the file's name without quantization, else the title."""
    title: str
    """``general.name``; may be empty."""
    architecture: str
    quantization: str
    """The recipe that the file is labelled with, e.g. ``Q4_K_M``; without one, the type of most of the weights."""
    dominant_type: str = ""
    """The type of most of the weights if it contradicts that label; else empty."""
    bytes: int
    """Size of the weights."""
    parameters: int
    trained_context: int
    """Tokens."""
    layers: int
    has_template: bool
    """Whether the file brings a chat template."""
    experts: int | None
    """Experts per layer; ``None`` for a dense model."""
    experts_used: int | None
    """How many of them a token passes."""
    sliding_window: int | None
    """Tokens that a layer with a sliding window sees; ``None`` without one."""
    key_widths: tuple[int, ...]
    """Values that each layer keeps per token as keys."""
    value_widths: tuple[int, ...]
    """Values that each layer keeps per token as values."""
    weight_traffic: WeightTraffic | None = None
    """What of the weights is read per token; ``None`` where a tensor is of a type that is not known here."""
    attention_growth: float | None = None
    """Multiplications per token for each token of context, as a share of those with the weights."""
    width: int | None = None
    """Values per token between two layers; ``None`` where the header does not say."""
    heads: int | None = None
    """Attention heads of the widest layer; ``None`` where the header does not say."""
    vocabulary: int | None = None
    """Tokens; ``None`` where the header does not say."""
    tokenizer: str = ""
    """Its kind and, in brackets, how it splits text; may be empty."""
    requantized_from: str = ""
    """The quantization that this one was made from, as this program notes it; empty when that is not known."""
    sampling: dict[str, Scalar] = {}
    """The file's own defaults for sampling (``general.sampling.…``) as stored, whether they are valid or not."""
    lacks_pre_tokenizer: bool = False
    """Whether llama.cpp has to guess how the text is split before it is tokenized, which degrades what is generated."""

    def kv_bytes_per_token(self, type_k: str = "f16", type_v: str = "f16") -> int:
        """Return the bytes of KV cache that one token takes; 0 for recurrent models.

        The formula is in ``kv_cache``; with sliding windows it is an upper bound. Raises ``ModelError`` when the model
        cannot have a cache of these types.
        """
        return bytes_per_token(self.key_widths, self.value_widths, type_k, type_v)


def read_model(path: Path, name: str | None = None) -> ModelFile:
    """Read the facts of the model at ``path`` (any shard of a split one), which is called ``name`` if that is given.

    Raises ``ModelError`` for what cannot be read, is incomplete, or cannot generate text.
    """
    shards = read_shards(path)
    first = shards[0]
    refuse_unfit_kind(first)
    for shard in shards:
        refuse_incomplete(shard)
    tensors = [tensor for shard in shards for tensor in shard.tensors]
    refuse_without_tensors(first, len(tensors))
    architecture = first.text("general.architecture") or ""
    key_widths, value_widths = cache_widths(first, architecture)
    layers = layer_count(first, architecture)
    experts = first.integer(f"{architecture}.expert_count") or None
    experts_used = first.integer(f"{architecture}.expert_used_count") or None
    title = (first.text("general.name") or "").strip()
    quantization, dominant_type = _quantization(first, tensors)
    return ModelFile(
        path=first.path,
        shards=tuple(shard.path for shard in shards),
        name=name or _short_name(first.path, title),
        title=title,
        architecture=architecture,
        quantization=quantization,
        dominant_type=dominant_type,
        bytes=sum(_weight_bytes(shard) for shard in shards),
        parameters=sum(tensor.values for tensor in tensors),
        trained_context=_required(first, f"{architecture}.context_length"),
        layers=layers,
        has_template=bool(first.text("tokenizer.chat_template")),
        experts=experts,
        experts_used=experts_used,
        sliding_window=first.integer(f"{architecture}.attention.sliding_window") or None,
        key_widths=key_widths,
        value_widths=value_widths,
        weight_traffic=weight_traffic(tensors, layers, experts, experts_used),
        attention_growth=attention_width(first, architecture, key_widths, value_widths)
        / max(1, multiplied_weights(tensors, layers, experts, experts_used)),
        width=first.integer(f"{architecture}.embedding_length"),
        heads=_most(first, f"{architecture}.attention.head_count"),
        vocabulary=_vocabulary(first, architecture),
        tokenizer=_tokenizer(first),
        requantized_from=first.text(REQUANTIZED_KEY) or "",
        sampling=_sampling(first),
        lacks_pre_tokenizer=first.text("tokenizer.ggml.model") == "gpt2" and not first.text("tokenizer.ggml.pre"),
    )


def _required(header: Header, key: str) -> int:
    value = header.integer(key)
    if value is None or value <= 0:
        raise ModelError(
            f"{shown(header.path.name)} lacks what llama.cpp needs to know.",
            f"Its header has no usable {shown(key, 80)}.",
            "Get another conversion of the model.",
        )
    return value


def _short_name(path: Path, title: str) -> str:
    stem = _QUANTIZATION_SUFFIX.sub("", MADE_SUFFIX.sub("", without_shard_number(path.name)))
    return title or stem if _NAMELESS.fullmatch(stem) else stem


def _quantization(first: Header, tensors: list[Tensor]) -> tuple[str, str]:
    """Return the label, and the type of most of the weights if that contradicts it."""
    recipe = first.integer("general.file_type")
    label = None if recipe is None else FILE_TYPES.get(recipe & ~GUESSED_FILE_TYPE)
    if label is None:
        return type_of_most(tensors), ""
    return label, type_of_most(tensors) if contradicted(label, tensors) else ""


def _sampling(header: Header) -> dict[str, Scalar]:
    found = (
        (key.removeprefix(_SAMPLING), value) for key, value in header.metadata.items() if key.startswith(_SAMPLING)
    )
    return {name: value for name, value in found if isinstance(value, int | float | str)}


def _most(header: Header, key: str) -> int | None:
    value = header.metadata.get(key)
    numbers = [entry for entry in (value if isinstance(value, tuple) else (value,)) if isinstance(entry, int)]
    return max(numbers, default=None)


def _vocabulary(header: Header, architecture: str) -> int | None:
    tokens = header.metadata.get("tokenizer.ggml.tokens")
    if isinstance(tokens, LongArray):
        return tokens.length
    return len(tokens) if isinstance(tokens, tuple) else header.integer(f"{architecture}.vocab_size")


def _tokenizer(header: Header) -> str:
    kind, split = header.text("tokenizer.ggml.model") or "", header.text("tokenizer.ggml.pre")
    return f"{kind} ({split})" if kind and split else kind


def _weight_bytes(header: Header) -> int:
    known = [tensor.bytes for tensor in header.tensors if tensor.bytes is not None]
    if len(known) == len(header.tensors):
        return sum(known)
    # Where a type is newer than the table, all that follows the header is weights and a little padding.
    return header.file_bytes - header.data_offset
