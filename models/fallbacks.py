"""Where llama.cpp wrote another type than a recipe means, because of a tensor's shape.

Rows are cut into blocks, of 256 values in most types. A row that does not divide into them is written in the type
that llama.cpp keeps for that case (``tensor_type_fallback`` in llama-quant.cpp): Q4_K becomes Q5_0, Q5_K Q5_1, Q6_K
Q8_0, and the smaller ones Q4_0 or IQ4_NL. So the tensors in a file tell by themselves which ones those are. What a
recipe mixes on purpose, such as Q6_K within Q4_K_M, is none.
"""

from collections import Counter
from collections.abc import Iterable

from .ggml_types import TENSOR_TYPES
from .header import Tensor
from .recipes import FULL_PRECISION

_INSTEAD_OF = {"Q5_0": "Q4_K", "Q5_1": "Q5_K", "Q8_0": "Q6_K"}
_LONG_BLOCK = 256
# What the recipes of long blocks write for most tensors; Q2_K mixes two.
_MAIN_TYPES = {
    "Q2_K": "Q2_K or Q3_K",
    "Q3_K_S": "Q3_K",
    "Q3_K_M": "Q3_K",
    "Q3_K_L": "Q3_K",
    "Q4_K_S": "Q4_K",
    "Q4_K_M": "Q4_K",
    "Q5_K_S": "Q5_K",
    "Q5_K_M": "Q5_K",
    "Q6_K": "Q6_K",
    "IQ3_S": "IQ3_S",
    "IQ3_M": "IQ3_S",
    "IQ4_XS": "IQ4_XS",
}
_NEVER_QUANTIZED = frozenset({"F32", "BF16"})


def fallbacks(tensors: Iterable[Tensor], recipe: str) -> tuple[str, ...]:
    """Return in words what of a file made by ``recipe`` is of other types than the recipe means, the most first.

    One entry for each pair of types, such as ``150 tensors as Q5_0 instead of Q4_K``.
    """
    pairs: Counter[tuple[str, str]] = Counter()
    for tensor in tensors:
        form = TENSOR_TYPES.get(tensor.type)
        if form is None or len(tensor.dimensions) < 2:
            continue
        meant = _meant(form.name, tensor.dimensions[0], recipe)
        if meant is not None:
            pairs[form.name, meant] += 1
    return tuple(
        f"{count:,} tensor{'' if count == 1 else 's'} as {written} instead of {meant}"
        for (written, meant), count in pairs.most_common()
    )


def _meant(written: str, row: int, recipe: str) -> str | None:
    """Return the type that stands behind a fallback; ``None`` when ``written`` is none."""
    if written in _NEVER_QUANTIZED or written == recipe or row % _LONG_BLOCK == 0:
        return None
    if recipe in _MAIN_TYPES:
        return _MAIN_TYPES[recipe] if written in ("Q4_0", "IQ4_NL", "F16") else _INSTEAD_OF.get(written)
    if recipe in FULL_PRECISION:
        return None
    # A recipe of short blocks. F16 is for what does not even divide into those; only the output is meant to be Q6_K.
    return recipe if written == "F16" else _INSTEAD_OF["Q8_0"] if written == "Q8_0" else None
