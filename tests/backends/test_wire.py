"""Records on the engine's pipes, in whatever pieces they come."""

import random
from collections.abc import Callable

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
from decodescope.backends.requests import EngineSettings, MeasureRequest, Message, Request, Sampling, ScoreRequest
from decodescope.backends.token_facts import Alternative, Probability, Scheduling
from decodescope.backends.wire import (
    Cancel,
    Command,
    CommandReader,
    EventReader,
    Generate,
    Measure,
    OpenLlama,
    OpenQuantizer,
    OpenScript,
    Probabilities,
    Score,
    Tokenize,
    encode,
)

EVENTS: tuple[Event, ...] = (
    LoadProgress(t=1, fraction=0.25),
    MeasuredWith(t=1, model="llama 256M Q4_1", processors=("a", "\x1b"), gpus=(), backends=("CPU",)),
    Measured(
        t=9,
        started=-3,
        prompt_ns=5,
        prompt_scheduling=Scheduling(wait_ns=2),
        gaps=(3, 4),
        decode_ns=(2, 3),
        sample_ns=(1, 0),
        scheduling=(None, Scheduling(minor_faults=7)),
    ),
    Log(t=2**62, level="warning", text="two\nlines, é🦙, \u2028, \x1b[2J"),
    ModelReady(
        t=3,
        name="a\x1b[2J",
        file="/m/\ufffd.gguf",
        architecture="llama",
        quantization="Q4_1",
        bytes=2**40,
        parameters=134_000_000,
        trained_context=1_048_576,
        context=131_072,
        context_note="capped",
        layers=30,
        gpu_layers=31,
        threads=2,
        threads_batch=4,
        micro_batch=512,
        devices=("CPU", "CUDA0"),
        template="ChatML",
        kv_bytes_per_token=23_040,
        progress="micro-batch",
        rollback=False,
        load_ns=200_000_000,
        warmup_ns=5,
    ),
    RequestTaken(
        t=4,
        request=7,
        messages=(Message("system", "be\nbrief"), Message("user", "A<|im_end|>B")),
        sampling=Sampling(temp=0.0, top_k=0, repeat_penalty=1.1, seed=3, ignore_eos=True),
        seed=2**32 - 1,
        max_tokens=0,
        stop=("\n\n", "🦙"),
    ),
    RequestTaken(t=4, request=8, prompt="once upon", sampling=Sampling(), seed=0),
    PromptReady(t=5, tokens=tuple(range(0, 100_000, 7)), cached=230),
    PromptReady(t=5, tokens=(), cached=0),
    PrefillProgress(t=6, processed=233, cached=230, total=237),
    *(
        Token(
            t=7 + index,
            index=index,
            id=index,
            piece=piece,
            decode_ns=6_600_000,
            sample_ns=300,
            control=index == 4,
            thinking=index == 1,
            held=index,
        )
        for index, piece in enumerate(
            (b"\xf0", b"\x9f\xa6", b"\x99", b"<|im_end|>", b"\n\n", b"", bytes(range(256))), 1
        )
    ),
    Token(
        t=18,
        index=8,
        id=8,
        piece=b"x",
        decode_ns=1,
        sample_ns=1,
        scheduling=Scheduling(
            involuntary_switches=37,
            voluntary_switches=0,
            minor_faults=2**40,
            major_faults=1,
            read_bytes=4096,
            wait_ns=82_000_000,
            longest_wait_ns=75_000_000,
            cpu_ns=0,
        ),
        probability=Probability(
            logprob=-1e-7,
            rank=49_152,
            entropy_nats=10.8,
            top=(Alternative(7, b"\xf0", -0.25), Alternative(8, b"", -70.5)),
            cost_ns=210_000,
        ),
    ),
    Token(t=19, index=9, id=8, piece=b"x", decode_ns=1, sample_ns=1, scheduling=Scheduling(minor_faults=0)),
    QuantizeProgress(t=20, fraction=0.5),
    Quantized(
        t=20,
        path=b"/cache/\xff.gguf",
        quantization="Q2_K",
        source_quantization="Q4_1",
        bytes=2**40,
        reused=True,
        fallbacks=("1 tensor as Q5_0 instead of Q4_K",),
    ),
    ThreadsChanged(t=20, before=2, after=1, why="core_taken"),
    Finished(t=20, reason="context"),
    Finished(t=21, reason="stop", held=12),
    Tokenized(t=22, tokens=(1, 49_151), bos=1),
    Tokenized(t=22, tokens=()),
    Scored(
        t=22,
        first=513,
        logprobs=(-0.5, -12.25),
        entropies=(0.0, 3.5),
        ranks=(1, 49_152),
        top=((Alternative(7, b"\xf0", -0.5),), ()),
        kld=(0.0, 1e-7),
        same_top=(True, False),
        decode_ns=1,
        compute_ns=2,
    ),
    QuantizeProgress(t=22, fraction=0.5),
    Quantized(
        t=22,
        path=b"/models/\xff.gguf",
        quantization="Q4_K",
        source_quantization="Q4_1",
        bytes=2**33,
        reused=True,
        fallbacks=("12 tensors as Q5_0 instead of Q4_K",),
    ),
    Failed(t=22, stage="engine", what="It died.", reason="line\nline", remedy="Smaller -c."),
)

SETTINGS = EngineSettings(context=4096, threads=3, gpu_layers=0, flash_attention="on", cache_type_v="q8_0")
COMMANDS: tuple[Command, ...] = (
    OpenLlama(
        path=b"/models/\xff\xfe.gguf",
        name="x",
        quantization="Q4_0",
        bytes=92_000_000,
        trained_context=8192,
        kv_bytes_per_token=23_040,
        settings=SETTINGS,
    ),
    OpenQuantizer(path=b"/models/\xff.gguf", name="x", quantization="Q2_K", folder=b"/cache"),
    OpenScript(path="/tmp/é.jsonl".encode(), settings=EngineSettings()),
    Generate(Request(messages=(Message("user", "hi\n"),), max_tokens=5, stop=("x",))),
    Generate(Request(prompt="", sampling=Sampling(seed=1))),
    Generate(Request(prompt="x", probabilities=True)),
    Tokenize("A<|im_end|>\né"),
    Score(ScoreRequest(tokens=(1, 2, 3), first=1)),
    Measure(MeasureRequest(prompt=512)),
    Measure(MeasureRequest(prompt=1, generate=2, depth=3, sampling=Sampling(seed=4), pause_ms=5)),
    Score(ScoreRequest(tokens=(1, 2), first=1, exchange=b"/tmp/\xff", role="compared", row=512, start=1024)),
    Cancel(),
    Probabilities(True),
    Probabilities(False),
)


def test_every_kind_of_event_comes_back_as_it_was() -> None:
    assert {type(event) for event in EVENTS} == set(Event.__args__)
    assert EventReader().feed(b"".join(map(encode, EVENTS))) == list(EVENTS)


def test_every_kind_of_command_comes_back_as_it_was() -> None:
    assert {type(command) for command in COMMANDS} == set(Command.__args__)
    assert CommandReader().feed(b"".join(map(encode, COMMANDS))) == list(COMMANDS)


def test_a_missing_prompt_and_an_empty_one_are_told_apart() -> None:
    requests = (Request(), Request(prompt=""))
    sent = CommandReader().feed(b"".join(encode(Generate(request)) for request in requests))
    assert [command.request.prompt for command in sent if isinstance(command, Generate)] == [None, ""]


def chunks(data: bytes, size: Callable[[], int]) -> list[bytes]:
    pieces = []
    while data:
        length = size()
        pieces.append(data[:length])
        data = data[length:]
    return pieces


@pytest.mark.parametrize("largest", [1, 2, 50, 5000, 200_000])
def test_any_chunking_gives_the_same_events_in_order(largest: int) -> None:
    generator = random.Random(largest)
    events = tuple(event for event in EVENTS if largest >= 5000 or not isinstance(event, PromptReady))
    for _ in range(10):
        reader, received = EventReader(), []
        for piece in chunks(b"".join(map(encode, events)), lambda: generator.randrange(1, largest + 1)):
            received += reader.feed(piece)
        assert received == list(events)


def test_any_chunking_gives_the_same_commands_in_order() -> None:
    generator = random.Random(9)
    for _ in range(50):
        reader, received = CommandReader(), []
        for piece in chunks(b"".join(map(encode, COMMANDS)), lambda: generator.randrange(1, 40)):
            received += reader.feed(piece)
        assert received == list(COMMANDS)


def test_an_event_arrives_with_the_end_of_its_line_and_not_before() -> None:
    line = encode(Finished(t=1, reason="stop"))
    reader = EventReader()
    assert reader.feed(line[:-1]) == []
    assert reader.feed(b"") == []
    assert reader.feed(line[-1:]) == [Finished(t=1, reason="stop")]
    assert reader.feed(b"") == []


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"native chatter",
        b"{}",
        b'{"event":"finished"}',
        b'{"t":1,"reason":"stop"}',
        b'{"event":"finished","t":1,"reason":"tired"}',
        b'{"event":"finished","t":1.5,"reason":"stop"}',
        b'{"event":"unheard_of","t":1}',
        b'{"event":"token","t":1,"index":1,"id":1,"piece":"***","decode_ns":0,"sample_ns":0}',
        b'{"command":"cancel"}',
    ],
)
def test_a_line_that_is_no_event_is_an_error(line: bytes) -> None:
    with pytest.raises(msgspec.DecodeError):
        EventReader().feed(line + b"\n")


@pytest.mark.parametrize("line", [b"", b"{}", b'{"command":"sing"}', b'{"command":"generate"}', b'{"event":"log"}'])
def test_a_line_that_is_no_command_is_an_error(line: bytes) -> None:
    with pytest.raises(msgspec.DecodeError):
        CommandReader().feed(line + b"\n")
