"""How likely a token was, computed from the logits that it was drawn from."""

import ctypes
import math
import time
from typing import Any

import numpy as np
import numpy.typing as npt

from ..token_facts import Alternative, Probability
from .bindings import llama_cpp
from .vocabulary import Vocabulary

_TOP = 5
_BLOCK = 1024
_PART = 1 << 14  # values in work at once: few enough to stay in a core's own cache, beside what decode keeps there
_LEAST = np.float32(-1000)  # e^-1000 is 0

_Logits = npt.NDArray[np.float32]
_Positions = npt.NDArray[np.int64]


class ProbabilityReader:
    """Reads llama.cpp's logits where they lie, without copying them; valid until the next ``llama_decode``."""

    def __init__(self, context: Any, vocabulary: Vocabulary) -> None:
        self._context = context
        self._vocabulary = vocabulary
        self._array = ctypes.c_float * vocabulary.size
        self._shifted = np.empty(_PART, dtype=np.float32)
        self._exponentials = np.empty(_PART, dtype=np.float32)
        self._pieces: dict[int, bytes] = {}

    def read(self, token: int, logits_at: int) -> Probability | None:
        """Return the facts about ``token``, drawn from the logits at batch position ``logits_at``.

        ``None`` when the logits are no distribution, or the token has no probability in it.
        """
        started = time.perf_counter_ns()
        pointer = llama_cpp.llama_get_logits_ith(self._context, logits_at)
        logits: _Logits = np.ctypeslib.as_array(self._array.from_address(ctypes.addressof(pointer.contents)))
        found = largest_first(logits, _TOP)
        chosen, largest = float(logits[token]), float(logits[found[0]]) if len(found) else math.nan
        if not (math.isfinite(largest) and math.isfinite(chosen)):
            return None
        with np.errstate(invalid="ignore"):  # what is no number is looked for
            log_total, entropy = self._distribution(logits, largest)
        if not math.isfinite(log_total):  # a NaN among the logits
            return None
        normalizer = largest + log_total
        top = [
            (id, logit) for id, logit in zip(found.tolist(), logits[found].tolist(), strict=True) if logit > -math.inf
        ]
        rank = 1 + sum(logit > chosen for _, logit in top)
        return Probability(
            logprob=chosen - normalizer,
            rank=rank if rank <= len(top) else 1 + int(np.count_nonzero(logits > chosen)),
            entropy_nats=entropy,
            top=tuple(Alternative(id, self._piece(id), logit - normalizer) for id, logit in top),
            cost_ns=time.perf_counter_ns() - started,
        )

    def _distribution(self, logits: _Logits, largest: float) -> tuple[float, float]:
        """Return (ln Σ e^(x − m), the entropy in nats) of ``logits`` x with the largest one m.

        The entropy −Σ p ln p is ln Σ e^(x − m) − Σ (x − m) e^(x − m) / Σ e^(x − m).
        """
        total = weighted = 0.0
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

    def _piece(self, token: int) -> bytes:
        piece = self._pieces.get(token)
        if piece is None:
            piece = self._pieces[token] = self._vocabulary.control_piece(token)
        return piece


def largest_first(values: _Logits, count: int) -> _Positions:
    """Return where the ``count`` largest of ``values`` (shape (n,), n > 0) are, largest first; all if there are fewer.

    The values are cut into blocks. As many blocks as are asked for have maxima of at least some value, so nothing below
    that one can be among the largest, and few are left to be sorted. NaN counts as the largest.
    """
    maxima = np.maximum.reduceat(values, np.arange(0, len(values), _BLOCK))
    least = np.partition(maxima, -count)[-count] if len(maxima) >= count else -np.inf
    candidates = np.flatnonzero(values >= least)
    return candidates[np.lexsort((candidates, -values[candidates]))[:count]]
