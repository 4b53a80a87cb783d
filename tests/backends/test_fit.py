"""What a model would need, from made headers."""

from pathlib import Path

import pytest

from decodescope.backends.fit import estimate
from decodescope.backends.requests import EngineSettings
from decodescope.models.errors import ModelError
from decodescope.models.facts import ModelFile, read_model

from ..models.gguf_files import F16, gguf, tiny_llama, write

MIB = 2**20


@pytest.fixture
def model(tmp_path: Path) -> ModelFile:
    """512 tokens of training, 2 layers, 64 wide, 4 heads, 2 of them for keys and values: 32 values each a layer."""
    metadata = tiny_llama(tokenizer__ggml__tokens=[f"t{number}" for number in range(2000)])
    return read_model(write(tmp_path / "m.gguf", gguf(metadata, [("token_embd.weight", (64, 2000), F16)])))


def test_the_sum_by_hand(model: ModelFile) -> None:
    fit = estimate(model, EngineSettings(), 1000 * MIB)
    assert fit.context == 512
    assert fit.weights == 64 * 2000 * 2
    # 2 layers x (32 keys + 32 values) x 2 bytes = 256 bytes a token.
    assert fit.cache == 512 * 256
    # 512 tokens at once x 4 bytes x (2000 logits + 256 of mask + 3 x 64), and the process.
    assert fit.compute == 512 * 4 * (2000 + 256 + 192) + 64 * MIB
    assert fit.needed == fit.weights + fit.cache + fit.compute
    assert fit.fits


def test_the_settings_count(model: ModelFile) -> None:
    plain = estimate(model, EngineSettings(context=4096), 1000 * MIB)
    assert plain.context == 4096
    small = estimate(model, EngineSettings(context=4096, micro_batch=128), 1000 * MIB)
    assert (plain.compute - 64 * MIB) == 4 * (small.compute - 64 * MIB)
    # q8_0 keeps 32 values in 34 bytes.
    assert estimate(model, EngineSettings(context=4096, cache_type_k="q8_0"), 1000 * MIB).cache == 4096 * (
        2 * (34 + 64)
    )
    # Without flash attention 4 heads x 4096 scores are more than 2000 logits.
    slow = estimate(model, EngineSettings(context=4096, flash_attention="off"), 1000 * MIB)
    assert slow.compute == 512 * 4 * (4 * 4096 + 2048 + 192) + 64 * MIB


def test_too_little_memory(model: ModelFile) -> None:
    fit = estimate(model, EngineSettings(), 20 * MIB)
    assert not fit.fits
    assert fit.problem == ""
    assert fit.free == 20 * MIB


def test_a_context_that_cannot_be(model: ModelFile) -> None:
    fit = estimate(model, EngineSettings(context=1_000_000), 100 * MIB)
    assert not fit.fits
    assert "1,000,000 tokens does not fit" in fit.problem


def test_a_default_context_is_capped_as_the_engine_does(tmp_path: Path) -> None:
    path = write(tmp_path / "long.gguf", gguf(tiny_llama(llama__context_length=1_048_576)))
    fit = estimate(read_model(path), EngineSettings(), 100 * MIB)
    # Half of what is free beside the weights (288 bytes), 256 bytes a token, in steps of 256 tokens.
    assert fit.context == (100 * MIB - 288) // 2 // 256 // 256 * 256


def test_a_cache_type_that_cannot_be(tmp_path: Path) -> None:
    path = write(tmp_path / "odd.gguf", gguf(tiny_llama(llama__attention__key_length=20)))
    with pytest.raises(ModelError, match="cannot store keys as q8_0"):
        estimate(read_model(path), EngineSettings(cache_type_k="q8_0"), 100 * MIB)


def test_a_header_that_says_little(tmp_path: Path) -> None:
    fit = estimate(read_model(write(tmp_path / "bare.gguf")), EngineSettings(flash_attention="off"), 100 * MIB)
    # No vocabulary: only the scores of 4 heads, the mask and the rows are counted.
    assert fit.compute == 512 * 4 * (4 * 512 + 256 + 192) + 64 * MIB
