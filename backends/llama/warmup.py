"""The first computation, done before anyone waits for it."""

import contextlib
import time
from typing import Any

from ..requests import Sampling
from .bindings import llama_cpp
from .sampling import Sampler
from .scheduler import NotANumberError, Scheduler, Sequence
from .vocabulary import Vocabulary

_SEQUENCE = 0
_BUDGET_NS = 300_000_000
_DECODES = 2


def warm_up(context: Any, scheduler: Scheduler, vocabulary: Vocabulary, micro_batch: int, context_tokens: int) -> None:
    """Touch weights, buffers and threads once, so that the first answer is not the cold one.

    A short prompt and a few tokens always; a whole micro-batch, whose buffers are touched for the first time too, where
    the short one tells that it is quick enough. Also lets the scheduler learn how many graph nodes a micro-batch has.
    """
    llama_cpp.llama_set_warmup(context, True)
    _generate(scheduler, vocabulary, prompt_length=2)
    llama_cpp.llama_set_warmup(context, False)
    length = min(32, context_tokens - 1 - _DECODES)
    while 2 <= length <= micro_batch:
        started = time.perf_counter_ns()
        _generate(scheduler, vocabulary, prompt_length=length)
        elapsed = time.perf_counter_ns() - started
        longer = min(micro_batch, context_tokens - 1 - _DECODES)
        if length >= longer or elapsed * longer > _BUDGET_NS * length:
            break
        length = longer


def _generate(scheduler: Scheduler, vocabulary: Vocabulary, prompt_length: int) -> None:
    sampler = Sampler(Sampling(), 0, vocabulary.size, prompt_length + _DECODES, ())
    token = vocabulary.bos if vocabulary.bos >= 0 else max(vocabulary.eos, 0)
    sequence = Sequence(_SEQUENCE, [token] * prompt_length, 0, sampler)
    scheduler.sequences = [sequence]
    with contextlib.suppress(NotANumberError):  # reported for the first request, with the token
        while len(sequence.tokens) < prompt_length + _DECODES:
            scheduler.step(lambda: False, lambda _sequence, _computed: None)
    scheduler.sequences = []
    scheduler.clear()
    sampler.close()
