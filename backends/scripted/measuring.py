"""A measurement played from a script."""

import os
import time
from collections.abc import Iterator

from ..engine import Control, EngineError
from ..events import Finished, Measured
from ..requests import MeasureRequest
from ..token_facts import Scheduling
from .facts import ScriptedFacts
from .script import Line

_NS = 1_000_000


class _Stopped(Exception):
    """A cancel came."""


class ScriptedMeasurement:
    """Times the lines of one turn: ``prefill`` for the prompt, then a token for each that is generated."""

    def __init__(self, request: MeasureRequest, control: Control) -> None:
        self._request = request
        self._control = control
        self._prompt_ns: int | None = None
        self._gaps: list[int] = []
        self._sample: list[int] = []
        self._scheduling: list[Scheduling | None] = []

    def play(self, lines: Iterator[Line]) -> Measured | Finished:
        """Play until all is measured. Raises EngineError where the script says so, and where it ends too early."""
        self._control.wait(self._request.pause_ms / 1000)
        self._due = self._last = started = time.perf_counter_ns()
        try:
            for line in lines:
                for _ in range(line.repeat):
                    if self._done:
                        break
                    self._play_line(line)
        except _Stopped:
            return Finished(t=time.perf_counter_ns(), reason="cancelled")
        if not self._done:
            raise EngineError("The script has less in this turn than is to be measured.")
        return Measured(
            t=self._last,
            started=started,
            prompt_ns=self._prompt_ns,
            prompt_scheduling=None,
            gaps=tuple(self._gaps),
            decode_ns=tuple(gap - sample for gap, sample in zip(self._gaps, self._sample, strict=True)),
            sample_ns=tuple(self._sample),
            scheduling=tuple(self._scheduling),
        )

    @property
    def _done(self) -> bool:
        read = self._prompt_ns is not None or not self._request.prompt
        return read and len(self._gaps) >= self._request.generate

    def _play_line(self, line: Line) -> None:
        if line.error is not None:
            raise EngineError("The measurement failed.", line.error, line.remedy)
        if line.signal is not None:
            os.kill(os.getpid(), line.signal)
        elif line.prefill is not None:
            if self._request.prompt:
                self._prompt_ns = self._wait(line.ms)
        elif line.piece is not None and self._request.generate:
            gap = self._wait(line.ms)
            facts = line.facts or ScriptedFacts()
            self._gaps.append(gap)
            self._sample.append(min(gap, round(facts.sample_ms * _NS)))
            self._scheduling.append(None if line.facts is None else facts.scheduling)

    def _wait(self, ms: float) -> int:
        """Sleep until ``ms`` after what was due last; return how long that was, ns. Raises _Stopped."""
        self._due += round(ms * _NS)
        if self._control.wait(max(0, self._due - time.perf_counter_ns()) / 1e9):
            raise _Stopped
        before, self._last = self._last, time.perf_counter_ns()
        return self._last - before
