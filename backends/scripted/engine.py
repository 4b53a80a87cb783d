"""Plays a script in the engine's process, on the engine's clock."""

import os
import secrets
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from ..engine import Control, EngineError, Report
from ..events import (
    Finished,
    FinishReason,
    LoadProgress,
    Log,
    MeasuredWith,
    ModelReady,
    PrefillProgress,
    PromptReady,
    RequestTaken,
    ThreadsChanged,
    Token,
)
from ..reasoning import ReasoningSplitter
from ..reasoning_marks import UNKNOWN_REASONING, unknown_reasoning
from ..requests import EngineSettings, MeasureRequest, Request, ScoreRequest
from ..stopping import StopStrings
from .facts import ScriptedFacts
from .measuring import ScriptedMeasurement
from .script import Line, Script, probability, read_script

_PROGRESS_STEPS = 32
_NS = 1_000_000


class ScriptedEngine:
    """An ``Engine`` whose every event comes out of a file."""

    def __init__(self, path: bytes, settings: EngineSettings) -> None:
        self._path = Path(os.fsdecode(path))
        self._settings = settings
        self._script: Script = read_script(self._path, repack=settings.repack)
        self._position = 0
        self._requests = 0

    def load(self, report: Report) -> ModelReady:
        """See ``Engine``."""
        start = time.perf_counter_ns()
        seconds = self._script.load_ms / 1000
        for step in range(_PROGRESS_STEPS if seconds else 1):
            report(LoadProgress(t=time.perf_counter_ns(), fraction=step / _PROGRESS_STEPS))
            time.sleep(seconds / _PROGRESS_STEPS)
        if self._script.load_signal is not None:
            os.kill(os.getpid(), self._script.load_signal)
        if self._script.load_error is not None:
            raise EngineError("The script says that loading fails.", self._script.load_error)
        report(LoadProgress(t=time.perf_counter_ns(), fraction=1.0))
        model = self._script.model
        if unknown_reasoning(model.template):
            report(Log(t=time.perf_counter_ns(), level="warning", text=UNKNOWN_REASONING))
        return ModelReady(
            t=time.perf_counter_ns(),
            name=model.name,
            file=os.fsencode(self._path).decode("utf-8", "replace"),
            architecture=model.architecture,
            quantization=model.quantization,
            bytes=model.bytes,
            parameters=model.parameters,
            trained_context=model.trained_context,
            context=self._context,
            layers=model.layers,
            gpu_layers=0,
            threads=self._settings.threads or 1,
            threads_batch=self._settings.threads_batch or self._settings.threads or 1,
            micro_batch=self._settings.micro_batch,
            devices=model.devices,
            template=model.template,
            kv_bytes_per_token=model.kv_bytes_per_token,
            weight_bytes_per_token=model.weight_bytes_per_token,
            weight_bytes_per_pass=model.weight_bytes_per_pass,
            progress="node",
            rollback=True,
            load_ns=time.perf_counter_ns() - start,
            warmup_ns=0,
        )

    @property
    def _context(self) -> int:
        return self._settings.context or self._script.model.context

    def generate(self, request: Request, control: Control, report: Report) -> None:
        """See ``Engine``."""
        self._requests += 1
        seed = request.sampling.seed if request.sampling.seed >= 0 else secrets.randbits(32)
        report(
            RequestTaken(
                t=time.perf_counter_ns(),
                request=self._requests,
                messages=request.messages,
                prompt=request.prompt or "",
                sampling=request.sampling,
                seed=seed,
                max_tokens=request.max_tokens,
                stop=request.stop,
            )
        )
        turn = _Turn(request, self._context, self._script.model.template, control, report)
        lines = self._turn_lines()
        try:
            turn.play(lines)
        finally:
            for _ in lines:  # a turn that ended early is skipped to its end
                pass

    def tokenize(self, text: str, report: Report) -> None:
        """See ``Engine``. A script has no vocabulary."""
        raise EngineError("A script cannot score a text.", remedy="Compare models.")

    def score(self, request: ScoreRequest, control: Control, report: Report) -> None:
        """See ``Engine``. A script has no model that could say how likely a text is."""
        raise EngineError("A script cannot score a text.", remedy="Compare models.")

    def measure(self, request: MeasureRequest, control: Control, report: Report) -> None:
        """See ``Engine``. Each measurement plays a turn."""
        model = self._script.model
        report(
            MeasuredWith(
                t=time.perf_counter_ns(),
                model=f"{model.architecture} {model.quantization}",
                processors=model.devices,
                gpus=(),
                backends=("script",),
                repack=self._settings.repack,
            )
        )
        lines = self._turn_lines()
        try:
            report(ScriptedMeasurement(request, control).play(lines))
        finally:
            for _ in lines:  # a turn that ended early is skipped to its end
                pass

    def prepare_probabilities(self) -> None:
        """See ``Engine``. A script has them ready."""

    def _turn_lines(self) -> Iterator[Line]:
        """Yield the lines of the next turn, moving on as they are taken."""
        lines = self._script.lines
        if self._position >= len(lines):
            self._position = 0
        while self._position < len(lines):
            line = lines[self._position]
            self._position += 1
            yield line
            if line.stop is not None or line.error is not None:
                return


class _Turn:
    """One request being played: keeps the schedule, counts the tokens and watches for the end."""

    def __init__(self, request: Request, context: int, template: str, control: Control, report: Report) -> None:
        self._request = request
        self._context = context
        self._control = control
        self._report = report
        self._stops = StopStrings(request.stop)
        # The answer begins where the template ends.
        self._splitter = ReasoningSplitter(template, template)
        self._reasoning_unknown = unknown_reasoning(template)
        self._due = time.perf_counter_ns()
        self._last = self._due
        self._prompt_tokens: int | None = None
        self._tokens = 0
        self._held = 0

    def play(self, lines: Iterator[Line]) -> None:
        """Play the lines of one turn, to its ``finished``. Raises EngineError for a scripted failure."""
        if self._request.max_tokens == 0:
            self._read_prompt(0, 0, 0.0)
            return self._finish("length")
        for line in lines:
            for _ in range(line.repeat):
                if self._play_line(line):
                    return None
        if self._prompt_tokens is None and not self._read_prompt(self._prompt_size(), 0, 0.0):
            return self._finish("cancelled")
        return self._finish("stop")

    def _play_line(self, line: Line) -> bool:
        """Play one line; True when it ended the turn."""
        if line.prefill is not None:
            cached = line.cached if self._request.cache_prompt else 0
            if not self._read_prompt(line.prefill, cached, line.ms):
                self._finish("cancelled")
                return True
            return False
        if self._prompt_tokens is None and not self._read_prompt(self._prompt_size(), 0, 0.0):
            self._finish("cancelled")
            return True
        if not self._wait(line.ms):
            self._finish("cancelled")
            return True
        if line.error is not None:
            raise EngineError("The generation failed.", line.error, line.remedy)
        if line.signal is not None:
            os.kill(os.getpid(), line.signal)
        elif line.stderr is not None:
            sys.stderr.write(line.stderr + "\n")
            sys.stderr.flush()
        elif line.threads is not None:
            change = line.threads
            self._report(
                ThreadsChanged(t=time.perf_counter_ns(), before=change.before, after=change.after, why=change.why)
            )
        elif line.log is not None:
            self._report(Log(t=time.perf_counter_ns(), level="warning", text=line.log))
        elif line.stop is not None:
            self._finish(line.stop)
            return True
        else:
            return self._token(line)
        return False

    def _prompt_size(self) -> int:
        """A plausible token count for a script that names none: four bytes each, and one for the template."""
        texts = [self._request.prompt or "", *(message.content for message in self._request.messages)]
        return sum(len(text.encode()) for text in texts) // 4 + 1

    def _read_prompt(self, total: int, cached: int, ms: float) -> bool:
        """Play the prefill; False when it was cancelled."""
        if total >= self._context:
            raise EngineError(
                f"The prompt has {total:,} tokens and the context holds {self._context:,}.",
                remedy="Use a shorter prompt or a larger context (-c).",
            )
        self._prompt_tokens = total
        self._report(
            PromptReady(
                t=time.perf_counter_ns(),
                tokens=tuple(range(total)),
                cached=cached,
                reasoning_unknown=self._reasoning_unknown,
            )
        )
        steps = max(1, min(_PROGRESS_STEPS, total - cached)) if ms else 1
        for step in range(1, steps + 1):
            if not self._wait(ms / steps):
                return False
            processed = cached + (total - cached) * step // steps
            self._report(PrefillProgress(t=time.perf_counter_ns(), processed=processed, cached=cached, total=total))
        return True

    def _wait(self, ms: float) -> bool:
        """Sleep until ``ms`` after the moment that was due last; False when cancelled."""
        self._due += round(ms * _NS)
        remaining = self._due - time.perf_counter_ns()
        if remaining > 0:
            return not self._control.wait(remaining / 1e9)
        return not self._control.cancelled

    def _token(self, line: Line) -> bool:
        """Report one token; True when it ended the turn."""
        piece = line.piece
        if piece is None:
            raise AssertionError(f"a line without a kind: {line}")
        self._tokens += 1
        if line.think is None:
            split = self._splitter.feed(self._tokens, piece, control=line.control is not None)
        else:
            split = self._splitter.told(self._tokens, piece)
        found, self._held = self._stops.feed(b"" if split.control else piece)
        facts = line.facts or ScriptedFacts()
        likely = probability(line, self._tokens) if self._control.probabilities(self._request) else None
        sample, rest = round(facts.sample_ms * _NS), round(facts.rest_ms * _NS)
        now = time.perf_counter_ns()
        decode = max(now - self._last - sample - rest - (0 if likely is None else likely.cost_ns), 0)
        self._report(
            Token(
                t=now,
                index=self._tokens,
                id=self._tokens,
                piece=piece,
                decode_ns=decode if self._tokens > 1 else 0,
                sample_ns=sample,
                control=split.control,
                thinking=split.reasoning,
                parts=split.parts,
                held=self._held,
                scheduling=None if line.facts is None else facts.scheduling,
                probability=likely,
            )
        )
        self._last = now
        if found:
            self._finish("stop", held=self._held)
        elif 0 <= self._request.max_tokens <= self._tokens:
            self._finish("length")
        elif (self._prompt_tokens or 0) + self._tokens >= self._context:
            self._finish("context")
        else:
            return False
        return True

    def _finish(self, reason: FinishReason, held: int = 0) -> None:
        now = time.perf_counter_ns()
        parts = self._splitter.finish()
        unclosed = self._tokens > 0 and self._splitter.unclosed
        self._report(Finished(t=now, reason=reason, held=held, parts=parts, unclosed=unclosed))
