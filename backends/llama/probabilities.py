"""How likely a token was, computed from the logits that it was drawn from."""

import ctypes
import math
import time
from collections.abc import Iterable
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from ..token_facts import Alternative, Probability
from .bindings import llama_cpp
from .vocabulary import Vocabulary

_TOP = 5
_BLOCK = 1024
_PART = 1 << 14  # values in work at once: few enough to stay in a core's own cache, beside what decode keeps there
_LEAST = np.float32(-1000)  # e^-1000 is 0

Logits = npt.NDArray[np.float32]
"""Raw logits of one position, shape (vocabulary,)."""
_Positions = npt.NDArray[np.int64]


class ProbabilityReader:
    """Reads llama.cpp's logits where they lie, without copying them; valid until the next ``llama_decode``."""

    def __init__(self, context: Any, vocabulary: Vocabulary) -> None:
        self._context = context
        self._pieces = Pieces(vocabulary)
        self._array = ctypes.c_float * vocabulary.size
        self._arithmetic = Arithmetic()

    def read(self, token: int, logits_at: int) -> Probability | None:
        """Return the facts about ``token``, drawn from the logits at batch position ``logits_at``.

        ``None`` when the logits are no distribution, or the token has no probability in it.
        """
        started = time.perf_counter_ns()
        pointer = llama_cpp.llama_get_logits_ith(self._context, logits_at)
        logits: Logits = np.ctypeslib.as_array(self._array.from_address(ctypes.addressof(pointer.contents)))
        facts = self._arithmetic.facts(logits, token)
        if facts is None:
            return None
        return Probability(
            logprob=facts.logprob,
            rank=facts.rank,
            entropy_nats=facts.entropy,
            top=self._pieces.alternatives(facts),
            cost_ns=time.perf_counter_ns() - started,
        )


class Facts(msgspec.Struct, frozen=True, gc=False):
    """What the logits of one position say of a token."""

    logprob: float
    rank: int
    entropy: float
    """Nats."""
    top: list[int]
    """The likeliest tokens, likeliest first; as many as can be drawn, at most five."""
    top_logprobs: list[float]
    largest: float
    """The largest logit."""
    log_total: float
    """ln Σ e^(x − largest)."""


class Pieces:
    """The bytes of tokens, each asked for once."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        self._known: dict[int, bytes] = {}

    def alternatives(self, facts: Facts) -> tuple[Alternative, ...]:
        """Return the likeliest tokens."""
        return tuple(
            Alternative(token, self._piece(token), logprob)
            for token, logprob in zip(facts.top, facts.top_logprobs, strict=True)
        )

    def of_text(self, tokens: Iterable[int]) -> tuple[tuple[int, bytes], ...]:
        """Return id and bytes of every token that occurs in a text, each once."""
        return tuple((token, self._piece(token)) for token in dict.fromkeys(tokens))

    def _piece(self, token: int) -> bytes:
        piece = self._known.get(token)
        if piece is None:
            piece = self._known[token] = self._vocabulary.control_piece(token)
        return piece


class Arithmetic:
    """Sums over whole vocabularies, part by part so that intermediate values stay in a core's cache.

    Exponentials are single precision, sums over parts double. One for each thread.
    """

    def __init__(self) -> None:
        self._shifted = np.empty(_PART, dtype=np.float32)
        self._exponentials = np.empty(_PART, dtype=np.float32)
        self._differences = np.empty(_PART, dtype=np.float32)

    def facts(self, logits: Logits, token: int) -> Facts | None:
        """Return what ``logits`` say of ``token``; ``None`` when they are no distribution or it has no probability."""
        found = largest_first(logits, _TOP)
        chosen, largest = float(logits[token]), float(logits[found[0]]) if len(found) else math.nan
        if not (math.isfinite(largest) and math.isfinite(chosen)):
            return None
        log_total, entropy = self._distribution(logits, largest)
        if not math.isfinite(log_total):  # a NaN among the logits
            return None
        normalizer = largest + log_total
        top = [
            (id, logit) for id, logit in zip(found.tolist(), logits[found].tolist(), strict=True) if logit > -math.inf
        ]
        rank = 1 + sum(logit > chosen for _, logit in top)
        return Facts(
            logprob=chosen - normalizer,
            rank=rank if rank <= len(top) else 1 + int(np.count_nonzero(logits > chosen)),
            entropy=entropy,
            top=[id for id, _ in top],
            top_logprobs=[logit - normalizer for _, logit in top],
            largest=largest,
            log_total=log_total,
        )

    def _distribution(self, logits: Logits, largest: float) -> tuple[float, float]:
        """Return (ln Σ e^(x − m), the entropy in nats) of ``logits`` x with the largest one m.

        The entropy −Σ p ln p is ln Σ e^(x − m) − Σ (x − m) e^(x − m) / Σ e^(x − m).
        """
        total = weighted = 0.0
        with np.errstate(invalid="ignore"):  # what is no number is looked for
            for start in range(0, len(logits), _PART):
                part = logits[start : start + _PART]
                shifted, exponentials = self._shifted[: len(part)], self._exponentials[: len(part)]
                np.subtract(part, np.float32(largest), out=shifted)
                np.exp(shifted, out=exponentials)
                total += float(exponentials.sum())
                product = float(np.dot(exponentials, shifted))
                if math.isnan(product):  # some logits are −∞, and 0 · −∞ is no number
                    product = float(np.dot(exponentials, np.maximum(shifted, _LEAST, out=shifted)))
                weighted += product
        return math.log(total), max(math.log(total) - weighted / total, 0.0)

    def divergence(self, logits: Logits, facts: Facts, reference: Logits, reference_top: int) -> float:
        """Return the Kullback-Leibler divergence of ``logits`` from those of the reference, in nats.

        With p, m of the reference's logits r and q, n of ``logits`` x, Σ p (ln p − ln q) is
        Σ p ((r − m) − (x − n)) + ln Σ e^(x − n) − ln Σ e^(r − m): the large terms go before anything is summed, and the
        divergence of a distribution from itself is 0 to the last bit. What cannot be drawn counts as e^−1000.
        """
        largest = reference[reference_top]
        total = weighted = 0.0
        with np.errstate(invalid="ignore"):  # as above
            for start in range(0, len(logits), _PART):
                part, other = reference[start : start + _PART], logits[start : start + _PART]
                size = len(part)
                shifted, exponentials = self._shifted[:size], self._exponentials[:size]
                differences = self._differences[:size]
                np.subtract(part, largest, out=shifted)
                np.exp(shifted, out=exponentials)
                total += float(exponentials.sum())
                np.subtract(other, np.float32(facts.largest), out=differences)
                product = float(np.dot(exponentials, np.subtract(shifted, differences, out=shifted)))
                if not math.isfinite(product):
                    np.maximum(np.subtract(part, largest, out=shifted), _LEAST, out=shifted)
                    np.maximum(differences, _LEAST, out=differences)
                    product = float(np.dot(exponentials, np.subtract(shifted, differences, out=shifted)))
                weighted += product
        return max(weighted / total + facts.log_total - math.log(total), 0.0)


def largest_first(values: Logits, count: int) -> _Positions:
    """Return where the ``count`` largest of ``values`` (shape (n,), n > 0) are, largest first; all if there are fewer.

    The values are cut into blocks. As many blocks as are asked for have maxima of at least some value, so nothing below
    that one can be among the largest, and few are left to be sorted. NaN counts as the largest.
    """
    maxima = np.maximum.reduceat(values, np.arange(0, len(values), _BLOCK))
    least = np.partition(maxima, -count)[-count] if len(maxima) >= count else -np.inf
    candidates = np.flatnonzero(values >= least)
    return candidates[np.lexsort((candidates, -values[candidates]))[:count]]
