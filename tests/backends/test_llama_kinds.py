"""Kinds of models that the demo model is not: recurrent ones, and vocabularies and templates of other habits."""

from pathlib import Path

import pytest

from decodescope.backends.events import Failed, Finished, Log, ModelReady, RequestTaken, Token
from decodescope.backends.requests import Request, Sampling
from decodescope.metrics.reuse import Loss, lost_reuse
from decodescope.metrics.run import Run

from ..models.gguf_files import Value
from .engines import Open, chat, prompt_of, text_of
from .tiny_models import tiny_llama, tiny_mamba

pytestmark = pytest.mark.slow

GREEDY = Sampling(temp=0, ignore_eos=True)
BOS, END_OF_TURN = 1, 2
ADD_BOS = b"\x07\x00\x00\x00\x01"  # a boolean, true


@pytest.mark.parametrize("sampling", [GREEDY, Sampling(top_k=1, ignore_eos=True)], ids=["determined", "free"])
def test_a_memory_without_rollback_is_recomputed_and_never_wrong(
    open_llama: Open, demo_path: Path, tmp_path: Path, sampling: Sampling
) -> None:
    """Follow-up, edited last turn, repeated prompt, and a prompt cut short: each equals a fresh engine's answer."""
    model = tiny_mamba(tmp_path / "mamba.gguf", demo_path)
    warm = open_llama(model)
    assert not warm.load().rollback
    answer = text_of(warm.run(chat("Name three rivers.", max_tokens=12, sampling=sampling)))
    for turns in [
        ("Name three rivers.", answer, "Which is the longest?"),
        ("Name three rivers.", answer, "And the shortest?"),
        ("Name three rivers.", answer, "And the shortest?"),
        ("Name three rivers.",),
    ]:
        events = warm.run(chat(*turns, max_tokens=12, sampling=sampling))
        cold = open_llama(model)
        cold.load()
        expected = cold.run(chat(*turns, max_tokens=12, sampling=sampling))
        assert [event.id for event in events if isinstance(event, Token)] == [
            event.id for event in expected if isinstance(event, Token)
        ]
        cold.host.close()


@pytest.mark.parametrize("opening", ["{{ bos_token }}", "{{ bos_token }}{{ bos_token }}", ""])
def test_exactly_one_leading_bos(open_llama: Open, demo_path: Path, tmp_path: Path, opening: str) -> None:
    template = opening + "{% for message in messages %}{{ message.content }}{% endfor %}"
    changes: dict[str, Value | None] = {
        "tokenizer.chat_template": template,
        "tokenizer.ggml.add_bos_token": ADD_BOS,
    }
    engine = open_llama(tiny_llama(tmp_path / "bos.gguf", demo_path, changes))
    assert engine.load().template == "custom"
    tokens = prompt_of(engine.ask("hello there", max_tokens=1)).tokens
    assert tokens[0] == BOS
    assert tokens.count(BOS) == 1
    raw = engine.run(Request(prompt="<|im_start|>hello there", max_tokens=1, sampling=GREEDY))
    assert prompt_of(raw).tokens == tokens


def test_a_model_without_a_template_says_so_and_completes(open_llama: Open, demo_path: Path, tmp_path: Path) -> None:
    engine = open_llama(tiny_llama(tmp_path / "plain.gguf", demo_path, {"tokenizer.chat_template": None}))
    events = engine.until(ModelReady)
    assert not [event for event in events if isinstance(event, Log)]  # --raw needs no telling, and the rest fails
    ready = events[-1]
    assert isinstance(ready, ModelReady)
    assert (ready.template, ready.template_note) == ("", "This model has no chat template.")
    failed = engine.ask("hi")[-1]
    assert isinstance(failed, Failed)
    assert "no chat template" in failed.what
    assert "--raw" in failed.remedy
    assert isinstance(engine.run(Request(prompt="Once", max_tokens=2, sampling=GREEDY))[-1], Finished)


@pytest.mark.parametrize(
    ("template", "reason"),
    [
        ("{{ raise_exception('System role not supported') }}", "System role not supported"),
        ("{% for message in messages %}{{ message.nothing.at.all }}{% endfor %}", "UndefinedError"),
    ],
)
def test_a_template_that_refuses_leaves_a_usable_engine(
    open_llama: Open, demo_path: Path, tmp_path: Path, template: str, reason: str
) -> None:
    engine = open_llama(tiny_llama(tmp_path / "raises.gguf", demo_path, {"tokenizer.chat_template": template}))
    engine.load()
    failed = engine.ask("hi")[-1]
    assert isinstance(failed, Failed)
    assert failed.stage == "generate"
    assert reason in failed.reason
    assert isinstance(engine.run(Request(prompt="Once", max_tokens=2, sampling=GREEDY))[-1], Finished)


def test_a_template_that_is_not_jinja_is_told_and_raw_remains(
    open_llama: Open, demo_path: Path, tmp_path: Path
) -> None:
    engine = open_llama(tiny_llama(tmp_path / "broken.gguf", demo_path, {"tokenizer.chat_template": "{% if %}"}))
    ready = engine.load()
    assert ready.template == ""
    assert "not valid Jinja" in ready.template_note
    failed = engine.ask("hi")[-1]
    assert isinstance(failed, Failed)
    assert "not valid Jinja" in failed.what


def test_turns_end_on_any_end_of_generation_token(open_llama: Open, demo_path: Path, tmp_path: Path) -> None:
    """EOS is <|endoftext|> here, and turns still end with <|im_end|>, which ``ignore_eos`` must keep back too."""
    eos = b"\x04\x00\x00\x00\x00\x00\x00\x00"  # 0, <|endoftext|>
    engine = open_llama(tiny_llama(tmp_path / "eos.gguf", demo_path, {"tokenizer.ggml.eos_token_id": eos}))
    engine.load()
    events = engine.ask("hi", max_tokens=200, sampling=Sampling(temp=5.0, top_k=0, top_p=1, min_p=0, ignore_eos=True))
    ids = {event.id for event in events if isinstance(event, Token)}
    assert len(ids) > 100
    assert not ids & {0, END_OF_TURN}


def test_a_template_that_rewrites_earlier_turns_is_why_less_is_cached(
    open_llama: Open, demo_path: Path, tmp_path: Path
) -> None:
    """The last turn carries a mark that goes when another one follows."""
    template = (
        "{% for message in messages %}<|im_start|>{{ message.role }}\n{{ message.content }}"
        "{% if loop.last %} (this one){% endif %}<|im_end|>\n{% endfor %}<|im_start|>assistant\n"
    )
    engine = open_llama(tiny_llama(tmp_path / "rewrites.gguf", demo_path, {"tokenizer.chat_template": template}))
    model = engine.load()
    sampling = Sampling(ignore_eos=True)
    runs = []
    first = engine.run(chat("Name a river.", max_tokens=4, sampling=sampling))
    for events in (first, engine.run(chat("Name a river.", text_of(first), "And?", max_tokens=2, sampling=sampling))):
        taken = next(event for event in events if isinstance(event, RequestTaken))
        run = Run(taken)
        for event in events:
            run.apply(event)
        runs.append(run)
    lost = lost_reuse(runs[0], runs[1], model)
    assert lost is not None
    assert lost.loss is Loss.TEMPLATE
    before, after = (run.prompt for run in runs)
    assert before is not None
    assert after is not None
    same = lost.token - 1
    assert (before.tokens[:same], after.cached) == (after.tokens[:same], same)
    assert before.tokens[same] != after.tokens[same]
    assert lost.tokens == len(before.tokens) + 3 - same
