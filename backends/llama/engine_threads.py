"""The threads that llama.cpp computes with; their number adapts to the cores that other programs leave free."""

import time
from typing import Any

import msgspec

from ..engine import Report
from ..events import ThreadsChanged
from ..thread_governor import SystemCores, ThreadChange, ThreadGovernor
from ..token_facts import Scheduling
from ..usage import ProcessUsage
from .bindings import llama_cpp


class Threads(msgspec.Struct, frozen=True):
    """Threads for decode and for prefill."""

    decode: int
    batch: int


class EngineThreads:
    """Sets the threads of a context. ``adapt``: change a number that was not set while a request is served."""

    def __init__(self, context: Any, own: Threads, micro_batch: int, *, adapt: bool, adapt_batch: bool) -> None:
        """``own``: the numbers that the context was made with. ``adapt_batch``: prefill follows decode."""
        self._context = context
        self._own = own
        self._micro_batch = micro_batch
        self._adapt_batch = adapt_batch
        self._governor = ThreadGovernor(own.decode, SystemCores()) if adapt and own.decode > 1 else None
        self._report: Report | None = None
        self._usage: ProcessUsage | None = None
        self._micro_batch_began = 0
        self._prefilled = 0

    def begin(self, report: Report, *, exact: bool) -> None:
        """Follow one request. ``exact``: use all threads, since llama.cpp adds in another order with fewer."""
        if self._governor is None:
            return
        self._report = None if exact else report
        self._prefilled = 0
        if exact:
            self._apply(self._governor.whole(), report)
        else:
            self._usage = ProcessUsage()
            self._micro_batch_began = time.perf_counter_ns()

    def end(self) -> None:
        """Stop following it; the number of threads stays as it is."""
        self._report = None
        self._end_prefill()

    def prefilled(self, count: int) -> None:
        """Take in that ``count`` prompt tokens are computed.

        Also called within ``llama_decode``; its next micro-batch uses the threads that are set then.
        """
        if self._usage is None or self._report is None or self._governor is None:
            return
        tokens = count - self._prefilled
        if tokens < self._micro_batch:
            return
        self._prefilled = count
        now = time.perf_counter_ns()
        ns, self._micro_batch_began = now - self._micro_batch_began, now
        facts = self._usage.take()
        if self._adapt_batch:
            self._apply(self._governor.after_step(tokens, ns, facts, prefill=True), self._report)

    def decoded(self, ns: int, facts: Scheduling) -> None:
        """A token took ``ns`` since the one before."""
        if self._report is None or self._governor is None:
            return
        self._end_prefill()
        self._apply(self._governor.after_step(1, ns, facts, prefill=False), self._report)

    def use(self, threads: Threads | None) -> None:
        """Set the number of threads outside of requests; ``None``: the number that the context was made with."""
        chosen = threads or self._own
        llama_cpp.llama_set_n_threads(self._context, chosen.decode, chosen.batch)

    def _apply(self, change: ThreadChange | None, report: Report) -> None:
        if change is None:
            return
        batch = change.after if self._adapt_batch else self._own.batch
        llama_cpp.llama_set_n_threads(self._context, change.after, batch)
        report(ThreadsChanged(t=time.perf_counter_ns(), before=change.before, after=change.after, why=change.why))

    def _end_prefill(self) -> None:
        if self._usage is not None:
            self._usage.close()
            self._usage = None
