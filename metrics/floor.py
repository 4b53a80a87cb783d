"""Where the floor is: the time per output token that memory bandwidth alone demands.

Decode reads every weight once per token, and the keys and values of all tokens before it. However fast the processor
computes, a token takes no less than the bytes that it needs divided by the bytes per second that memory gives.
"""

from enum import Enum

import msgspec
import numpy as np
import numpy.typing as npt

from ..backends.events import ModelReady
from . import numbers
from .run import Run
from .series import Int64Array

Float64Array = npt.NDArray[np.float64]

MEMORY_BOUND = 0.6
"""From this share of the bandwidth on, memory is what limits: real kernels rarely pass 0.9."""
FROM_CACHE = 1.05
"""Above this share not all of the bytes came from memory; up to it, the measurement's own error explains it."""


def token_bytes(weight_bytes: int, kv_bytes_per_token: int, window: int | None, depth: float) -> float:
    """Bytes that one token of decode needs, at least: weights + context that it sees × KV bytes per token.

    ``depth``: tokens of context, its own included. With a sliding ``window`` not more of them than that count: which
    layers have the window is not known, and the layers without one read more.
    """
    seen = depth if window is None else min(depth, window)
    return weight_bytes + seen * kv_bytes_per_token


class MemoryFloor(msgspec.Struct, frozen=True):
    """What a model needs and what a machine gives."""

    weight_bytes: int
    """Weights that one token reads."""
    kv_bytes_per_token: int
    """KV cache that each token of the context adds to the reading."""
    bytes_per_second: float
    """The machine's measured memory bandwidth."""
    window: int | None = None
    """Tokens that some of the layers see at most; ``None`` when all layers see the whole context."""

    def bytes(self, depth: float) -> float:
        """Bytes that a token needs, by ``token_bytes``."""
        return token_bytes(self.weight_bytes, self.kv_bytes_per_token, self.window, depth)

    def ns(self, depth: float) -> float:
        """The floor of the time per output token at that depth: bytes / bandwidth, ns."""
        return self.bytes(depth) / self.bytes_per_second * 1e9

    def along(self, depths: Int64Array | Float64Array) -> Float64Array:
        """The floor at each of ``depths`` (shape (n,), tokens): shape (n,), ns."""
        seen = np.asarray(depths, dtype=np.float64)
        if self.window is not None:
            seen = np.minimum(seen, self.window)
        return np.asarray((self.weight_bytes + seen * self.kv_bytes_per_token) / self.bytes_per_second * 1e9)

    def share(self, depth: float, token_ns: float | None) -> float | None:
        """Model bandwidth use of tokens that take ``token_ns`` at that depth: floor / time; ``None`` without a time."""
        return None if token_ns is None or token_ns <= 0 else self.ns(depth) / token_ns


class NoFloor(Enum):
    """Why there is no floor; the value is a sentence."""

    ON_GPU = "Layers are computed by the GPU, whose memory is not the one that was measured."
    WEIGHTS_UNKNOWN = "How many bytes of weights a token reads is not known."
    NOT_MEASURED = "The memory bandwidth has not been measured yet with this number of threads."
    NOT_RECORDED = "The memory bandwidth is not in the recording."


def memory_floor(model: ModelReady, bytes_per_second: float | None) -> MemoryFloor | NoFloor:
    """Return the floor of ``model`` on this machine, or why there is none.

    ``bytes_per_second``: read bandwidth with as many threads as ``model.threads``; ``None`` when not measured.
    """
    if model.gpu_layers > 0:
        return NoFloor.ON_GPU
    if not model.weight_bytes_per_token:
        return NoFloor.WEIGHTS_UNKNOWN
    if bytes_per_second is None:
        return NoFloor.NOT_MEASURED
    return MemoryFloor(model.weight_bytes_per_token, model.kv_bytes_per_token, bytes_per_second, model.sliding_window)


def gap_depths(run: Run) -> Int64Array:
    """Tokens of context that were read for each ITL of ``run``: shape (n − 1,).

    In the gap before the token with index i (from 2 on), the one before it is computed, which sees the prompt and
    i − 1 tokens.
    """
    return np.arange(1, max(1, run.token_count), dtype=np.int64) + (run.prompt_tokens or 0)


def mean_depth(run: Run) -> float | None:
    """Mean of ``gap_depths``; ``None`` below two tokens."""
    return None if run.token_count < 2 else (run.prompt_tokens or 0) + run.token_count / 2


def bandwidth_use(run: Run, floor: MemoryFloor) -> float | None:
    """Model bandwidth use of ``run``: (weight bytes + KV bytes, mean over its tokens) × decode rate / bandwidth.

    A share, above 1 when the processor's cache holds part of the weights; ``None`` below two tokens.
    """
    depth = mean_depth(run)
    return None if depth is None else floor.share(depth, run.tpot_ns)


class Limit(Enum):
    """What sets the pace of decode."""

    MEMORY = "memory"
    COMPUTE = "compute"
    CACHE = "cache"


def limit(share: float | None) -> Limit | None:
    """Return what sets the pace at that model bandwidth use; ``None`` without one."""
    if share is None:
        return None
    if share > FROM_CACHE:
        return Limit.CACHE
    return Limit.MEMORY if share >= MEMORY_BOUND else Limit.COMPUTE


def verdict(share: float | None) -> str | None:
    """Say in one sentence what sets the pace at that model bandwidth use; ``None`` without one."""
    used = numbers.whole_percent(share)
    match limit(share):
        case None:
            return None
        case Limit.MEMORY:
            return f"Memory sets the pace: {used} of its bandwidth is in use."
        case Limit.COMPUTE:
            return (
                f"Computing sets the pace, not memory, of whose bandwidth {used} is in use: unpacking and "
                "multiplying the weights takes longer than reading them."
            )
        case Limit.CACHE:
            return f"Faster than memory ({used} of its bandwidth): part of the weights stays in the cache."
