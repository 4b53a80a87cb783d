"""The step loop: sequences in, one batch computed, one token out of each sequence that is ready."""

import ctypes
import time
from collections.abc import Callable
from collections.abc import Sequence as Tokens
from typing import Any, Protocol

import msgspec

from ..engine import EngineError
from .bindings import libggml, llama_cpp
from .progress import DecodeWatch

_ABORTED = 2
_NO_SLOT = 1
_F32 = 0  # GGML_TYPE_F32, ggml.h

_all_finite = libggml.ggml_validate_row_data
_all_finite.argtypes, _all_finite.restype = [ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t], ctypes.c_bool


class Drawing(Protocol):
    """How a sequence goes on."""

    def sample(self, context: Any, position: int) -> int:
        """Return the next token, given the logits at a batch position."""
        ...


class Sequence:
    """One stream of tokens in the KV cache: what is known, how much of it is computed, and how it goes on."""

    def __init__(self, number: int, prompt: Tokens[int], computed: int, sampler: Drawing | None) -> None:
        """``computed``: how many leading tokens of ``prompt`` the memory holds already.

        Without a ``sampler`` all tokens are given, and there may be none left to compute.
        """
        self.number = number
        self.prompt_length = len(prompt)
        self.tokens = list(prompt)
        self.computed = computed
        self.sampler = sampler

    @property
    def pending(self) -> int:
        """Tokens that are known and not computed: 1 in decode, more in prefill."""
        return len(self.tokens) - self.computed

    @property
    def in_prefill(self) -> bool:
        """Whether prompt tokens are still to be computed."""
        return self.computed < self.prompt_length


class Sampled(msgspec.Struct, frozen=True):
    """What one step gave for one sequence."""

    sequence: Sequence
    token: int
    logits_at: int
    """Batch position of the logits that it was drawn from."""
    decode_ns: int
    sample_ns: int


class NotANumberError(EngineError):
    """The logits hold a NaN or an infinity, from which nothing can be drawn."""

    def __init__(self, where: str) -> None:
        super().__init__(
            f"The model's output is not a number {where}: the file may be damaged.",
            "Its logits hold a NaN or an infinity.",
            "Copy or download the file again. If the file is intact, try -fa off, or -ngl 0 on a GPU.",
        )


class Cancelled(Exception):
    """The computation was stopped in mid-batch; sequences keep only what was computed before."""


class Scheduler:
    """Builds a batch from all sequences, computes it and samples.

    Decoding sequences come first with their one token, then prompts fill the batch. A step that computes prompt tokens
    can be watched and stopped; one that only decodes runs bare.
    """

    def __init__(self, context: Any, batch_size: int, micro_batch: int, *, node_progress: bool, rollback: bool) -> None:
        """``node_progress``: the device reports every graph node; without it prefill goes by micro-batches.

        ``rollback``: the memory can drop the end of a sequence.
        """
        self._context = context
        self._memory = llama_cpp.llama_get_memory(context)
        vocabulary = llama_cpp.llama_model_get_vocab(llama_cpp.llama_get_model(context))
        self._logits_bytes = llama_cpp.llama_vocab_n_tokens(vocabulary) * ctypes.sizeof(ctypes.c_float)
        self._micro_batch = micro_batch
        self.capacity = batch_size if node_progress else micro_batch
        """Tokens that one batch takes."""
        self._batch = llama_cpp.llama_batch_init(self.capacity, 0, 1)
        for slot in range(self.capacity):
            self._batch.n_seq_id[slot] = 1
        # Each access to a member makes a pointer object anew; the arrays themselves stay where they are.
        self._token, self._pos, self._logits = self._batch.token, self._batch.pos, self._batch.logits
        self._sequence_ids = [self._batch.seq_id[slot] for slot in range(self.capacity)]
        self._rollback = rollback
        self._watch = DecodeWatch(context)
        self.sequences: list[Sequence] = []

    def step(self, stop: Callable[[], bool], advance: Callable[[Sequence, int], None]) -> list[Sampled]:
        """Compute one batch and return the tokens that it gave.

        ``advance`` is called during prefill with a sequence and how many of its tokens are computed. Raises Cancelled
        once ``stop`` says so in mid-prefill, EngineError when llama.cpp cannot go on, and NotANumberError.
        """
        shares = self._fill()
        if not shares:
            return []
        started = time.perf_counter_ns()
        prefilling = [(sequence, count) for sequence, count, _ in shares if sequence.in_prefill]
        status = self._watched(prefilling, stop, advance) if prefilling else self._decode()
        self._check(status, [sequence for sequence, _, _ in shares])
        decoded = time.perf_counter_ns()
        sampled = []
        for sequence, count in prefilling:
            advance(sequence, sequence.computed + count)
        for sequence, count, logits_at in shares:
            sequence.computed += count
            if logits_at < 0:
                continue
            self._check_logits(sequence, logits_at)
            if sequence.sampler is None:
                continue
            before = time.perf_counter_ns()
            token = sequence.sampler.sample(self._context, logits_at)
            sequence.tokens.append(token)
            sampled.append(Sampled(sequence, token, logits_at, decoded - started, time.perf_counter_ns() - before))
        return sampled

    def evaluate(self, sequence: Sequence, count: int, logits_from: int, stop: Callable[[], bool]) -> None:
        """Compute the next ``count`` tokens of ``sequence``, at most ``capacity``, and draw nothing.

        There are logits for those at positions from ``logits_from`` on, in their order. Raises as ``step`` does.
        """
        begin = sequence.computed
        self._put(sequence, count, 0)
        for slot in range(max(0, logits_from - begin), count):
            self._logits[slot] = 1
        self._batch.n_tokens = count
        self._check(self._watched([(sequence, count)], stop, lambda _sequence, _computed: None), [sequence])
        sequence.computed += count

    def clear(self) -> None:
        """Drop everything that the memory holds."""
        llama_cpp.llama_memory_clear(self._memory, True)

    def _fill(self) -> list[tuple[Sequence, int, int]]:
        """Put pending tokens into the batch; return (sequence, how many, position of its logits or -1)."""
        used = 0
        shares: list[tuple[Sequence, int, int]] = []
        for sequence in self._decoding_first():
            count = min(sequence.pending, self.capacity - used)
            if count <= 0:
                continue
            self._put(sequence, count, used)
            used += count
            complete = count == sequence.pending
            if complete:
                self._logits[used - 1] = 1
            shares.append((sequence, count, used - 1 if complete else -1))
        self._batch.n_tokens = used
        return shares

    def _put(self, sequence: Sequence, count: int, used: int) -> None:
        """Put the next ``count`` tokens into the batch after the ``used`` ones, without logits."""
        token, pos, logits, sequence_ids = self._token, self._pos, self._logits, self._sequence_ids
        first = sequence.computed
        for offset in range(count):
            slot = used + offset
            token[slot] = sequence.tokens[first + offset]
            pos[slot] = first + offset
            sequence_ids[slot][0] = sequence.number
            logits[slot] = 0

    def _decoding_first(self) -> list[Sequence]:
        if len(self.sequences) == 1:
            return self.sequences
        return sorted(self.sequences, key=lambda sequence: sequence.in_prefill)

    def _decode(self) -> int:
        status: int = llama_cpp.llama_decode(self._context, self._batch)
        return status

    def _watched(
        self,
        prefilling: list[tuple[Sequence, int]],
        stop: Callable[[], bool],
        advance: Callable[[Sequence, int], None],
    ) -> int:
        size, total = self._micro_batch, self._batch.n_tokens

        def on_progress(micro_batches_done: float) -> None:
            whole = int(micro_batches_done)
            tokens = whole * size + (micro_batches_done - whole) * min(size, total - whole * size)
            for sequence, count in prefilling:
                advance(sequence, sequence.computed + int(count * tokens / total))

        return self._watch.run(self._decode, -(-total // size), stop, on_progress)

    def _check(self, status: int, sequences: list[Sequence]) -> None:
        """Wait for what was computed. Raises Cancelled and EngineError for what was not, with the memory set right."""
        if status == 0:
            llama_cpp.llama_synchronize(self._context)
            return
        self._forget(sequences)
        if status == _ABORTED:
            raise Cancelled
        raise EngineError(
            "llama.cpp could not compute the batch."
            if status != _NO_SLOT
            else "The KV cache has no room left for the batch.",
            f"llama_decode returned {status}",
            "Use a shorter prompt or a larger context (-c).",
        )

    def _check_logits(self, sequence: Sequence, position: int) -> None:
        """Raise NotANumberError where nothing can be drawn from the logits at a batch position.

        A fault inside the model makes all logits NaN, so checking one of them is enough. A damaged row of the output
        matrix affects one logit at every position, so all of them are checked once, after the prompt: 0.6 ns each.
        """
        logits = llama_cpp.llama_get_logits_ith(self._context, position)
        first = logits[0]
        after_prompt = sequence.computed == sequence.prompt_length
        if first - first == 0 and not (after_prompt and not _all_finite(_F32, logits, self._logits_bytes)):
            return
        # A masked NaN is still a NaN: only zeros keep it out of the next request.
        self.clear()
        sequence.computed = 0
        raise NotANumberError(f"at token {len(sequence.tokens) - sequence.prompt_length + 1:,}")

    def _forget(self, sequences: list[Sequence]) -> None:
        """Bring the memory back to what each sequence had computed before the batch that failed."""
        for sequence in sequences:
            # A state that cannot be rolled back may have been overwritten half-way.
            keep = sequence.computed if self._rollback else 0
            if not (keep and llama_cpp.llama_memory_seq_rm(self._memory, sequence.number, keep, -1)):
                llama_cpp.llama_memory_seq_rm(self._memory, sequence.number, -1, -1)
                keep = 0
            sequence.computed = keep
