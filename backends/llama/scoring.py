"""A given text scored: how likely each of its tokens was, and how far that is from what a reference thought."""

import ctypes
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, nullcontext
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from ..engine import Control, EngineError
from ..events import Finished, Scored
from ..requests import ScoreRequest
from ..scoring import Exchange, stretch_rows
from .bindings import llama_cpp
from .memory import SequenceMemory
from .probabilities import Arithmetic, Facts, Pieces
from .scheduler import Cancelled, NotANumberError, Scheduler, Sequence
from .vocabulary import Vocabulary

_Rows = npt.NDArray[np.float32]


class _Row(msgspec.Struct, frozen=True, gc=False):
    """What came out of one position."""

    facts: Facts
    kld: float = 0.0
    same_top: bool = True


class Scorer:
    """Scores stretches of text with one context. The rows of a batch are shared out among as many threads as compute.

    They are read where llama.cpp has put them, so that beside its own memory only a few rows are held.
    """

    def __init__(
        self,
        context: Any,
        scheduler: Scheduler,
        vocabulary: Vocabulary,
        *,
        micro_batch: int,
        threads: int,
    ) -> None:
        self._context = context
        self._scheduler = scheduler
        self._vocabulary = vocabulary
        self._rows = stretch_rows(vocabulary.size, micro_batch)
        self._pieces = Pieces(vocabulary)
        self._workers = [_Worker(vocabulary.size) for _ in range(threads)]
        self._pool = ThreadPoolExecutor(threads, "scoring")

    def score(self, request: ScoreRequest, memory: SequenceMemory, number: int, control: Control) -> Scored | Finished:
        """Score a stretch in the sequence of that ``number``. Raises EngineError."""
        started = time.perf_counter_ns()
        given = request.tokens[:-1]  # the last one is followed by nothing
        sequence = Sequence(number, given, memory.resume(given, request.first - 1), None)
        rows: list[_Row] = []
        decode_ns = 0
        try:
            with self._exchange(request) as exchange:
                for first, count in self._batches(sequence, request.first - 1):
                    before = time.perf_counter_ns()
                    self._scheduler.evaluate(sequence, count, first, lambda: control.cancelled)
                    decode_ns += time.perf_counter_ns() - before
                    rows += self._read(request, exchange, first, sequence.computed, control)
        except Cancelled:
            return Finished(t=time.perf_counter_ns(), reason="cancelled")
        except NotANumberError:
            self._scheduler.clear()  # as the scheduler does itself
            sequence.computed = 0
            raise
        finally:
            memory.settle_scored(sequence)
        compared = request.exchange is not None and request.role == "compared"
        top = tuple(self._pieces.alternatives(row.facts) for row in rows)
        pieces = self._pieces.of_text(request.tokens)
        ended = time.perf_counter_ns()
        return Scored(
            t=ended,
            first=request.start + request.first,
            logprobs=tuple(row.facts.logprob for row in rows),
            entropies=tuple(row.facts.entropy for row in rows),
            ranks=tuple(row.facts.rank for row in rows),
            top=top,
            kld=tuple(row.kld for row in rows) if compared else (),
            same_top=tuple(row.same_top for row in rows) if compared else (),
            pieces=pieces,
            decode_ns=decode_ns,
            compute_ns=ended - started - decode_ns,
        )

    def _batches(self, sequence: Sequence, first: int) -> Iterator[tuple[int, int]]:
        """Yield (position of the first logits, tokens) of each batch; ``first``: the first position with logits."""
        while sequence.pending:
            begin = sequence.computed
            count = min(sequence.pending, self._scheduler.capacity)
            wanted = max(begin, first)
            count = min(count, wanted - begin + self._rows)
            yield wanted, count

    def _exchange(self, request: ScoreRequest) -> "closing[Exchange] | nullcontext[None]":
        if request.exchange is None:
            return nullcontext()
        return closing(Exchange(request.exchange, self._vocabulary.size, writable=request.role == "reference"))

    def _read(
        self, request: ScoreRequest, exchange: Exchange | None, first: int, end: int, control: Control
    ) -> list[_Row]:
        """Return what the logits at positions ``first`` to ``end`` say of the tokens that follow each.

        Raises Cancelled and EngineError.
        """
        if end <= first:
            return []
        logits = self._logits(end - first)
        count = len(self._workers)
        borders = [first + (end - first) * worker // count for worker in range(count + 1)]

        def work(worker: _Worker, begin: int, finish: int) -> list[_Row]:
            rows = []
            for position in range(begin, finish):
                if control.cancelled:
                    raise Cancelled
                rows.append(worker.row(request, exchange, position + 1, logits[position - first]))
            return rows

        parts = list(self._pool.map(_settled(work), self._workers, borders, borders[1:]))
        for part in parts:
            if isinstance(part, BaseException):
                raise part
        return [row for part in parts if isinstance(part, list) for row in part]

    def _logits(self, rows: int) -> _Rows:
        """The logits of the last batch where llama.cpp keeps them, shape (rows, vocabulary)."""
        pointer = llama_cpp.llama_get_logits(self._context)
        array = ctypes.c_float * (rows * self._vocabulary.size)
        flat = np.ctypeslib.as_array(array.from_address(ctypes.addressof(pointer.contents)))
        return flat.reshape(rows, self._vocabulary.size)


def _settled(work: Callable[..., list[_Row]]) -> Callable[..., list[_Row] | BaseException]:
    """Return ``work`` with its exception as result, so that all threads have ended before it is raised."""

    def settled(*arguments: Any) -> list[_Row] | BaseException:
        try:
            return work(*arguments)
        except (Cancelled, EngineError) as error:
            return error

    return settled


class _Worker:
    """Scores rows in one thread."""

    def __init__(self, vocabulary: int) -> None:
        self._arithmetic = Arithmetic()
        self._reference: npt.NDArray[np.float32] | None = None
        self._vocabulary = vocabulary

    def row(self, request: ScoreRequest, exchange: Exchange | None, position: int, logits: _Rows) -> _Row:
        """Return what ``logits`` say of the token at ``position`` of the request's. Raises EngineError."""
        facts = self._arithmetic.facts(logits, request.tokens[position])
        if facts is None:
            token = f"token {request.start + position + 1:,} of the text"
            if not np.isfinite(logits).all():
                raise NotANumberError(f"at {token}")
            raise EngineError(
                f"The model has no probability for {token}.",
                "Its logits rule the token out.",
                "Score another text, or check the model file.",
            )
        if exchange is None:
            return _Row(facts)
        row, place = request.row + position - request.first, request.start + position
        if request.role == "reference":
            exchange.write(row, place, facts.top[0], logits.data)
            return _Row(facts)
        if self._reference is None:
            self._reference = np.empty(self._vocabulary, dtype=np.float32)
        top = exchange.read(row, place, self._reference.data)
        return _Row(facts, self._arithmetic.divergence(logits, facts, self._reference, top), facts.top[0] == top)
