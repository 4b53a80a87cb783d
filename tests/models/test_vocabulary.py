import shutil
from pathlib import Path

import pytest

from decodescope.models.errors import ModelError
from decodescope.models.facts import ModelFile, read_model
from decodescope.models.header import stored_value
from decodescope.models.vocabulary import vocabulary_difference

from .gguf_files import F32, Value, gguf, tiny_llama, write


def model(path: Path, tokens: list[str], **changes: Value | None) -> ModelFile:
    metadata = tiny_llama(tokenizer__ggml__model="gpt2", tokenizer__ggml__tokens=tokens, **changes)
    return read_model(write(path, gguf(metadata, [("token_embd.weight", (64, 8), F32)])))


def words(count: int) -> list[str]:
    return [f"w{number}" for number in range(count)]


@pytest.mark.parametrize("count", [8, 5000])
def test_the_same_tokens_are_the_same_vocabulary_whatever_else_differs(tmp_path: Path, count: int) -> None:
    one = model(tmp_path / "one.gguf", words(count))
    other = model(tmp_path / "other.gguf", words(count), tokenizer__ggml__bos_token_id=3, general__name="Another")
    assert vocabulary_difference(one, other) == ""


@pytest.mark.parametrize("count", [8, 5000])
def test_one_other_token_is_another_vocabulary(tmp_path: Path, count: int) -> None:
    one = model(tmp_path / "one.gguf", words(count))
    other = model(tmp_path / "other.gguf", [*words(count - 1), "other"])
    assert vocabulary_difference(one, other) == f"their vocabularies of {count:,} tokens differ"


def test_another_number_of_tokens_is_another_vocabulary(tmp_path: Path) -> None:
    one, other = model(tmp_path / "one.gguf", words(5000)), model(tmp_path / "other.gguf", words(5001))
    assert vocabulary_difference(one, other) == "their vocabularies differ: 5,000 tokens and 5,001 tokens"


def test_a_file_that_was_changed_is_read_again(tmp_path: Path) -> None:
    one, other = model(tmp_path / "one.gguf", words(9)), model(tmp_path / "other.gguf", words(9))
    assert vocabulary_difference(one, other) == ""
    changed = model(tmp_path / "changed.gguf", ["other", *words(8)])
    shutil.move(changed.path, other.path)
    assert vocabulary_difference(one, other) != ""


def test_a_file_that_has_gone_is_told(tmp_path: Path) -> None:
    one, other = model(tmp_path / "one.gguf", words(9)), model(tmp_path / "other.gguf", words(9))
    other.path.unlink()
    with pytest.raises(ModelError, match=r"other\.gguf"):
        vocabulary_difference(one, other)


def test_a_stored_value_is_there_whole(tmp_path: Path) -> None:
    path = model(tmp_path / "one.gguf", words(5000)).path
    stored = stored_value(path, "tokenizer.ggml.tokens")
    assert stored is not None
    # type (4), type of entries (4), their number (8), and 5,000 texts of 8 + 2 to 5 bytes
    assert len(stored) == 16 + 5000 * 8 + sum(len(word) for word in words(5000))
    assert stored_value(path, "general.nothing") is None
