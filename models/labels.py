"""Whether a file's tensors have the types that its label, ``general.file_type``, says."""

from collections import Counter
from collections.abc import Iterable

from .ggml_types import TENSOR_TYPES
from .header import Tensor

_WRITES: dict[str, tuple[str, ...]] = {
    "Q2_K": ("Q2_K", "Q3_K"),
    "Q2_K_S": ("Q2_K",),
    "Q3_K_S": ("Q3_K",),
    "Q3_K_M": ("Q3_K", "Q4_K"),
    "Q3_K_L": ("Q3_K", "Q4_K", "Q5_K"),
    "Q4_K_S": ("Q4_K", "Q5_K"),
    "Q4_K_M": ("Q4_K", "Q5_K", "Q6_K"),
    "Q5_K_S": ("Q5_K",),
    "Q5_K_M": ("Q5_K", "Q6_K"),
    "IQ1_S": ("IQ1_S", "IQ2_XXS", "Q2_K"),
    "IQ1_M": ("IQ1_M", "IQ2_XXS", "Q2_K"),
    "IQ2_XXS": ("IQ2_XXS", "Q2_K"),
    "IQ2_XS": ("IQ2_XS", "Q2_K"),
    "IQ2_S": ("IQ2_XS", "IQ2_S", "IQ3_S"),
    "IQ2_M": ("IQ2_S", "IQ3_S"),
    "IQ3_XXS": ("IQ3_XXS", "IQ2_S", "IQ3_S", "Q3_K"),
    "IQ3_XS": ("IQ3_S", "IQ3_XXS"),
    "IQ3_M": ("IQ3_S", "Q4_K"),
    "IQ4_NL": ("IQ4_NL", "Q5_K"),
    "IQ4_XS": ("IQ4_XS", "Q5_K"),
    "MXFP4": ("MXFP4", "Q8_0"),
    "NVFP4": ("NVFP4", "Q8_0", "BF16", "F16"),
    "F16": ("F16", "BF16"),
    "BF16": ("BF16", "F16"),
}
"""Types that a recipe may write for most of the weights, after ``llama_tensor_get_type_impl`` in llama-quant.cpp; a
recipe that is not listed writes the type of the same name."""

_FALLBACKS = {
    **dict.fromkeys(
        ("IQ1_S", "IQ1_M", "IQ2_XXS", "IQ2_XS", "IQ2_S", "IQ3_XXS", "IQ3_S", "IQ4_XS"),
        "IQ4_NL",
    ),
    **dict.fromkeys(("Q2_K", "Q3_K", "TQ1_0", "TQ2_0", "Q2_0"), "Q4_0"),
    "Q4_K": "Q5_0",
    "Q5_K": "Q5_1",
    "Q6_K": "Q8_0",
}
"""Types that are written instead if a row does not divide into blocks: ``tensor_type_fallback``, in the same file."""

_LEAST_SHARE = 0.25
_ASIDE = ("token_embd.", "per_layer_token_embd.", "output.")
"""Tensors that often have another type on purpose, and are most of a small model."""


def type_of_most(tensors: Iterable[Tensor]) -> str:
    """Return the type of most of the values."""
    values = _values(tensors)
    return max(values, key=lambda name: values[name])


def contradicted(label: str, tensors: Iterable[Tensor]) -> bool:
    """Return whether ``tensors`` contradict a recipe of that name.

    They do if most of the weights have a type that it would not write, and less than a quarter have one that it would.
    The embeddings, the output, vectors (norms, biases) and fallbacks for a tensor's shape do not count against it.
    """
    weights = [tensor for tensor in tensors if len(tensor.dimensions) > 1]
    values = _values([tensor for tensor in weights if not tensor.name.startswith(_ASIDE)] or weights)
    total = sum(values.values())
    if not total:
        return False
    meant = set(_WRITES.get(label, (label,)))
    meant |= {_FALLBACKS[name] for name in meant if name in _FALLBACKS}
    if max(values, key=lambda name: values[name]) in meant:
        return False
    return sum(values[name] for name in meant) < _LEAST_SHARE * total


def _values(tensors: Iterable[Tensor]) -> Counter[str]:
    values: Counter[str] = Counter()
    for tensor in tensors:
        form = TENSOR_TYPES.get(tensor.type)
        values[f"type {tensor.type}" if form is None else form.name] += tensor.values
    return values
