"""Reasoning of real models: tiny ones that always say the same."""

from pathlib import Path

import pytest

from decodescope.backends.events import Finished, Log, ModelReady, PromptReady, RequestTaken, Token
from decodescope.backends.reasoning_marks import UNKNOWN_REASONING
from decodescope.backends.requests import Sampling
from decodescope.backends.text import written_by
from decodescope.metrics.run import Run

from .engines import Open
from .tiny_models import chain

TURNS = "{% for m in messages %}{{m.role}}:{{m.content}}{% endfor %}"
HARMONY_TURNS = (
    "{% for m in messages %}<|start|>{{m.role}}<|message|>{{m.content}}<|end|>{% endfor %}<|start|>assistant"
)
HARMONY = ("<|end|>", "<|start|>", "<|channel|>", "<|message|>", "<|return|>", "<|call|>")
GEMMA = (
    "{% for m in messages %}<|turn>{{m.role}}\n{{m.content}}<turn|>\n{% endfor %}"
    "<|turn>model{# <|channel>thought <channel|> #}"
)
COHERE = TURNS + "<|START_THINKING|>{# <|END_THINKING|> <|START_TEXT|> <|END_TEXT|> #}"

CASES = {
    "harmony": (
        HARMONY_TURNS + "{# <|channel|>analysis #}",
        ["<|channel|>", "final", "<|message|>", "Hel", "lo"],
        HARMONY,
        ("Hello", None, []),
        4,
    ),
    "harmony, begun by the template": (
        HARMONY_TURNS + "<|channel|>analysis",
        ["We", " need", "<|end|>", "<|start|>", "assistant", "<|channel|>", "final", "<|message|>", "Hel", "lo"],
        HARMONY,
        ("Hello", "We need", []),
        9,
    ),
    "harmony, a call": (
        HARMONY_TURNS + "{# <|channel|>analysis #}",
        ["<|channel|>", "commentary", " to=functions.x", "<|message|>", '{"a":1}'],
        HARMONY,
        ("", None, [("commentary to functions.x", '{"a":1}')]),
        None,
    ),
    "gemma": (
        GEMMA,
        ["<|channel>", "thought", "\n", "hmm", " so", "<channel|>", "Hel", "lo"],
        ("<|channel>", "<channel|>", "<|turn>", "<turn|>"),
        ("Hello", "hmm so", []),
        7,
    ),
    "cohere": (
        COHERE,
        ["hmm", " so", "<|END_THINKING|>", "<|START_TEXT|>", "Hel", "lo", "<|END_TEXT|>"],
        ("<|START_THINKING|>", "<|END_THINKING|>", "<|START_TEXT|>", "<|END_TEXT|>"),
        ("Hello", "hmm so", []),
        5,
    ),
    "a tag over two tokens": (
        TURNS + "<think>{# </think> #}",
        ["why</th", "ink>42", " more"],
        (),
        ("42 more", "why", []),
        2,
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_reasoning_and_answer_are_told_apart(open_llama: Open, tmp_path: Path, name: str) -> None:
    template, pieces, controls, expected, first = CASES[name]
    engine = open_llama(chain(tmp_path / "chain.gguf", template, pieces, controls))
    engine.load()
    events = engine.ask("hi", max_tokens=32)
    assert [event.piece.decode() for event in events if isinstance(event, Token)][:-1] == pieces
    assert written_by(events)[1:] == expected
    end = events[-1]
    assert isinstance(end, Finished)
    assert (end.reason, end.unclosed) == ("stop", False)
    run = run_of(events)
    assert run.ttfa_ns == (None if first is None else int(run.token_times[first - 1]) - run.taken.t)


def test_reasoning_that_the_limit_cuts_off(open_llama: Open, tmp_path: Path) -> None:
    template = TURNS + "<think>{# </think> #}"
    engine = open_llama(chain(tmp_path / "chain.gguf", template, ["hm", " so", "</think>", "Yes"]))
    engine.load()
    for limit, closed, answered in [(2, False, False), (3, True, False), (4, True, True)]:
        run = run_of(engine.ask("hi", max_tokens=limit))
        assert (run.reasoning_closed, run.ttfa_ns is not None) == (closed, answered)


def test_a_stop_string_in_the_token_that_ends_the_reasoning(open_llama: Open, tmp_path: Path) -> None:
    template = TURNS + "<think>{# </think> #}"
    engine = open_llama(chain(tmp_path / "chain.gguf", template, ["hm</th", "ink>42 STOP", " more"]))
    engine.load()
    assert written_by(engine.ask("hi", stop=("STOP",)))[1:] == ("42 ", "hm", [])


def test_a_template_that_marks_reasoning_in_a_way_of_its_own_is_warned_of(open_llama: Open, tmp_path: Path) -> None:
    template = TURNS + "{% if enable_thinking %}<ponder>{% endif %}"
    engine = open_llama(chain(tmp_path / "chain.gguf", template, ["<ponder>", "hm", "</ponder>", "Yes"]))
    events = engine.until(ModelReady)
    (log,) = (event for event in events if isinstance(event, Log) and event.text == UNKNOWN_REASONING)
    assert log.level == "warning"
    events = engine.ask("hi", sampling=Sampling(temp=0))
    (prompt,) = (event for event in events if isinstance(event, PromptReady))
    assert prompt.reasoning_unknown
    assert run_of(events).ttfa_ns is None


def run_of(events: list) -> Run:  # type: ignore[type-arg]
    """The figures of one generation."""
    (taken,) = (event for event in events if isinstance(event, RequestTaken))
    run = Run(taken)
    for event in events:
        run.apply(event)
    return run
