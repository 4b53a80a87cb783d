"""Files whose tensors are, or are not, what their label says."""

from pathlib import Path

import pytest

from decodescope.models.facts import read_model
from decodescope.models.ggml_types import FILE_TYPES, TENSOR_TYPES
from decodescope.models.header import Tensor
from decodescope.models.labels import contradicted
from decodescope.models.recipes import quantization_of

from .gguf_files import F32, Q4_1, gguf, tiny_llama, write

NUMBERS = {form.name: number for number, form in TENSOR_TYPES.items()}
LABELS = {name: number for number, name in FILE_TYPES.items()}


def tensors(**values: int) -> list[Tensor]:
    """Tensors of blocks, by type, each with so many rows of 256; a large embedding in Q8_0 and a norm beside them."""
    blocks = [
        Tensor(f"blk.{place}.ffn_up.weight", (256, rows), NUMBERS[name], 0, 0)
        for place, (name, rows) in enumerate(values.items())
    ]
    return [
        Tensor("token_embd.weight", (256, 10_000), NUMBERS["Q8_0"], 0, 0),
        Tensor("blk.0.attn_norm.weight", (256,), NUMBERS["F32"], 0, 0),
        *blocks,
    ]


@pytest.mark.parametrize(
    ("label", "values"),
    [
        ("Q4_K_M", {"Q4_K": 80, "Q6_K": 20}),
        ("Q4_K_M", {"Q5_0": 90, "Q8_0": 10}),  # rows that do not divide into blocks of 256
        ("Q4_K_M", {"Q5_0": 40, "Q4_K": 20, "Q8_0": 50}),
        ("Q4_K_S", {"Q4_K": 70, "Q5_K": 10}),
        ("Q2_K", {"Q2_K": 50, "Q3_K": 51, "Q4_K": 10}),
        ("Q2_K", {"Q4_0": 100}),  # the same
        ("Q3_K_L", {"Q3_K": 50, "Q5_K": 55}),
        ("Q6_K", {"Q8_0": 100}),
        ("Q8_0", {"Q8_0": 100}),
        ("MXFP4", {"MXFP4": 90, "Q8_0": 10}),
        ("MXFP4", {"Q8_0": 100}),  # a dense model
        ("F16", {"F16": 100}),
        ("BF16", {"BF16": 100, "F32": 5}),
        ("F32", {"F32": 100}),
        ("IQ2_XXS", {"IQ2_XXS": 80, "Q2_K": 20}),
        ("IQ1_S", {"IQ2_XXS": 60, "IQ1_S": 40}),
        ("IQ3_M", {"IQ3_S": 60, "Q4_K": 40}),
        ("IQ4_XS", {"IQ4_NL": 100}),
        ("IQ4_NL", {"IQ4_NL": 90, "Q5_K": 10}),
        ("Q4_0", {"Q4_0": 85, "Q4_1": 15}),  # with an importance matrix
    ],
)
def test_what_recipes_write_is_no_contradiction(label: str, values: dict[str, int]) -> None:
    assert not contradicted(label, tensors(**values))


@pytest.mark.parametrize(
    ("label", "values"),
    [
        ("Q4_K_M", {"Q4_1": 100}),
        ("Q8_0", {"Q4_0": 90, "Q8_0": 10}),
        ("Q4_0", {"Q8_0": 100}),
        ("F16", {"Q8_0": 100}),
        ("F16", {"MXFP4": 95, "F16": 5}),
        ("IQ2_XXS", {"Q4_K": 100}),
        ("Q6_K", {"Q2_K": 100}),
    ],
)
def test_what_no_recipe_of_that_name_writes(label: str, values: dict[str, int]) -> None:
    assert contradicted(label, tensors(**values))


def test_every_label_can_be_right() -> None:
    for label in LABELS:
        if label in NUMBERS:
            assert not contradicted(label, tensors(**{label: 100}))


def test_the_dominant_type_and_the_bits_are_shown_with_a_wrong_label(tmp_path: Path) -> None:
    weights = [("blk.0.ffn_up.weight", (64, 8), Q4_1), ("blk.0.attn_norm.weight", (64,), F32)]
    path = write(tmp_path / "m.gguf", gguf(tiny_llama(general__file_type=15), weights))
    model = read_model(path)
    assert (model.quantization, model.dominant_type) == ("Q4_K_M", "Q4_1")
    # 512 values in 16 blocks of 20 bytes, and 64 of 4: 576 bytes, 4,608 bits, of 576 weights.
    assert quantization_of(model) == "Q4_1 (labelled Q4_K_M), 8.0 bits/weight"
    right = read_model(write(tmp_path / "right.gguf", gguf(tiny_llama(general__file_type=3), weights)))
    assert (right.dominant_type, quantization_of(right)) == ("", "Q4_1")
