"""The line on stderr that says how loading and reading the prompt are getting on."""

import os
import time

from ..backends.events import Event, LoadProgress, ModelReady, PrefillProgress, PromptReady, RequestTaken
from ..metrics import numbers
from ..metrics.latency import rate_per_second
from ..metrics.prefill import PrefillForecast, forecast_for
from .streams import Messages

_REDRAW_SECONDS = 0.1
_BAR_CELLS, _SHORT_BAR_CELLS, _WIDE = 24, 10, 100
_CLEAR = "\r\x1b[K"


class ProgressLine:
    """One line, drawn over itself and wiped for what comes after; nothing where stderr is no terminal."""

    def __init__(self, messages: Messages) -> None:
        self._messages = messages
        self._active = messages.terminal and os.environ.get("TERM") not in (None, "", "dumb")
        self._full, self._empty = ("█", "░") if messages.can_show("█░") else ("#", ".")
        self._shown = False
        self._drawn_at = 0.0
        self._prompt_at: int | None = None
        self._forecast = PrefillForecast()

    def update(self, event: Event) -> None:
        """Draw what ``event`` says, at most ten times a second; an event that ends a phase wipes the line."""
        if not self._active:
            return
        if isinstance(event, PromptReady | PrefillProgress):
            self._forecast.apply(event)
        if isinstance(event, LoadProgress) and event.fraction < 1:
            self._draw("load", f"{self._bar(event.fraction)} {event.fraction:4.0%}")
        elif isinstance(event, LoadProgress):
            self._draw("load", "warming up", at_once=True)
        elif isinstance(event, PromptReady):
            self._prompt_at = event.t
            start = PrefillProgress(t=event.t, processed=event.cached, cached=event.cached, total=len(event.tokens))
            self._draw("read", self._reading(start), at_once=True)
        elif isinstance(event, PrefillProgress) and event.processed < event.total:
            self._draw("read", self._reading(event))
        elif isinstance(event, ModelReady):
            self._forecast = forecast_for(event)
        elif not isinstance(event, RequestTaken | PrefillProgress):
            self.clear()

    def clear(self) -> None:
        """Wipe the line."""
        if self._shown:
            self._messages.draw(_CLEAR)
            self._shown = False

    def _reading(self, event: PrefillProgress) -> str:
        todo, done = event.total - event.cached, event.processed - event.cached
        left = self._forecast.remaining_ns
        facts = [f"{event.processed:,} of {event.total:,} tokens"]
        if event.cached:
            facts[0] += f", {event.cached:,} cached"
        if self._prompt_at is not None and done > 0 and event.t > self._prompt_at:
            facts.append(numbers.rate(rate_per_second(done, event.t - self._prompt_at)))
        if left:
            facts.append(f"{numbers.seconds(left)} left")
        return f"{self._bar(done / todo if todo else 1.0)} " + "  ".join(facts)

    def _bar(self, fraction: float) -> str:
        length = _BAR_CELLS if self._width() >= _WIDE else _SHORT_BAR_CELLS
        cells = round(max(0.0, min(1.0, fraction)) * length)
        return self._full * cells + self._empty * (length - cells)

    def _draw(self, phase: str, facts: str, *, at_once: bool = False) -> None:
        now = time.monotonic()
        line = f"{phase}  {facts}"
        if self._shown and not at_once and now - self._drawn_at < _REDRAW_SECONDS:
            return
        self._messages.draw(_CLEAR + line[: self._width() - 1])
        self._shown, self._drawn_at = True, now

    def _width(self) -> int:
        if self._messages.descriptor is None:
            return 80
        try:
            return os.get_terminal_size(self._messages.descriptor).columns or 80
        except OSError:
            return 80
