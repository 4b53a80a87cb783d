"""Random tokens computed and timed, in the way of ``llama-bench``."""

import ctypes
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from random import Random
from typing import Any

from ..engine import Control, EngineError, Report
from ..events import Finished, Measured, MeasuredWith, PrefillProgress
from ..requests import MeasureRequest
from ..token_facts import Scheduling
from ..usage import ProcessUsage
from .bindings import llama_cpp
from .memory import SequenceMemory
from .native import backends, devices
from .sampling import Sampler
from .scheduler import Cancelled, Drawing, Scheduler, Sequence
from .vocabulary import Vocabulary

_SEED = 1
_DESCRIPTION_BYTES = 128


def measured_with(context: Any, *, repack: bool) -> MeasuredWith:
    """Return llama.cpp's names for the model behind ``context`` and for the devices; ``repack``: as it was loaded."""
    buffer = ctypes.create_string_buffer(_DESCRIPTION_BYTES)
    llama_cpp.llama_model_desc(llama_cpp.llama_get_model(context), buffer, len(buffer))
    found = devices()
    return MeasuredWith(
        t=time.perf_counter_ns(),
        model=buffer.value.decode("utf-8", "replace"),
        processors=tuple(device.description for device in found if not device.is_gpu),
        gpus=tuple(device.description for device in found if device.is_gpu),
        backends=backends(),
        repack=repack,
    )


class _AnyToken:
    """Goes on with any token, whatever the logits say."""

    def __init__(self, random: Random, vocabulary: int) -> None:
        self._random = random
        self._vocabulary = vocabulary

    def sample(self, context: Any, position: int) -> int:
        """See ``Drawing``."""
        return self._random.randrange(self._vocabulary)


class Meter:
    """Measures in one sequence of a context."""

    def __init__(
        self, scheduler: Scheduler, memory: SequenceMemory, vocabulary: Vocabulary, number: int, context_tokens: int
    ) -> None:
        self._scheduler = scheduler
        self._memory = memory
        self._vocabulary = vocabulary
        self._number = number
        self._context_tokens = context_tokens
        self._random = Random(_SEED)
        self._depth = self._tokens(0)

    def measure(self, request: MeasureRequest, control: Control, report: Report) -> Measured | Finished:
        """Fill the depth, which stays from one measurement to the next, and time the rest. Raises EngineError."""
        self._check(request)
        depth = self._depth_of(request.depth)
        sequence = Sequence(self._number, depth, self._memory.reuse([*depth, 0], exact=False), None)
        self._scheduler.sequences = [sequence]
        try:
            if request.pause_ms and control.wait(request.pause_ms / 1000):
                raise Cancelled
            self._fill(sequence, control, report)
            with closing(ProcessUsage()) as usage, self._drawing(request) as drawing:
                return self._timed(request, sequence, drawing, usage, control)
        except Cancelled:
            return Finished(t=time.perf_counter_ns(), reason="cancelled")
        finally:
            self._memory.settle(sequence, exact=False)
            self._scheduler.sequences = []

    def _check(self, request: MeasureRequest) -> None:
        needed = request.depth + request.prompt + request.generate
        if not request.prompt and not request.generate:
            raise EngineError(
                "There is nothing to measure.", remedy="Ask for prompt tokens, or for tokens to generate."
            )
        if needed > self._context_tokens:
            raise EngineError(
                f"The measurement takes {needed:,} tokens and the context holds {self._context_tokens:,}.",
                remedy="Measure fewer tokens, or less deep.",
            )

    def _fill(self, sequence: Sequence, control: Control, report: Report) -> None:
        cached, total = sequence.computed, sequence.prompt_length

        def advance(_sequence: Sequence, computed: int) -> None:
            report(PrefillProgress(t=time.perf_counter_ns(), processed=computed, cached=cached, total=total))

        while sequence.pending:
            self._scheduler.step(lambda: control.cancelled, advance)
            if control.cancelled:
                raise Cancelled

    def _timed(
        self, request: MeasureRequest, sequence: Sequence, drawing: Drawing, usage: ProcessUsage, control: Control
    ) -> Measured:
        sequence.tokens += self._tokens(request.prompt)
        sequence.prompt_length = len(sequence.tokens)
        first = self._tokens(1)
        usage.take()
        last = started = time.perf_counter_ns()
        prompt_ns, prompt_scheduling = None, None
        if request.prompt:
            sequence.sampler = drawing if request.sampling is not None else None
            while sequence.in_prefill:
                self._scheduler.step(lambda: control.cancelled, lambda _sequence, _computed: None)
                if control.cancelled:
                    raise Cancelled
            last = time.perf_counter_ns()
            prompt_ns, prompt_scheduling = last - started, usage.take()
        if not sequence.pending:
            sequence.tokens += first
        sequence.sampler = drawing
        gaps: list[int] = []
        decode: list[int] = []
        sample: list[int] = []
        scheduling: list[Scheduling] = []
        for _ in range(request.generate):
            (sampled,) = self._scheduler.step(lambda: False, lambda _sequence, _computed: None)
            scheduling.append(usage.take())
            before, last = last, time.perf_counter_ns()
            gaps.append(last - before)
            decode.append(sampled.decode_ns)
            sample.append(sampled.sample_ns)
            if control.cancelled:
                raise Cancelled
        return Measured(
            t=last,
            started=started,
            prompt_ns=prompt_ns,
            prompt_scheduling=prompt_scheduling,
            gaps=tuple(gaps),
            decode_ns=tuple(decode),
            sample_ns=tuple(sample),
            scheduling=tuple(scheduling),
        )

    @contextmanager
    def _drawing(self, request: MeasureRequest) -> Iterator[Drawing]:
        if request.sampling is None:
            yield _AnyToken(self._random, self._vocabulary.size)
            return
        seed = request.sampling.seed if request.sampling.seed >= 0 else _SEED
        with closing(Sampler(request.sampling, seed, self._vocabulary.size, self._context_tokens, ())) as sampler:
            yield sampler

    def _depth_of(self, count: int) -> list[int]:
        """Return the tokens of a depth: always the same, so that they need not be computed anew."""
        if len(self._depth) < count:
            self._depth += self._tokens(count - len(self._depth)) if self._depth else self._tokens(count)
        return self._depth[:count]

    def _tokens(self, count: int) -> list[int]:
        """Return random tokens, the first a BOS where the vocabulary wants one."""
        vocabulary = self._vocabulary
        tokens = [self._random.randrange(vocabulary.size) for _ in range(count)]
        if tokens and vocabulary.adds_bos and vocabulary.bos >= 0:
            tokens[0] = vocabulary.bos
        return tokens
