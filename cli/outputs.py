"""What a headless run writes to stdout: the text, a summary, or every event."""

import json
import time
from typing import Any, Protocol

import msgspec

from ..backends.events import Event, Failed, Finished, ModelReady, RequestTaken, Token
from ..backends.text import TextStream
from ..backends.wire import encode
from ..metrics.run import Run
from ..metrics.summary import failure, summarize
from .options import GenerationOptions
from .report import summary_line
from .streams import Data, Messages


class Outcome(msgspec.Struct):
    """How far a run has come; filled in as its events arrive."""

    options: GenerationOptions
    model: ModelReady | None = None
    run: Run | None = None
    failed: Failed | None = None
    cancelled: bool = False
    warnings: list[str] = msgspec.field(default_factory=list)
    """What the engine has warned of, each once."""

    @property
    def finish_reason(self) -> str | None:
        """As in the summary; also for a run that never began."""
        if self.failed is not None:
            return "failed"
        if self.cancelled:
            return "cancelled"
        return None if self.run is None else self.run.finish_reason


class Output(Protocol):
    """A format. Both methods raise OSError when stdout cannot be written."""

    def event(self, event: Event) -> None:
        """Take in one event."""
        ...

    def end(self, outcome: Outcome) -> None:
        """Write what is left, however the run ended."""
        ...


class PlainOutput:
    """The text as it comes, ended by a newline; the figures go to stderr."""

    def __init__(self, data: Data, messages: Messages) -> None:
        self._data = data
        self._messages = messages
        self._text = TextStream()
        self._last = "\n"

    def event(self, event: Event) -> None:
        """See ``Output``."""
        if isinstance(event, Token):
            self._write(self._text.feed(event))
        elif isinstance(event, Finished):
            self._write(self._text.finish(event))

    def end(self, outcome: Outcome) -> None:
        """See ``Output``."""
        self._write(self._text.flush())
        if not self._last.endswith("\n"):
            self._data.write("\n")
            self._data.flush()
        line = None if outcome.run is None else summary_line(outcome.run, outcome.finish_reason)
        if line is not None:
            self._messages.say(line)

    def _write(self, fragments: list[tuple[int, str]]) -> None:
        for _, text in fragments:
            self._data.write(text)
            self._last = text
        if fragments:
            self._data.flush()


class JsonOutput:
    """The summary as one JSON object, with the text."""

    def __init__(self, data: Data) -> None:
        self._data = data
        self._stream = TextStream()
        self._text: list[str] = []

    def event(self, event: Event) -> None:
        """See ``Output``."""
        if isinstance(event, Token):
            self._text += [text for _, text in self._stream.feed(event)]
        elif isinstance(event, Finished):
            self._text += [text for _, text in self._stream.finish(event)]

    def end(self, outcome: Outcome) -> None:
        """See ``Output``."""
        self._text += [text for _, text in self._stream.flush()]
        summary = self._summary(outcome)
        self._data.write(json.dumps(summary, ensure_ascii=False, allow_nan=False, indent=2) + "\n")
        self._data.flush()

    def _summary(self, outcome: Outcome) -> dict[str, Any]:
        # A run that never began has no figures, and the same fields.
        options = outcome.options
        run = outcome.run or Run(RequestTaken(t=0, request=0, sampling=options.sampling, seed=options.sampling.seed))
        summary = summarize(run, outcome.model, options.described())
        summary["finish_reason"] = outcome.finish_reason
        failed = outcome.failed
        summary["error"] = None if failed is None else failure(failed)
        summary["warnings"] = outcome.warnings
        summary["text"] = "".join(self._text)
        return summary


class JsonLinesOutput:
    """Every event as one line, as on the engine's pipe; the last one is ``finished`` or ``failed``."""

    def __init__(self, data: Data) -> None:
        self._data = data
        self._ended = False

    def event(self, event: Event) -> None:
        """See ``Output``."""
        self._ended = isinstance(event, Finished | Failed)
        self._data.write(encode(event).decode())
        self._data.flush()

    def end(self, outcome: Outcome) -> None:
        """See ``Output``."""
        if not self._ended:
            self.event(Finished(t=time.perf_counter_ns(), reason="cancelled"))
