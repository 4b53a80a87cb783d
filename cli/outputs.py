"""What a headless run writes to stdout: the text, a summary, or every event."""

import json
import time
from typing import Any, Protocol

import msgspec

from ..backends.events import Event, Failed, Finished, ModelReady, RequestTaken, Token
from ..backends.text import Piece, TextStream, written
from ..backends.wire import encode
from ..metrics.run import Run
from ..metrics.summary import failure, summarize, texts
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
    """The engine's warnings, each once."""

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


class PlainText:
    """The answer on stdout as it comes, ended by a newline; reasoning and other channels, named, on stderr."""

    def __init__(self, data: Data, messages: Messages) -> None:
        self._data = data
        self._messages = messages
        self._text = TextStream()
        self._last = "\n"
        self._aside = ""
        """What is being written instead of the answer; empty: the answer."""
        self._aside_last = "\n"

    def event(self, event: Event) -> None:
        """Take in one event. Raises OSError when stdout cannot be written."""
        if isinstance(event, Token):
            self._write(self._text.feed(event))
        elif isinstance(event, Finished):
            self._write(self._text.finish(event))

    def end(self) -> None:
        """Write what is left. Raises OSError when stdout cannot be written."""
        self._write(self._text.flush())
        self._turn_aside("")
        if not self._last.endswith("\n"):
            self._data.write("\n")
            self._data.flush()

    def _write(self, fragments: list[Piece]) -> None:
        for fragment in fragments:
            if fragment.kind == "answer":
                self._turn_aside("")
                self._data.write(fragment.text)
                self._data.flush()
                self._last = fragment.text
            elif fragment.kind != "control":
                self._turn_aside("reasoning" if fragment.kind == "reasoning" else fragment.name or "another channel")
                self._messages.write(fragment.text)
                self._aside_last = fragment.text

    def _turn_aside(self, what: str) -> None:
        if what == self._aside:
            return
        if self._aside:
            self._messages.say(("" if self._aside_last.endswith("\n") else "\n") + f"[end of {self._aside}]")
        elif self._data.terminal and not self._last.endswith("\n"):
            self._messages.say("")
        if what:
            self._messages.say(f"[{what}]")
        self._aside, self._aside_last = what, "\n"


class PlainOutput:
    """The text as it comes; the figures go to stderr."""

    def __init__(self, data: Data, messages: Messages) -> None:
        self._messages = messages
        self._text = PlainText(data, messages)

    def event(self, event: Event) -> None:
        """See ``Output``."""
        self._text.event(event)

    def end(self, outcome: Outcome) -> None:
        """See ``Output``."""
        self._text.end()
        line = None if outcome.run is None else summary_line(outcome.run, outcome.finish_reason)
        if line is not None:
            self._messages.say(line)


class JsonOutput:
    """The summary as one JSON object, with the text."""

    def __init__(self, data: Data) -> None:
        self._data = data
        self._stream = TextStream()
        self._text: list[Piece] = []

    def event(self, event: Event) -> None:
        """See ``Output``."""
        if isinstance(event, Token):
            self._text += self._stream.feed(event)
        elif isinstance(event, Finished):
            self._text += self._stream.finish(event)

    def end(self, outcome: Outcome) -> None:
        """See ``Output``."""
        self._text += self._stream.flush()
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
        return summary | texts(run, written(self._text))


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
