"""What a generation reports: the closed union of events.

Every event is one fact with the time it became true. The same records travel over the engine's pipe, feed the metrics
and are written to disk, as JSON Lines in which every line has ``"event"`` (the kind) and ``"t"`` (nanoseconds on
``time.perf_counter_ns()``, one clock for the engine and its parent on one machine).

The order within one generation::

    request_taken  prompt_ready  prefill_progress*  token*  finished | failed

and before the first one, once per engine: ``load_progress* model_ready | failed``. Cutting a text into tokens
gives one ``tokenized`` or ``failed``; scoring a stretch of it one ``scored``, or ``finished`` when it was cancelled, or
``failed``; a measurement ``measured_with``, ``prefill_progress*`` of what is not timed and then ``measured``, or
``finished`` when it was cancelled, or ``failed``. Making another quantization is a process of its own:
``quantize_progress* quantized | failed``. ``log`` may come at any time, ``threads`` in prefill and decode. If a
second engine replaces one that crashed before its first token, a warning comes, followed by the events of the second
one, without a second ``model_ready`` or ``request_taken``. A reader matches on the type and ends
with ``assert_never``; a new kind of fact is a new type.
"""

from typing import Literal

import msgspec

from .requests import Message, Sampling
from .token_facts import Alternative, Part, Probability, Scheduling

Stage = Literal["load", "generate", "engine"]
FinishReason = Literal["stop", "length", "context", "cancelled"]
Progress = Literal["node", "micro-batch"]
LogLevel = Literal["info", "warning", "error"]
ThreadsReason = Literal["core_taken", "core_idle", "no_gain", "exact"]


class _Event(msgspec.Struct, frozen=True, kw_only=True, tag_field="event", omit_defaults=True):
    t: int
    """When the fact became true, ns."""


class LoadProgress(_Event, frozen=True, kw_only=True, tag="load_progress"):
    """How much of the model has been loaded; 1.0 is followed by the warm-up."""

    fraction: float
    """0 to 1."""


class ModelReady(_Event, frozen=True, kw_only=True, tag="model_ready"):
    """The model is loaded and warmed up; the next request may come."""

    name: str
    file: str
    architecture: str
    quantization: str
    requantized_from: str = ""
    """The quantization that this one was made from; empty when it was made from full precision or nobody knows."""
    dominant_type: str = ""
    """The type of most of the weights where it contradicts ``quantization``, the label of the file; else empty."""
    bytes: int
    """Size of the weights."""
    parameters: int
    trained_context: int
    """Tokens; the context that the model was trained for."""
    context: int
    """Tokens; the context in use."""
    context_note: str = ""
    """Why ``context`` is not what was asked for or trained; empty when it is."""
    layers: int
    gpu_layers: int
    threads: int
    threads_batch: int
    micro_batch: int
    """Tokens computed in one go during prefill."""
    devices: tuple[str, ...]
    template: str
    """The chat template in use, named; empty when the model has none that can be used."""
    template_note: str = ""
    """Why the model has no usable template, in a sentence; empty if it has one."""
    kv_bytes_per_token: int
    weight_bytes_per_token: int | None = None
    """Bytes of weights that one token of decode reads; ``None`` where the engine does not know."""
    weight_bytes_per_pass: int | None = None
    """The same for a micro-batch of many tokens, which passes every expert of a mixture."""
    sliding_window: int | None = None
    """Tokens that some of the layers see at most; ``None`` when all layers see the whole context."""
    attention_growth: float | None = None
    """Multiplications per prompt token for each token before it, as a share of those with the weights."""
    progress: Progress
    """Grain of ``prefill_progress``."""
    rollback: bool
    """Whether the memory can drop the end of a sequence, so that a changed conversation keeps its common prefix."""
    load_ns: int
    warmup_ns: int


class RequestTaken(_Event, frozen=True, kw_only=True, tag="request_taken"):
    """The engine took a request; TTFT counts from here."""

    request: int
    """Number of the request within the engine, from 1."""
    messages: tuple[Message, ...] = ()
    prompt: str = ""
    """The text to be completed, when the chat template is skipped."""
    sampling: Sampling
    seed: int
    """The seed in use (drawn when none was given)."""
    max_tokens: int = -1
    """-1: until the model stops."""
    stop: tuple[str, ...] = ()


class PromptReady(_Event, frozen=True, kw_only=True, tag="prompt_ready"):
    """The prompt is templated and tokenized."""

    tokens: tuple[int, ...]
    cached: int
    """How many leading tokens the KV cache holds already and need no prefill."""
    reasoning_unknown: bool = False
    """The chat template marks reasoning in an unknown way, so the answer cannot be told apart."""


class PrefillProgress(_Event, frozen=True, kw_only=True, tag="prefill_progress"):
    """The prompt being read. ``processed`` counts the cached tokens too, as llama-server's ``prompt_progress`` does."""

    processed: int
    cached: int
    total: int


class Token(_Event, frozen=True, kw_only=True, tag="token"):
    """A token was sampled; ``t`` is when its text was available."""

    index: int
    """From 1."""
    id: int
    piece: bytes
    """The token's bytes; may hold part of a character."""
    decode_ns: int
    """Time in ``llama_decode`` for this token's logits; 0 for the first one, which comes out of the prefill."""
    sample_ns: int
    control: bool = False
    """A control or end-of-generation token, or words of a header: counted and timed, but not part of the text."""
    thinking: bool = False
    """A reasoning token, including the tags around the reasoning, as far as was known when it came."""
    parts: tuple[Part, ...] | None = None
    """The kinds of the next bytes of the text that are not classified yet, without those of control tokens; bytes that
    may belong to a tag are classified by a later token, or by ``Finished``. ``None``: nothing is pending, and the
    whole piece is what ``thinking`` says."""
    held: int = 0
    """How many bytes at the end of the text so far may belong to a stop string and are not to be shown yet."""
    scheduling: Scheduling | None = None
    """What happened to the engine's process since the token before; for the first one, since the request was taken."""
    probability: Probability | None = None
    """How likely the token was; ``None`` unless it was asked for."""


class ThreadsChanged(_Event, frozen=True, kw_only=True, tag="threads"):
    """The engine uses a different number of threads from the next step on; a number that was set does not change."""

    before: int = msgspec.field(name="from")
    after: int = msgspec.field(name="to")
    why: ThreadsReason
    """``core_taken``: another program kept a core busy that a thread needed. ``core_idle``: cores were idle for a
    second. ``no_gain``: fewer threads were no faster. ``exact``: the request needs the result that all threads give."""


class Finished(_Event, frozen=True, kw_only=True, tag="finished"):
    """The generation ended."""

    reason: FinishReason
    held: int = 0
    """How many bytes at the end of the text are a stop string and what followed it, never to be shown."""
    parts: tuple[Part, ...] | None = None
    """The kinds of the last bytes of the text; ``None``: nothing is pending."""
    unclosed: bool = False
    """The reasoning was not closed."""


class Tokenized(_Event, frozen=True, kw_only=True, tag="tokenized"):
    """A given text was cut into tokens."""

    tokens: tuple[int, ...]
    """With one leading BOS where the vocabulary wants one. Spellings of control tokens are plain text."""
    bos: int | None = None
    """That BOS, which every chunk of the text begins with; ``None`` where the vocabulary wants none."""


class Scored(_Event, frozen=True, kw_only=True, tag="scored"):
    """A stretch of a given text was scored; entry i of each tuple belongs to position ``first + i``."""

    first: int
    """Position in the whole text, from 0."""
    logprobs: tuple[float, ...]
    """Natural logarithm of the probability of each token of the text."""
    entropies: tuple[float, ...]
    """Entropy of each distribution, nats."""
    ranks: tuple[int, ...]
    """1 where the token of the text was the likeliest."""
    top: tuple[tuple[Alternative, ...], ...]
    """The likeliest tokens at each position, likeliest first."""
    kld: tuple[float, ...] = ()
    """Kullback-Leibler divergence of this model's distribution from the reference's, nats; empty for the reference."""
    same_top: tuple[bool, ...] = ()
    """Whether the likeliest token is the reference's; empty for the reference."""
    pieces: tuple[tuple[int, bytes], ...] = ()
    """Id and bytes of every token that occurs in the text up to here, each once; control tokens spelled out."""
    decode_ns: int
    """Time in ``llama_decode``."""
    compute_ns: int
    """Time for all the rest: probabilities, divergences, the exchange."""


class MeasuredWith(_Event, frozen=True, kw_only=True, tag="measured_with"):
    """What llama.cpp calls the model and the devices of a measurement, as ``llama-bench`` prints it."""

    model: str
    """Architecture, size class and type, such as ``llama 256M Q4_1``."""
    processors: tuple[str, ...]
    gpus: tuple[str, ...]
    backends: tuple[str, ...]
    """What this build can compute with: ``CPU`` alone, or all but that."""
    repack: bool = True
    """Whether weights could be repacked for faster kernels."""


class Measured(_Event, frozen=True, kw_only=True, tag="measured"):
    """Random tokens were computed and timed; entry i of each tuple belongs to the i-th token that was decoded.

    ``t`` is when the last of them was there, so ``t`` − ``started`` is what ``llama-bench`` gives as a sample.
    """

    started: int
    """When the timed part began, ns; the depth was filled by then."""
    prompt_ns: int | None
    """Until the prompt was computed and, with sampling, a token drawn from it; ``None`` without a prompt."""
    prompt_scheduling: Scheduling | None
    """What happened to the engine's process meanwhile; ``None`` without a prompt."""
    gaps: tuple[int, ...]
    """Time since the token before, or since the prompt or the beginning for the first one, ns."""
    decode_ns: tuple[int, ...]
    """Time of it in ``llama_decode``."""
    sample_ns: tuple[int, ...]
    scheduling: tuple[Scheduling | None, ...]
    """What happened to the engine's process in each gap."""


class QuantizeProgress(_Event, frozen=True, kw_only=True, tag="quantize_progress"):
    """How much of a model has been written in another quantization."""

    fraction: float
    """0 to 1; after 1 the file is brought onto the disk."""


class Quantized(_Event, frozen=True, kw_only=True, tag="quantized"):
    """Another quantization of a model is there, whole."""

    path: bytes
    """File system path."""
    quantization: str
    """What was asked for."""
    source_quantization: str
    """What it was made from."""
    bytes: int
    reused: bool
    """It had been made before."""
    fallbacks: tuple[str, ...] = ()
    """What was written in another type than asked for, in words, such as ``12 tensors as Q5_0 instead of Q4_K``."""


class Failed(_Event, frozen=True, kw_only=True, tag="failed"):
    """Something could not be done. After stage ``generate`` the engine takes the next request; otherwise it is gone."""

    stage: Stage
    what: str
    """One sentence."""
    reason: str = ""
    """The native reason, as llama.cpp or the system gave it; may have several lines."""
    remedy: str = ""
    """What to do."""
    most_context: int | None = None
    """Tokens of context that would have fitted into memory where too many were asked for; otherwise ``None``."""


class Log(_Event, frozen=True, kw_only=True, tag="log"):
    """Something worth knowing, in one sentence."""

    level: LogLevel
    text: str


Event = (
    LoadProgress
    | ModelReady
    | RequestTaken
    | PromptReady
    | PrefillProgress
    | Token
    | ThreadsChanged
    | Finished
    | Tokenized
    | Scored
    | MeasuredWith
    | Measured
    | QuantizeProgress
    | Quantized
    | Failed
    | Log
)
