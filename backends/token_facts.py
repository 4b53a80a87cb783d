"""Facts that a token carries besides its times: what it is, what the system did to the engine, how likely it was."""

from typing import Literal

import msgspec

Kind = Literal["answer", "reasoning", "channel", "control"]
"""``channel``: a message to another recipient, such as a function; ``control``: tags and headers, part of none."""


class Part(msgspec.Struct, frozen=True, array_like=True):
    """The kind of some bytes of the text."""

    index: int
    """Index of the token that they belong to, from 1."""
    kind: Kind
    size: int
    """Bytes."""
    name: str = ""
    """The name of a channel."""


class Scheduling(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What happened to the engine's process, all its threads together, in the time that a token took.

    Each is a count since the token before; ``None`` where the platform does not tell.
    """

    involuntary_switches: int | None = None
    """How often a thread was taken off its core although it could have gone on: another one was given the core."""
    voluntary_switches: int | None = None
    """How often a thread gave up its core to wait."""
    minor_faults: int | None = None
    """Pages touched that were not mapped yet, and that needed no disk."""
    major_faults: int | None = None
    """Pages touched that had to be waited for from the disk."""
    read_bytes: int | None = None
    """Bytes fetched from storage. Asked for only when there were major faults, and then since it was last asked for in
    this generation, so the sum over tokens is right."""
    wait_ns: int | None = None
    """Time in which threads could have gone on and had no core, all threads together."""
    longest_wait_ns: int | None = None
    """The same of the thread that waited longest."""
    cpu_ns: int | None = None
    """Processor time of all threads."""
    suspended_ns: int | None = None
    """Time during which no thread could run, although none waited for a core, because the process was stopped or the
    machine asleep. ``None`` if neither happened, or the system does not report it. Sleep itself does not count: the
    clock stands still."""


class Alternative(msgspec.Struct, frozen=True, array_like=True):
    """A token that could have been drawn."""

    id: int
    piece: bytes
    """Its bytes, control tokens spelled out."""
    logprob: float
    """Natural logarithm of its probability."""


class Probability(msgspec.Struct, frozen=True, kw_only=True):
    """How likely a token was under the model's own distribution: the softmax of the raw logits.

    Penalties, temperature and cuts come after it and are left out.
    """

    logprob: float
    """Natural logarithm of the probability of the token that was drawn."""
    rank: int
    """1 for the likeliest token of all: one more than the number of tokens with a larger logit."""
    entropy_nats: float
    """Entropy of the distribution: 0 when one token has all the probability."""
    top: tuple[Alternative, ...]
    """The likeliest tokens, likeliest first; five, where the vocabulary has as many that can be drawn."""
    cost_ns: int
    """What computing these facts took; part of the token's own time, and of neither ``decode_ns`` nor ``sample_ns``."""
