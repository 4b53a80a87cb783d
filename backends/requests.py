"""What is asked of a backend: the settings of an engine and of one generation.

Names and defaults are llama.cpp's.
"""

from collections.abc import Callable
from typing import Literal

import msgspec

Role = Literal["system", "user", "assistant"]
FlashAttention = Literal["on", "off", "auto"]
CacheType = Literal["f32", "f16", "bf16", "q8_0", "q4_0", "q4_1", "iq4_nl", "q5_0", "q5_1"]


class Message(msgspec.Struct, frozen=True):
    """One turn of a conversation."""

    role: Role
    content: str


class Sampling(msgspec.Struct, frozen=True, kw_only=True):
    """How the next token is drawn; the chain is llama.cpp's: penalties, top-k, top-p, min-p, temperature."""

    temp: float = 0.8
    """0 is greedy."""
    top_k: int = 40
    """0: off."""
    top_p: float = 0.95
    min_p: float = 0.05
    repeat_penalty: float = 1.0
    repeat_last_n: int = 64
    seed: int = -1
    """-1: a new one each time."""
    ignore_eos: bool = False
    from_model: tuple[str, ...] = ()
    """The fields that nobody has set: their values are the model's own defaults."""

    @property
    def determined(self) -> bool:
        """Whether the same request is meant to give the same answer: temperature 0, or a seed that was asked for."""
        return self.temp <= 0 or self.seed >= 0


class Request(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One generation: either ``messages`` (through the chat template) or ``prompt`` (completed as it stands)."""

    messages: tuple[Message, ...] = ()
    prompt: str | None = None
    sampling: Sampling = Sampling()
    max_tokens: int = -1
    """-1: until the model stops or the context is full."""
    stop: tuple[str, ...] = ()
    probabilities: bool = False
    """Whether each token says how likely it was; ``Backend.probabilities`` changes it later."""
    cache_prompt: bool = True
    """Whether what the KV cache holds of the prompt is used; without it all of the prompt is read."""

    def mapped(self, change: Callable[[str], str]) -> "Request":
        """Return the same request with ``change`` applied to every text in it."""
        return msgspec.structs.replace(
            self,
            messages=tuple(Message(message.role, change(message.content)) for message in self.messages),
            prompt=None if self.prompt is None else change(self.prompt),
            stop=tuple(change(stop) for stop in self.stop),
        )


class ScoreRequest(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A stretch of a given text to be scored: how likely each of its tokens was, given those before it.

    A text is scored stretch by stretch from its beginning; the KV cache keeps what it holds of it in between.
    """

    tokens: tuple[int, ...]
    """The text from its beginning to the end of the stretch."""
    first: int
    """Position in ``tokens`` of the first token to be scored, at least 1: the first of a text follows nothing."""
    exchange: bytes | None = None
    """Path of the file in which the reference's distributions are handed over; ``None``: nothing is compared."""
    role: Literal["reference", "compared"] = "reference"
    """A reference writes its distributions into ``exchange``; one that is compared reads them there."""
    row: int = 0
    """Row of ``exchange`` that belongs to position ``first``; the others follow."""
    start: int = 0
    """Position in the whole text of the first of ``tokens``: a text longer than the context is scored in chunks."""


class MeasureRequest(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A measurement as ``llama-bench`` makes it: random tokens in an empty KV cache, and no text.

    ``depth`` tokens are computed first and not timed; then ``prompt`` tokens in batches and ``generate`` one by one.
    """

    prompt: int = 0
    generate: int = 0
    depth: int = 0
    sampling: Sampling | None = None
    """How tokens are drawn from the logits; ``None``: none is drawn, and random ones are decoded."""
    pause_ms: int = 0
    """Waited before anything is computed."""
    threads: int | None = None
    """For this measurement; where they change, it begins as in an engine of its own. ``None``: the engine's."""


class EngineSettings(msgspec.Struct, frozen=True, kw_only=True):
    """How a model is loaded and run; fixed for the life of an engine."""

    context: int = 0
    """Tokens; 0: the trained context, capped by memory."""
    batch: int = 2048
    micro_batch: int = 512
    threads: int | None = None
    """None: the cores that this process may use."""
    threads_batch: int | None = None
    """None: as ``threads``."""
    adapt_threads: bool = False
    """Whether to use fewer threads while other programs keep cores busy; a number that is set does not change."""
    gpu_layers: int = -1
    """-1: all that the devices of this build take."""
    flash_attention: FlashAttention = "auto"
    cache_type_k: CacheType = "f16"
    cache_type_v: CacheType = "f16"
    repack: bool = True
    """Whether weights may be repacked for faster kernels, such as those for AMX."""
