"""The union of events: closed, frozen, and the format of every line."""

import json
import typing

import msgspec
import pytest

from decodescope.backends.events import (
    Event,
    Failed,
    Finished,
    LoadProgress,
    Log,
    Measured,
    MeasuredWith,
    ModelReady,
    PrefillProgress,
    PromptReady,
    Quantized,
    QuantizeProgress,
    RequestTaken,
    Scored,
    ThreadsChanged,
    Token,
    Tokenized,
)
from decodescope.backends.requests import Message, Sampling
from decodescope.backends.wire import encode

KINDS = typing.get_args(Event)

MODEL_READY = ModelReady(
    t=1,
    name="n",
    file="f.gguf",
    architecture="llama",
    quantization="Q4_1",
    bytes=1,
    parameters=2,
    trained_context=3,
    context=4,
    layers=5,
    gpu_layers=6,
    threads=7,
    threads_batch=8,
    micro_batch=9,
    devices=("CPU",),
    template="ChatML",
    kv_bytes_per_token=10,
    progress="node",
    rollback=True,
    load_ns=11,
    warmup_ns=12,
)
SMALLEST: tuple[Event, ...] = (
    LoadProgress(t=1, fraction=0.0),
    MODEL_READY,
    RequestTaken(t=1, request=1, sampling=Sampling(), seed=0),
    PromptReady(t=1, tokens=(), cached=0),
    PrefillProgress(t=1, processed=0, cached=0, total=0),
    Token(t=1, index=1, id=0, piece=b"", decode_ns=0, sample_ns=0),
    ThreadsChanged(t=1, before=2, after=1, why="core_taken"),
    Finished(t=1, reason="stop"),
    Tokenized(t=1, tokens=()),
    Scored(t=1, first=1, logprobs=(), entropies=(), ranks=(), top=(), decode_ns=0, compute_ns=0),
    MeasuredWith(t=1, model="", processors=(), gpus=(), backends=()),
    Measured(
        t=1, started=0, prompt_ns=None, prompt_scheduling=None, gaps=(), decode_ns=(), sample_ns=(), scheduling=()
    ),
    QuantizeProgress(t=1, fraction=0.0),
    Quantized(t=1, path=b"", quantization="", source_quantization="", bytes=0, reused=False),
    Failed(t=1, stage="load", what=""),
    Log(t=1, level="info", text=""),
)


def test_the_kinds_on_disk_and_on_the_pipe() -> None:
    assert [kind.__struct_config__.tag for kind in KINDS] == [
        "load_progress",
        "model_ready",
        "request_taken",
        "prompt_ready",
        "prefill_progress",
        "token",
        "threads",
        "finished",
        "tokenized",
        "scored",
        "measured_with",
        "measured",
        "quantize_progress",
        "quantized",
        "failed",
        "log",
    ]


def test_every_kind_has_an_example_here() -> None:
    assert [type(event) for event in SMALLEST] == list(KINDS)


@pytest.mark.parametrize("event", SMALLEST, ids=lambda event: type(event).__name__)
def test_even_the_smallest_line_has_its_kind_and_its_time(event: Event) -> None:
    line = json.loads(encode(event))
    assert line["event"] == type(event).__struct_config__.tag
    assert line["t"] == 1


@pytest.mark.parametrize("event", SMALLEST, ids=lambda event: type(event).__name__)
def test_events_are_frozen_and_slotted(event: Event) -> None:
    with pytest.raises(AttributeError):
        event.t = 2  # type: ignore[misc]
    assert not hasattr(event, "__dict__")


@pytest.mark.parametrize("kind", KINDS)
def test_no_event_can_be_made_without_its_time(kind: type[msgspec.Struct]) -> None:
    time = next(field for field in msgspec.structs.fields(kind) if field.name == "t")
    assert time.required


def test_a_token_line_is_what_it_says() -> None:
    token = Token(t=5, index=1, id=7, piece=b"\xf0\x9f", decode_ns=0, sample_ns=3, thinking=True, held=2)
    # Bytes are base64: f0 9f is 8J8=.
    assert json.loads(encode(token)) == {
        "event": "token",
        "t": 5,
        "index": 1,
        "id": 7,
        "piece": "8J8=",
        "decode_ns": 0,
        "sample_ns": 3,
        "thinking": True,
        "held": 2,
    }


def test_a_request_line_is_what_it_says() -> None:
    taken = RequestTaken(
        t=5, request=2, messages=(Message("user", "hi"),), sampling=Sampling(temp=0), seed=9, stop=("\n",)
    )
    assert json.loads(encode(taken)) == {
        "event": "request_taken",
        "t": 5,
        "request": 2,
        "messages": [{"role": "user", "content": "hi"}],
        "sampling": {
            "temp": 0,
            "top_k": 40,
            "top_p": 0.95,
            "min_p": 0.05,
            "repeat_penalty": 1.0,
            "repeat_last_n": 64,
            "seed": -1,
            "ignore_eos": False,
            "from_model": [],
        },
        "seed": 9,
        "stop": ["\n"],
    }


def test_a_line_is_one_line_whatever_it_holds() -> None:
    line = encode(Log(t=1, level="error", text="two\nlines\r\u2028\x1b[2J"))
    assert line.count(b"\n") == 1
    assert line.endswith(b"\n")
    assert b"\x1b" not in line
