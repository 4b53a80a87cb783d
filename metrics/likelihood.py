"""How likely every token of a run was, as columns."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ..backends.token_facts import Alternative, Probability
from .series import Column, Float32Array, Int32Array, Series, UInt8Array

TOP = 5
"""Alternatives kept per token."""

UNLIKELY = (0.2, 0.05, 0.01)
"""A token below each of these probabilities is of degree 1, 2, 3."""

UNSURE = (4.0, 5.0, 6.0)
"""Bits; from each of these on a token is of degree 1, 2, 3. 4 bits: as unsure as between 16 equally likely tokens."""

_LOGS_UNLIKELY = np.log(UNLIKELY)
_NATS_UNSURE = np.multiply(UNSURE, np.log(2))
_NONE = -1


def unlikely(logprobs: npt.ArrayLike) -> UInt8Array:
    """Return the degree of each token by its natural ``logprobs``, shape (n,); 0 for NaN and for what is ordinary."""
    with np.errstate(invalid="ignore"):
        below = np.asarray(logprobs, np.float64)[:, None] < _LOGS_UNLIKELY
    degrees: UInt8Array = np.count_nonzero(below, axis=1).astype(np.uint8)
    return degrees


def unsure(entropies: npt.ArrayLike) -> UInt8Array:
    """Return the degree of each token by its ``entropies`` in nats, shape (n,); 0 for NaN and for what is ordinary."""
    with np.errstate(invalid="ignore"):
        above = np.asarray(entropies, np.float64)[:, None] >= _NATS_UNSURE
    degrees: UInt8Array = np.count_nonzero(above, axis=1).astype(np.uint8)
    return degrees


class Likelihood:
    """The probability facts of each token; takes no memory until the first ones come.

    The columns have shape (n,), NaN (``rank``: 0) for tokens without facts.
    """

    def __init__(self) -> None:
        self._length = 0
        self._columns: _Columns | None = None

    def append(self, facts: Probability | None) -> None:
        """Take in the facts of the next token."""
        if facts is not None and self._columns is None:
            self._columns = _Columns()
            for _ in range(self._length):
                self._columns.append(None)
        if self._columns is not None:
            self._columns.append(facts)
        self._length += 1

    def extend(self, facts: Sequence[Probability | None]) -> None:
        """Take in the facts of many tokens."""
        if self._columns is None and not any(one is not None for one in facts):
            self._length += len(facts)
            return
        for one in facts:
            self.append(one)

    def take(self, other: "Likelihood", count: int) -> None:
        """Take in the facts of the first ``count`` tokens of another run, before any other's."""
        self._length = count
        if other._columns is not None and not np.isnan(other._columns.logprob.values[:count]).all():
            self._columns = _Columns()
            self._columns.take(other._columns, count)

    @property
    def known(self) -> bool:
        """Whether any token has probability facts."""
        return self._columns is not None

    @property
    def logprobs(self) -> Float32Array:
        """Natural logarithm of each token's probability."""
        return self._missing() if self._columns is None else self._columns.logprob.values

    @property
    def entropies(self) -> Float32Array:
        """Entropy of the distribution that each token was drawn from, nats."""
        return self._missing() if self._columns is None else self._columns.entropy.values

    @property
    def ranks(self) -> Int32Array:
        """Rank of each token, 1 for the likeliest; 0 where it is not known."""
        return np.zeros(self._length, dtype=np.int32) if self._columns is None else self._columns.rank.values

    def cost_ns(self, position: int) -> int | None:
        """What computing the facts of the token at ``position`` (from 0) took; ``None`` when there are none."""
        cost = _NONE if self._columns is None else int(self._columns.cost.values[position])
        return None if cost == _NONE else cost

    def at(self, position: int) -> Probability | None:
        """Return the facts of the token at ``position`` (from 0), numbers to single precision."""
        return None if self._columns is None else self._columns.at(position)

    def _missing(self) -> Float32Array:
        return np.full(self._length, np.nan, dtype=np.float32)


class _Columns:
    """One row a token, and ``TOP`` entries a row for the alternatives; their bytes are kept once per token id."""

    def __init__(self) -> None:
        self.logprob = Column(np.float32)
        self.entropy = Column(np.float32)
        self.rank = Column(np.int32)
        self.cost = Series()
        self._top_ids = Column(np.int32)
        self._top_logprobs = Column(np.float32)
        self._pieces: dict[int, bytes] = {}

    def append(self, facts: Probability | None) -> None:
        self.logprob.append(np.nan if facts is None else facts.logprob)
        self.entropy.append(np.nan if facts is None else facts.entropy_nats)
        self.rank.append(0 if facts is None else facts.rank)
        self.cost.append(_NONE if facts is None else facts.cost_ns)
        top = () if facts is None else facts.top[:TOP]
        for alternative in top:
            self._top_ids.append(alternative.id)
            self._top_logprobs.append(alternative.logprob)
            self._pieces.setdefault(alternative.id, alternative.piece)
        for _ in range(TOP - len(top)):
            self._top_ids.append(_NONE)
            self._top_logprobs.append(np.nan)

    def take(self, other: "_Columns", count: int) -> None:
        self.logprob.extend(other.logprob.values[:count])
        self.entropy.extend(other.entropy.values[:count])
        self.rank.extend(other.rank.values[:count])
        self.cost.extend(other.cost.values[:count])
        self._top_ids.extend(other._top_ids.values[: count * TOP])
        self._top_logprobs.extend(other._top_logprobs.values[: count * TOP])
        self._pieces = dict(other._pieces)

    def at(self, position: int) -> Probability | None:
        cost = int(self.cost.values[position])
        if cost == _NONE:
            return None
        row = slice(position * TOP, (position + 1) * TOP)
        entries = zip(self._top_ids.values[row].tolist(), self._top_logprobs.values[row].tolist(), strict=True)
        return Probability(
            logprob=float(self.logprob.values[position]),
            rank=int(self.rank.values[position]),
            entropy_nats=float(self.entropy.values[position]),
            top=tuple(Alternative(id, self._pieces[id], logprob) for id, logprob in entries if id != _NONE),
            cost_ns=cost,
        )
