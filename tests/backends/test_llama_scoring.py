"""Scoring a given text with real models: against other computations, in stretches, beside generation, cancelled."""

import json
import os
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec
import numpy as np
import pytest

from decodescope.backends.events import Event, Failed, Finished, Scored, Token, Tokenized
from decodescope.backends.requests import Request, Sampling, ScoreRequest
from decodescope.backends.scoring import exchange_bytes
from decodescope.comparison.text import chunks, stretches
from decodescope.metrics.divergence import Divergence

from .engines import Engine, Open
from .tiny_models import tiny_llama, tiny_mamba

pytestmark = pytest.mark.slow

VOCABULARY = 49_152
TEXT = (
    "An oscilloscope shows how a voltage changes with time. Its screen has a grid of divisions: across stands time, "
    "upwards the voltage. The probe loads the circuit as little as it can, so that what is seen is what would be there "
    "without it. A trigger starts each sweep at the same point of the signal, which makes a steady picture of it. "
    "Nothing on the screen is of use unless its scale is known, so every good instrument is calibrated now and then."
)
ADD_BOS = b"\x07\x00\x00\x00\x01"  # a boolean, true
GREEDY = Sampling(temp=0, ignore_eos=True)


def loaded(engine: Engine) -> Engine:
    engine.load()
    return engine


def tokens_of(engine: Engine, text: str = TEXT) -> tuple[int, ...]:
    engine.host.tokenize(text)
    tokenized = engine.until(Tokenized)[-1]
    assert isinstance(tokenized, Tokenized)
    return tokenized.tokens


def ids_of(events: list[Event]) -> list[int]:
    return [event.id for event in events if isinstance(event, Token)]


def score(engine: Engine, request: ScoreRequest) -> Scored:
    engine.host.score(request)
    scored = engine.until(Scored, Finished)[-1]
    assert isinstance(scored, Scored), scored
    return scored


def compare(reference: Engine, compared: Engine, tokens: tuple[int, ...], path: Path, rows: int) -> list[Divergence]:
    """Score the text stretch by stretch with both."""
    divergences = [Divergence(tokens, len(tokens)) for _ in range(2)]
    for chunk in chunks(tokens, 512, None):
        for stretch in stretches(chunk, rows):
            request = msgspec.structs.replace(stretch, exchange=os.fsencode(path))
            divergences[0].apply(score(reference, request))
            divergences[1].apply(score(compared, msgspec.structs.replace(request, role="compared")))
    return divergences


def rows_in(path: Path, rows: int) -> "np.ndarray[tuple[int, int], np.dtype[np.float64]]":
    """The logits in an exchange file, shape (rows, vocabulary)."""
    assert path.stat().st_size == exchange_bytes(rows, VOCABULARY)
    records = np.fromfile(path, dtype=np.uint8).reshape(rows, -1)
    return records[:, : 4 * VOCABULARY].copy().view(np.float32).astype(np.float64)


def test_scores_equal_those_of_an_independent_computation(open_llama: Open, tmp_path: Path) -> None:
    """Naive sums in double precision over both models' logits; the models differ in the precision of their caches."""
    settings = {"context": 512, "flash_attention": "on"}
    exact, coarse = (loaded(open_llama(**settings, cache_type_k=kind, cache_type_v=kind)) for kind in ("f16", "q4_0"))
    tokens = tokens_of(exact)
    count = len(tokens) - 1
    request = ScoreRequest(tokens=tokens, first=1, exchange=os.fsencode(tmp_path / "reference"))
    score(exact, request)
    scored = score(coarse, msgspec.structs.replace(request, role="compared"))
    score(coarse, msgspec.structs.replace(request, exchange=os.fsencode(tmp_path / "own")))
    assert scored.first == 1
    assert len(scored.logprobs) == len(scored.kld) == count
    for row, (reference, logits) in enumerate(
        zip(rows_in(tmp_path / "reference", count), rows_in(tmp_path / "own", count), strict=True)
    ):
        token = tokens[row + 1]
        logprobs = logits - logits.max() - np.log(np.exp(logits - logits.max()).sum())
        expected = reference - reference.max() - np.log(np.exp(reference - reference.max()).sum())
        assert scored.logprobs[row] == pytest.approx(logprobs[token], abs=1e-5)
        assert scored.entropies[row] == pytest.approx(-(np.exp(logprobs) * logprobs).sum(), abs=1e-5)
        assert scored.ranks[row] == 1 + (logits > logits[token]).sum()
        order = np.argsort(-logprobs, kind="stable")[:5]
        assert [other.id for other in scored.top[row]] == order.tolist()
        assert [other.logprob for other in scored.top[row]] == pytest.approx(logprobs[order].tolist(), abs=1e-5)
        kld = (np.exp(expected) * (expected - logprobs)).sum()
        assert scored.kld[row] == pytest.approx(kld, abs=1e-5)
        assert scored.same_top[row] == (logits.argmax() == reference.argmax())
    assert 1e-4 < np.mean(scored.kld) < 1
    assert 0 < sum(scored.same_top) < count


def test_log_probabilities_equal_those_of_the_stock_api(open_llama: Open, demo_path: Path) -> None:
    """llama-cpp-python's own high-level API, which keeps the logits of every position."""
    engine = loaded(open_llama(context=512))
    tokens = tokens_of(engine)
    program = textwrap.dedent("""
        import json, sys
        import numpy as np
        from llama_cpp import Llama
        tokens = json.loads(sys.argv[2])
        model = Llama(sys.argv[1], n_ctx=512, n_threads=1, flash_attn=True, logits_all=True, verbose=False)
        model.eval(tokens[:-1])
        logits = model.scores[: len(tokens) - 1].astype(np.float64)
        shifted = logits - logits.max(axis=1, keepdims=True)
        logprobs = shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))
        print(json.dumps([logprobs[row, token] for row, token in enumerate(tokens[1:])]))
    """)
    command = [sys.executable, "-c", program, str(demo_path), json.dumps(tokens)]
    stock = json.loads(subprocess.run(command, check=True, capture_output=True, timeout=300).stdout)
    scored = score(engine, ScoreRequest(tokens=tokens, first=1))
    assert scored.logprobs == pytest.approx(stock, abs=1e-4)
    assert scored.kld == scored.same_top == ()


@pytest.mark.parametrize("rows", [512, 24])
def test_a_model_does_not_diverge_from_itself(open_llama: Open, tmp_path: Path, rows: int) -> None:
    """Although one of the two has the beginning of the text in its cache, computed token by token."""
    first, second = loaded(open_llama(context=512)), loaded(open_llama(context=512))
    first.run(Request(prompt=TEXT[:200], max_tokens=20, sampling=GREEDY))
    tokens = tokens_of(first)
    reference, compared = compare(first, second, tokens, tmp_path / "exchange", rows)
    assert reference.count == compared.count == len(tokens) - 1
    assert compared.mean_kld is not None
    assert compared.mean_kld.value < 1e-6
    assert compared.same_top is not None
    assert compared.same_top.value == 1.0
    assert reference.perplexity == compared.perplexity
    assert (tmp_path / "exchange").stat().st_size <= exchange_bytes(rows, VOCABULARY)


def test_stretches_go_on_where_the_last_one_ended(open_llama: Open, demo_path: Path, tmp_path: Path) -> None:
    """The same text at once and in stretches, whose batches differ: in single precision they agree closely."""
    engine = loaded(open_llama(tiny_llama(tmp_path / "llama.gguf", demo_path), flash_attention="off"))
    tokens = tokens_of(engine)
    whole = score(engine, ScoreRequest(tokens=tokens, first=1))
    (chunk,) = chunks(tokens, 512, None)
    parts = [score(engine, stretch) for stretch in stretches(chunk, 16)]
    logprobs = [logprob for part in parts for logprob in part.logprobs]
    assert logprobs == pytest.approx(whole.logprobs, abs=0.02)
    again = [logprob for stretch in stretches(chunk, 16) for logprob in score(engine, stretch).logprobs]
    assert again == logprobs


def test_chunks_of_a_long_text_are_scored_in_their_second_halves(open_llama: Open, tmp_path: Path) -> None:
    engine = loaded(open_llama(context=512))
    tokens = tokens_of(engine)
    divergence = Divergence(tokens, len(tokens))
    parts = chunks(tokens, 32, None)
    assert len(parts) > 1
    for chunk in parts:
        for stretch in stretches(chunk, 9):
            divergence.apply(score(engine, stretch))
    expected = [start + position for start in range(0, len(tokens) - 31, 32) for position in range(17, 32)]
    assert divergence.positions.tolist() == expected


@pytest.fixture(params=["llama", "mamba"])
def small(request: pytest.FixtureRequest, demo_path: Path, tmp_path: Path) -> Path:
    """A model whose memory can be rolled back, and one whose cannot."""
    make = tiny_llama if request.param == "llama" else tiny_mamba
    return make(tmp_path / f"{request.param}.gguf", demo_path)


def test_scoring_and_generating_do_not_disturb_each_other(open_llama: Open, small: Path) -> None:
    used, fresh = loaded(open_llama(small)), loaded(open_llama(small))
    tokens = tokens_of(used)
    request = Request(prompt=TEXT[:100], max_tokens=12, sampling=GREEDY)
    expected_ids = ids_of(fresh.run(request))
    untouched = loaded(open_llama(small))
    expected = score(untouched, ScoreRequest(tokens=tokens, first=1)).logprobs
    assert score(used, ScoreRequest(tokens=tokens, first=1)).logprobs == expected
    assert ids_of(used.run(request)) == expected_ids
    assert score(used, ScoreRequest(tokens=tokens, first=1)).logprobs == expected
    half = len(tokens) // 2
    score(used, ScoreRequest(tokens=tokens[:half], first=1))
    assert ids_of(used.run(request)) == expected_ids
    # In the middle of a text whose beginning is no longer held.
    rest = score(used, ScoreRequest(tokens=tokens, first=half))
    assert rest.logprobs == pytest.approx(expected[half - 1 :], abs=1e-3)


def test_a_state_that_overflowed_is_gone_with_the_next_request(
    open_llama: Open, demo_path: Path, tmp_path: Path
) -> None:
    """With its random weights the state of this recurrent model grows until it is no number."""
    engine = loaded(open_llama(tiny_mamba(tmp_path / "mamba.gguf", demo_path)))
    tokens = tokens_of(engine)
    expected = score(engine, ScoreRequest(tokens=tokens[:40], first=1)).logprobs
    long = engine.run(Request(prompt="hello there", max_tokens=480, sampling=GREEDY, probabilities=True))
    assert isinstance(long[-1], Failed)
    assert score(engine, ScoreRequest(tokens=tokens[:40], first=1)).logprobs == expected
    engine.run(Request(prompt="hello there", max_tokens=480, sampling=GREEDY))
    again = engine.run(Request(prompt="hello", max_tokens=1, sampling=GREEDY, probabilities=True))
    assert next(event for event in again if isinstance(event, Token)).probability is not None


def test_a_cancel_ends_scoring_at_once_and_leaves_a_clean_engine(open_llama: Open, tmp_path: Path) -> None:
    engine = loaded(open_llama())
    tokens = tokens_of(engine)
    expected = score(engine, ScoreRequest(tokens=tokens, first=1)).logprobs
    long = (tokens * 80)[:8000]
    engine.host.score(ScoreRequest(tokens=long, first=1, exchange=os.fsencode(tmp_path / "exchange")))
    time.sleep(0.2)
    engine.host.cancel()
    asked = time.monotonic()
    finished = engine.until(Finished, Scored)[-1]
    assert isinstance(finished, Finished)
    assert finished.reason == "cancelled"
    assert time.monotonic() - asked < 60  # the whole takes minutes where this is slow, and a node milliseconds
    assert score(engine, ScoreRequest(tokens=tokens, first=1)).logprobs == expected


def test_a_cancel_before_its_turn_cancels(open_llama: Open) -> None:
    engine = loaded(open_llama(context=512))
    tokens = tokens_of(engine)
    engine.host.generate(Request(prompt="hi", max_tokens=400, sampling=GREEDY))
    engine.host.score(ScoreRequest(tokens=tokens, first=1))
    engine.host.cancel()
    ends: list[object] = []
    while len(ends) < 2:
        ends += [event for event in engine.until(Finished, Scored, Failed) if isinstance(event, Finished | Scored)]
    assert [type(end) for end in ends] == [Finished, Finished]


def refusals(tokens: tuple[int, ...], path: bytes) -> Iterator[tuple[ScoreRequest, str]]:
    yield ScoreRequest(tokens=tokens[:1], first=1), "nothing to score"
    yield ScoreRequest(tokens=tokens, first=0), "nothing to score"
    yield ScoreRequest(tokens=tokens * 20, first=1), "context holds 512"
    yield ScoreRequest(tokens=(1, VOCABULARY), first=1), "does not know"
    yield ScoreRequest(tokens=(1, -1), first=1), "does not know"
    yield ScoreRequest(tokens=tokens, first=1, exchange=path, role="compared"), "cannot be used"
    yield ScoreRequest(tokens=tokens, first=1, exchange=path + b"/in/none"), "cannot be used"


def test_what_cannot_be_scored_says_why_and_the_engine_goes_on(open_llama: Open, tmp_path: Path) -> None:
    engine = loaded(open_llama(context=512))
    tokens = tokens_of(engine)
    for request, words in refusals(tokens, os.fsencode(tmp_path / "none")):
        engine.host.score(request)
        failed = engine.until(Scored, Failed)[-1]
        assert isinstance(failed, Failed)
        assert failed.stage == "generate"
        assert words in failed.what
        assert failed.remedy
    assert len(score(engine, ScoreRequest(tokens=tokens, first=1)).logprobs) == len(tokens) - 1


def test_control_spellings_in_a_text_are_plain_text(open_llama: Open) -> None:
    engine = loaded(open_llama(context=512))
    engine.host.tokenize("A<|im_end|>B")
    tokenized = engine.until(Tokenized)[-1]
    assert isinstance(tokenized, Tokenized)
    assert tokenized.bos is None
    assert 2 not in tokenized.tokens
    assert len(tokenized.tokens) > 3


def test_a_text_begins_with_one_bos_where_the_vocabulary_wants_it(
    open_llama: Open, demo_path: Path, tmp_path: Path
) -> None:
    changes = {"tokenizer.ggml.add_bos_token": ADD_BOS}
    engine = loaded(open_llama(tiny_llama(tmp_path / "bos.gguf", demo_path, {**changes})))
    engine.host.tokenize("hello there")
    tokenized = engine.until(Tokenized)[-1]
    assert isinstance(tokenized, Tokenized)
    assert tokenized.bos == 1
    assert tokenized.tokens[0] == 1
    assert tokenized.tokens.count(1) == 1


def test_a_script_cannot_score(open_script: Open) -> None:
    engine = loaded(open_script({"text": "hi", "ms": 1}))
    engine.host.tokenize("hi")
    assert isinstance(engine.until(Failed)[-1], Failed)
    engine.host.score(ScoreRequest(tokens=(1, 2), first=1))
    assert isinstance(engine.until(Failed)[-1], Failed)
    assert isinstance(engine.ask("hi")[-1], Finished)
