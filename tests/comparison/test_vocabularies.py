"""Lanes that read other prompt tokens than the reference: another vocabulary, or only another template."""

from pathlib import Path

import pytest

from decodescope.backends.launch import Source
from decodescope.comparison.vocabularies import compare_vocabularies
from decodescope.models.facts import ModelFile, read_model

from ..models.gguf_files import F32, gguf, tiny_llama, write
from .lanes import a_lane, a_round

WORDS = [f"w{number}" for number in range(64)]


def model(path: Path, tokens: list[str], template: str) -> ModelFile:
    metadata = tiny_llama(
        tokenizer__ggml__model="gpt2", tokenizer__ggml__tokens=tokens, tokenizer__chat_template=template
    )
    return read_model(write(path, gguf(metadata, [("token_embd.weight", (64, 8), F32)])))


def known(sources: list[Source | None], *prompts: tuple[int, ...]) -> list[bool | None]:
    lanes = [a_lane(number, "x", a_round(prompt=prompt)) for number, prompt in enumerate(prompts)]
    compare_vocabularies(lanes, sources)
    return [lane.own_vocabulary for lane in lanes]


def test_another_template_is_no_other_vocabulary(tmp_path: Path) -> None:
    sources = [model(tmp_path / f"{name}.gguf", WORDS, f"{{{{ '{name}' }}}}") for name in "ab"]
    assert known([*sources], (1, 2), (1, 3)) == [None, False]


def test_another_vocabulary(tmp_path: Path) -> None:
    sources = [model(tmp_path / "a.gguf", WORDS, "x"), model(tmp_path / "b.gguf", [*WORDS[:-1], "other"], "x")]
    assert known([*sources], (1, 2), (1, 3)) == [None, True]


def test_nobody_asks_where_the_prompt_is_the_same(tmp_path: Path) -> None:
    source = model(tmp_path / "a.gguf", WORDS, "x")
    gone = model(tmp_path / "b.gguf", WORDS, "x")
    gone.path.unlink()
    assert known([source, gone], (1, 2), (1, 2)) == [None, None]
    assert known([source, gone], (1, 2), (1, 3)) == [None, True]


@pytest.mark.parametrize("missing", [0, 1])
def test_what_is_no_model_has_no_vocabulary(tmp_path: Path, missing: int) -> None:
    sources: list[Source | None] = [model(tmp_path / "a.gguf", WORDS, "x")] * 2
    sources[missing] = None
    assert known(sources, (1, 2), (1, 3)) == [None, True]
