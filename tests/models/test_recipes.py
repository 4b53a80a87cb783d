"""Which quantizations can be made, and what is written instead where a shape forbids it."""

import pytest

from decodescope.models.errors import ModelError
from decodescope.models.fallbacks import fallbacks
from decodescope.models.header import Tensor
from decodescope.models.recipes import recipe_named, requantized_from, with_origin

F32, F16, Q4_0, Q5_0, Q8_0, Q4_K, Q6_K, BF16 = 0, 1, 2, 6, 8, 12, 14, 30


@pytest.mark.parametrize(
    ("written", "meant"),
    [("Q4_K_M", "Q4_K_M"), ("q8_0", "Q8_0"), (" bf16 ", "BF16"), ("q4_k", "Q4_K_M"), ("Q3_K", "Q3_K_M")],
)
def test_names(written: str, meant: str) -> None:
    assert recipe_named(written) == meant


@pytest.mark.parametrize("name", ["IQ1_S", "iq2_m", "Q2_K_S", "IQ3_XXS"])
def test_what_needs_an_importance_matrix_is_refused(name: str) -> None:
    with pytest.raises(ModelError, match="importance matrix"):
        recipe_named(name)


def test_an_unknown_one_gets_the_nearest_and_all_of_them() -> None:
    with pytest.raises(ModelError) as refused:
        recipe_named("Q4_KM")
    assert "IQ4_XS" in refused.value.reason
    assert "Q4_K_M" in refused.value.remedy


def test_hostile_names_are_shown_escaped() -> None:
    with pytest.raises(ModelError) as refused:
        recipe_named("\x1b[2J")
    assert "\x1b" not in str(refused.value)


def test_where_a_model_comes_from() -> None:
    assert requantized_from("F16", "") == ""
    assert requantized_from("Q4_1", "") == "Q4_1"
    assert requantized_from("F16", "Q4_1") == "Q4_1"
    assert requantized_from("Q8_0", "Q4_1") == "Q8_0 from Q4_1"
    assert with_origin("Q2_K", "Q4_1") == "Q2_K from Q4_1"
    assert with_origin("Q2_K", "") == "Q2_K"


def _tensors(*forms: tuple[int, int]) -> list[Tensor]:
    return [Tensor(f"t{index}", (row, 8), kind, 0, 0) for index, (row, kind) in enumerate(forms)]


def test_rows_that_do_not_divide_are_told_with_what_was_meant() -> None:
    tensors = _tensors((576, Q5_0), (576, Q5_0), (576, Q8_0), (1536, Q4_K), (576, F32))
    assert fallbacks(tensors, "Q4_K_M") == ("2 tensors as Q5_0 instead of Q4_K", "1 tensor as Q8_0 instead of Q6_K")


def test_what_a_recipe_mixes_on_purpose_is_no_fallback() -> None:
    assert fallbacks(_tensors((512, Q4_K), (512, Q6_K), (256, Q5_0)), "Q4_K_M") == ()


def test_rows_too_odd_for_any_block() -> None:
    assert fallbacks(_tensors((40, F16)), "Q4_0") == ("1 tensor as F16 instead of Q4_0",)
    assert fallbacks(_tensors((40, F16)), "Q4_K_M") == ("1 tensor as F16 instead of Q4_K",)
    assert fallbacks(_tensors((40, F16)), "F16") == ()


def test_tensors_that_are_never_quantized() -> None:
    assert fallbacks([Tensor("norm", (40,), F32, 0, 0), *_tensors((4, F32), (40, BF16))], "Q2_K") == ()


def test_recipes_of_short_blocks() -> None:
    assert fallbacks(_tensors((576, Q4_0), (576, Q8_0)), "Q4_0") == ("1 tensor as Q8_0 instead of Q6_K",)
    assert fallbacks(_tensors((576, Q8_0)), "Q8_0") == ()
