"""The quantizations that llama.cpp can make of a model, under the names that its own tools use."""

from typing import Protocol

from .errors import ModelError, listed, shown
from .ggml_types import FILE_TYPES
from .suggestions import did_you_mean, nearest

_NEED_IMPORTANCE = frozenset({"IQ1_S", "IQ1_M", "IQ2_XXS", "IQ2_XS", "IQ2_S", "IQ2_M", "IQ3_XXS", "IQ3_XS", "Q2_K_S"})
"""llama.cpp refuses these without an importance matrix, for one tensor or another."""
_TRAINED_FOR = frozenset({"TQ1_0", "TQ2_0", "MXFP4", "NVFP4", "Q1_0", "Q2_0"})
"""Of use only where a model was trained in them."""
_ALIASES = {"Q3_K": "Q3_K_M", "Q4_K": "Q4_K_M", "Q5_K": "Q5_K_M"}
FULL_PRECISION = frozenset({"F32", "F16", "BF16"})

RECIPES: dict[str, int] = {
    name: number for number, name in FILE_TYPES.items() if name not in _NEED_IMPORTANCE | _TRAINED_FOR
}
"""What can be made, and llama.cpp's numbers of it (``enum llama_ftype``)."""


def known_recipe(text: str) -> str | None:
    """Return the name in ``RECIPES`` for a word, in capitals or not; ``None`` if it cannot be made."""
    name = text.strip().upper()
    name = _ALIASES.get(name, name)
    return name if name in RECIPES else None


def recipe_named(text: str) -> str:
    """Return the name in ``RECIPES`` for what a person writes, in capitals or not; ``Q4_K`` is ``Q4_K_M``.

    Raises ModelError for what is unknown or cannot be made here.
    """
    if (known := known_recipe(text)) is not None:
        return known
    name = text.strip().upper()
    if name in _NEED_IMPORTANCE:
        raise ModelError(
            f"{name} cannot be made here.",
            "llama.cpp makes it only with an importance matrix, which takes a text and a long computation.",
            "Get it ready-made, or choose Q2_K, Q3_K_S or IQ3_S.",
        )
    if name in _TRAINED_FOR:
        raise ModelError(
            f"{name} cannot be made here.", "It is for models that were trained in it.", "Choose Q4_0 or Q2_K."
        )
    raise ModelError(
        f"There is no quantization '{shown(text, 40)}'.",
        f"There are {listed(list(RECIPES), len(RECIPES))}.",
        did_you_mean(nearest(name, RECIPES, alike=0.5)),
    )


def requantized_from(quantization: str, before: str) -> str:
    """Return what is to be said of a model made from one in ``quantization``, itself requantized from ``before``.

    Empty when nothing but full precision lies behind it.
    """
    if quantization in FULL_PRECISION:
        return before
    return with_origin(quantization, before)


def with_origin(quantization: str, requantized_from: str) -> str:
    """Return a quantization with what it was made from, where that was quantized itself: ``Q2_K from Q4_1``."""
    return f"{quantization} from {requantized_from}" if requantized_from else quantization


class _Quantized(Protocol):
    """What a model's file or an engine says about its weights."""

    @property
    def quantization(self) -> str: ...
    @property
    def dominant_type(self) -> str: ...
    @property
    def requantized_from(self) -> str: ...
    @property
    def bytes(self) -> int: ...
    @property
    def parameters(self) -> int: ...


def quantization_of(model: _Quantized) -> str:
    """Return the quantization as it is shown: with its origin, and if its label is wrong with the real type.

    Examples: ``Q2_K from Q4_1`` and ``Q4_1 (labelled Q4_K_M), 5.7 bits/weight``.
    """
    if not model.dominant_type:
        return with_origin(model.quantization, model.requantized_from)
    name = with_origin(model.dominant_type, model.requantized_from)
    return f"{name} (labelled {model.quantization}), {bits_per_weight(model):.1f} bits/weight"


def bits_per_weight(model: _Quantized) -> float:
    """Return the average bits per weight over all tensors."""
    return 8 * model.bytes / max(1, model.parameters)
