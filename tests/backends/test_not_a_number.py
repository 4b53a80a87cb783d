"""Models whose output is not a number: every way of asking ends with a failure that names the token."""

from pathlib import Path

import pytest

from decodescope.backends.events import Event, Failed, Finished, Measured, Scored, Token, Tokenized
from decodescope.backends.requests import MeasureRequest, Request, Sampling, ScoreRequest

from .engines import GREEDY, Open
from .tiny_models import spoil, tiny_llama

pytestmark = pytest.mark.slow

UNUSED = 40_000
"""A token that no prompt here holds."""
SAMPLED = Sampling(seed=1)


def failure(events: list[Event]) -> Failed:
    failed = events[-1]
    assert isinstance(failed, Failed), failed
    assert failed.stage == "generate"
    assert "not a number" in failed.what
    assert failed.remedy
    assert not any(isinstance(event, Token | Scored | Measured) for event in events)
    return failed


@pytest.mark.parametrize("sampling", [GREEDY, SAMPLED], ids=["greedy", "sampled"])
@pytest.mark.parametrize(
    ("tensor", "row"), [("output_norm.weight", 0), ("output.weight", UNUSED)], ids=["all logits", "one logit"]
)
def test_an_answer_fails_at_its_first_token(
    open_llama: Open, demo_path: Path, tmp_path: Path, tensor: str, row: int, sampling: Sampling
) -> None:
    engine = open_llama(spoil(tiny_llama(tmp_path / "nan.gguf", demo_path, untied=True), tensor, row))
    engine.load()
    for _ in range(2):
        assert "token 1:" in failure(engine.ask("hi", sampling=sampling)).what


def test_measuring_and_scoring_fail_too(open_llama: Open, demo_path: Path, tmp_path: Path) -> None:
    engine = open_llama(spoil(tiny_llama(tmp_path / "nan.gguf", demo_path), "output_norm.weight"))
    engine.load()
    for request in (
        MeasureRequest(prompt=8),
        MeasureRequest(generate=4),
        MeasureRequest(generate=2, depth=8),
        MeasureRequest(prompt=8, generate=2, sampling=SAMPLED),
    ):
        engine.host.measure(request)
        failure(engine.until(Measured, Finished))
    engine.host.tokenize("Some text.")
    tokenized = engine.until(Tokenized)[-1]
    assert isinstance(tokenized, Tokenized)
    engine.host.score(ScoreRequest(tokens=tokenized.tokens, first=1))
    assert "token 2 of the text" in failure(engine.until(Scored, Finished)).what


def test_nothing_of_it_stays_in_the_cache(open_llama: Open, demo_path: Path, tmp_path: Path) -> None:
    """The embedding of one token is damaged: what goes before and after it without that token is as ever."""
    sound = open_llama(tiny_llama(tmp_path / "sound.gguf", demo_path, untied=True))
    sound.load()
    sound.host.tokenize("Paris")
    tokenized = sound.until(Tokenized)[-1]
    assert isinstance(tokenized, Tokenized)
    damaged = spoil(tiny_llama(tmp_path / "nan.gguf", demo_path, untied=True), "token_embd.weight", tokenized.tokens[0])
    engine = open_llama(damaged)
    engine.load()
    request = Request(prompt="One two three four", max_tokens=4, sampling=GREEDY)
    expected = [event.id for event in sound.run(request) if isinstance(event, Token)]
    for _ in range(2):
        assert [event.id for event in engine.run(request) if isinstance(event, Token)] == expected
        failure(engine.run(Request(prompt="Paris", max_tokens=4, sampling=GREEDY)))


def test_a_token_that_the_model_writes_itself_is_named_by_its_number(
    open_llama: Open, demo_path: Path, tmp_path: Path
) -> None:
    sound = open_llama(tiny_llama(tmp_path / "sound.gguf", demo_path, untied=True))
    sound.load()
    request = Request(prompt="One two three four", max_tokens=4, sampling=GREEDY)
    prompt_and_answer = sound.run(request)
    first = next(event for event in prompt_and_answer if isinstance(event, Token))
    damaged = spoil(tiny_llama(tmp_path / "nan.gguf", demo_path, untied=True), "token_embd.weight", first.id)
    engine = open_llama(damaged)
    engine.load()
    events = engine.run(request)
    assert [event.id for event in events if isinstance(event, Token)] == [first.id]
    failed = events[-1]
    assert isinstance(failed, Failed)
    assert "token 2:" in failed.what
