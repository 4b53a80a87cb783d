"""One request on its way through the scheduler."""

import time
from collections.abc import Callable

from ..engine import Control, Report
from ..events import Finished, FinishReason, PrefillProgress, Token
from ..reasoning import ReasoningSplitter
from ..requests import Request
from ..stopping import StopStrings
from ..token_facts import Probability
from ..usage import ProcessUsage
from .engine_threads import EngineThreads
from .scheduler import Cancelled, Sampled, Scheduler, Sequence
from .vocabulary import Vocabulary

ReadProbability = Callable[[int, int], Probability | None]
"""Returns the facts about a token drawn from the logits at a batch position."""


class Generation:
    """Steps the scheduler until its sequence ends, and reports what happens."""

    def __init__(
        self,
        scheduler: Scheduler,
        sequence: Sequence,
        vocabulary: Vocabulary,
        request: Request,
        *,
        context_tokens: int,
        splitter: ReasoningSplitter,
        usage: ProcessUsage,
        probability: ReadProbability,
        control: Control,
        report: Report,
        threads: EngineThreads,
    ) -> None:
        """``usage`` counts from when the request was taken."""
        self._scheduler = scheduler
        self._sequence = sequence
        self._vocabulary = vocabulary
        self._request = request
        self._max_tokens = request.max_tokens
        self._context_tokens = context_tokens
        self._splitter = splitter
        self._usage = usage
        self._probability = probability
        self._control = control
        self._report = report
        self._threads = threads
        self._newest_t = 0
        """Time at which the newest token became available."""
        self._stops = StopStrings(request.stop)
        self._cached = sequence.computed
        self._processed = sequence.computed
        self._end_of_generation = frozenset(vocabulary.end_of_generation)
        self._index = 0

    def run(self) -> Finished:
        """Report progress and tokens; return how it ended. Raises EngineError."""
        try:
            while True:
                sampled = self._scheduler.step(self._is_cancelled, self._advance)
                reason, held = self._after_step(sampled)
                if reason is not None:
                    return self._finished(reason, held)
        except Cancelled:
            return self._finished("cancelled", 0)

    def _finished(self, reason: FinishReason, held: int) -> Finished:
        now = time.perf_counter_ns()
        parts = self._splitter.finish()
        unclosed = self._index > 0 and self._splitter.unclosed
        return Finished(t=now, reason=reason, held=held, parts=parts, unclosed=unclosed)

    def _after_step(self, sampled: list[Sampled]) -> tuple[FinishReason | None, int]:
        if self._sequence.in_prefill:
            return ("cancelled" if self._control.cancelled else None), 0
        if self._max_tokens == 0:
            return "length", 0
        return self._take(sampled[0])

    def _is_cancelled(self) -> bool:
        return self._control.cancelled

    def _advance(self, sequence: Sequence, computed: int) -> None:
        self._threads.prefilled(computed - self._cached)
        if computed > self._processed:
            self._processed = computed
            self._report(
                PrefillProgress(
                    t=time.perf_counter_ns(),
                    processed=computed,
                    cached=self._cached,
                    total=sequence.prompt_length,
                )
            )

    def _take(self, sampled: Sampled) -> tuple[FinishReason | None, int]:
        """Report one token; return why the generation ends with it, if it does, and how much text is held back."""
        token = sampled.token
        piece = self._vocabulary.piece(token)
        control = not piece
        if control:
            piece = self._vocabulary.control_piece(token)
        ended = token in self._end_of_generation
        self._index += 1
        split = self._splitter.feed(self._index, piece, control=control or ended)
        found, held = self._stops.feed(b"" if split.control else piece)
        probability = None
        if self._control.probabilities(self._request):
            probability = self._probability(token, sampled.logits_at)
        scheduling = self._usage.take()
        before, self._newest_t = self._newest_t, time.perf_counter_ns()
        self._report(
            Token(
                t=self._newest_t,
                index=self._index,
                id=token,
                piece=piece,
                decode_ns=sampled.decode_ns if self._index > 1 else 0,
                sample_ns=sampled.sample_ns,
                control=split.control,
                thinking=split.reasoning,
                parts=split.parts,
                held=held,
                scheduling=scheduling,
                probability=probability,
            )
        )
        if before:
            self._threads.decoded(self._newest_t - before, scheduling)
        if ended:
            # What was held back as the beginning of a stop string is text after all.
            return "stop", 0
        if found:
            return "stop", held
        if self._control.cancelled:
            return "cancelled", 0
        if 0 <= self._max_tokens <= self._index:
            return "length", 0
        if len(self._sequence.tokens) >= self._context_tokens:
            return "context", 0
        return None, 0
