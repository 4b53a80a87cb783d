"""The line on stderr that says how quantizing, loading and reading the prompt are getting on."""

from ..backends.events import (
    Event,
    LoadProgress,
    ModelReady,
    PrefillProgress,
    PromptReady,
    QuantizeProgress,
    RequestTaken,
)
from ..metrics import numbers
from ..metrics.latency import rate_per_second
from ..metrics.prefill import PrefillForecast, forecast_for
from .moving_line import MovingLine
from .streams import Messages


class ProgressLine:
    """One line, drawn over itself and wiped for what comes after; nothing where stderr is no terminal."""

    def __init__(self, messages: Messages, quantizing: str = "quantize") -> None:
        """``quantizing`` is what stands before the bar of a quantization being made."""
        self._quantizing = quantizing
        self._line = MovingLine(messages)
        self._prompt_at: int | None = None
        self._forecast = PrefillForecast()

    def update(self, event: Event) -> None:
        """Draw what ``event`` says, at most ten times a second; an event that ends a phase wipes the line."""
        if not self._line.active:
            return
        if isinstance(event, PromptReady | PrefillProgress):
            self._forecast.apply(event)
        if isinstance(event, LoadProgress) and event.fraction < 1:
            self._line.draw(f"load  {self._line.bar(event.fraction)} {event.fraction:4.0%}")
        elif isinstance(event, LoadProgress):
            self._line.draw("load  warming up", at_once=True)
        elif isinstance(event, PromptReady):
            self._prompt_at = event.t
            start = PrefillProgress(t=event.t, processed=event.cached, cached=event.cached, total=len(event.tokens))
            self._line.draw(f"read  {self._reading(start)}", at_once=True)
        elif isinstance(event, PrefillProgress) and event.processed < event.total:
            self._line.draw(f"read  {self._reading(event)}")
        elif isinstance(event, QuantizeProgress):
            self._line.draw(f"{self._quantizing}  {self._line.bar(event.fraction)} {event.fraction:4.0%}")
        elif isinstance(event, ModelReady):
            self._forecast = forecast_for(event)
        elif not isinstance(event, RequestTaken | PrefillProgress):
            self.clear()

    def clear(self) -> None:
        """Wipe the line."""
        self._line.clear()

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
        return f"{self._line.bar(done / todo if todo else 1.0)} " + "  ".join(facts)
