"""How large a context is allocated."""

import random

import pytest

from decodescope.backends.engine import EngineError
from decodescope.backends.llama.context_size import choose_context

KIB, MIB, GIB = 2**10, 2**20, 2**30


def test_the_trained_context_where_it_fits() -> None:
    # 8,192 × 22.5 KiB = 180 MiB, less than half of 1 GiB.
    choice = choose_context(0, 8192, 23_040, 1 * GIB)
    assert choice.tokens == 8192
    assert choice.note == ""


def test_a_million_trained_tokens_are_capped_by_memory_and_the_estimate_is_shown() -> None:
    # Half of 32 GiB over 128 KiB a token: 16 GiB / 128 KiB = 131,072 tokens.
    choice = choose_context(0, 1_048_576, 128 * KIB, 32 * GIB)
    assert choice.tokens == 131_072
    assert "1,048,576" in choice.note
    assert "131,072" in choice.note
    assert "16.0 GiB" in choice.note


def test_asking_for_too_much_names_both_figures_and_what_would_fit() -> None:
    # 1,048,576 × 128 KiB = 128 GiB; 32 GiB hold 262,144 tokens.
    with pytest.raises(EngineError) as caught:
        choose_context(1_048_576, 1_048_576, 128 * KIB, 32 * GIB)
    assert "1,048,576 tokens" in caught.value.what
    assert "128.0 GiB" in caught.value.what
    assert "32.0 GiB" in caught.value.what
    assert "-c 262144" in caught.value.remedy
    assert caught.value.most_context == 262_144
    assert "-ctk q8_0" in caught.value.remedy


def test_what_the_remedy_names_is_accepted() -> None:
    with pytest.raises(EngineError):
        choose_context(262_145, 1_048_576, 128 * KIB, 32 * GIB)
    assert choose_context(262_144, 1_048_576, 128 * KIB, 32 * GIB).tokens == 262_144


def test_what_was_asked_for_may_take_more_than_half_and_is_not_rounded() -> None:
    choice = choose_context(6001, 8192, 128 * KIB, 1 * GIB)
    assert choice.tokens == 6001
    assert choice.note == ""


def test_more_than_trained_may_be_asked_for_and_is_said() -> None:
    choice = choose_context(16_384, 8192, 1 * KIB, 1 * GIB)
    assert choice.tokens == 16_384
    assert "8,192" in choice.note


def test_the_remedy_stays_within_what_the_model_was_trained_for() -> None:
    # 1 GiB holds 8,192 tokens of 128 KiB; the model knows 4,096.
    with pytest.raises(EngineError) as caught:
        choose_context(16_384, 4096, 128 * KIB, 1 * GIB)
    assert "-c 4096" in caught.value.remedy
    assert caught.value.most_context == 8192


def test_a_memory_of_fixed_size_has_no_limit() -> None:
    assert choose_context(0, 1_048_576, 0, 1 * MIB).tokens == 1_048_576
    assert choose_context(1_048_576, 1_048_576, 0, 0).tokens == 1_048_576


def test_a_capped_context_is_a_round_number() -> None:
    # Half of 1 GiB over 100,000 bytes: 5,368 tokens, rounded down to 20 × 256.
    assert choose_context(0, 32_768, 100_000, 1 * GIB).tokens == 5120


def test_with_hardly_any_memory_a_small_context_is_tried() -> None:
    assert choose_context(0, 32_768, 128 * KIB, 1 * MIB).tokens == 512


def test_a_small_trained_context_is_never_exceeded() -> None:
    assert choose_context(0, 256, 128 * KIB, 1 * MIB).tokens == 256


def test_the_default_is_never_above_trained_and_its_cache_never_above_half() -> None:
    generator = random.Random(5)
    for _ in range(2000):
        trained = generator.choice((512, 2048, 4096, 32_768, 131_072, 1_048_576))
        per_token = generator.randrange(1, 2**20)
        free = generator.randrange(0, 2**38)
        choice = choose_context(0, trained, per_token, free)
        assert 0 < choice.tokens <= trained
        assert choice.tokens <= 512 or choice.tokens * per_token <= free / 2
        assert (choice.note == "") == (choice.tokens == trained)


def test_the_remedy_never_names_a_context_that_does_not_fit() -> None:
    # 30 MiB hold 240 tokens of 128 KiB.
    with pytest.raises(EngineError) as caught:
        choose_context(4096, 8192, 128 * KIB, 30 * MIB)
    assert "-c 512" not in caught.value.remedy


def test_small_figures_can_be_told_apart() -> None:
    # 4,096 × 10 KiB = 40 MiB, and 20 MiB are free.
    with pytest.raises(EngineError) as caught:
        choose_context(4096, 8192, 10 * KIB, 20 * MIB)
    assert "0.0 GiB" not in caught.value.what
