"""What stderr says while models are compared: a line for everything that is over, and one that moves."""

from typing import assert_never

from ..backends.events import (
    Event,
    Failed,
    Finished,
    LoadProgress,
    Log,
    Measured,
    MeasuredWith,
    ModelReady,
    PrefillProgress,
    PromptReady,
    Quantized,
    QuantizeProgress,
    RequestTaken,
    Scored,
    ThreadsChanged,
    Token,
    Tokenized,
)
from ..backends.text import visible
from ..comparison.lane import Lane, LanePhase
from ..comparison.runner import Comparison, Stage
from ..metrics import numbers
from .failure import failure_text
from .moving_line import MovingLine
from .report import summary_line
from .streams import Messages


class ComparisonProgress:
    """Follows the events of a comparison."""

    def __init__(self, messages: Messages, comparison: Comparison) -> None:
        self._messages = messages
        self._comparison = comparison
        self._line = MovingLine(messages)
        self._loaded: set[int] = set()
        self._said: set[tuple[int, str]] = set()

    def update(self, number: int, event: Event) -> None:
        """Say what ``event`` of a lane says; called after the comparison has taken it in."""
        lane = self._comparison.lanes[number]
        match event:
            case QuantizeProgress():
                self._draw(lane, "make", event.fraction)
            case Quantized():
                self.say(_made(lane, event))
            case LoadProgress():
                if event.fraction < 1:
                    self._draw(lane, "load", event.fraction)
                else:
                    self._line.draw(f"{visible(lane.plan.label)}  warming up", at_once=True)
            case ModelReady():
                if number not in self._loaded:
                    self._loaded.add(number)
                    self.say(f"{lane.plan.label}: loaded in {numbers.seconds(event.load_ns)}")
            case PrefillProgress():
                if event.processed < event.total:
                    self._draw(lane, "read", event.processed / event.total)
            case Token():
                self._line.draw(f"{self._where(lane)}  write  {event.index:,} tokens")
            case Finished():
                self._ended(lane, event)
            case Scored():
                self._draw(lane, "score", lane.fraction)
            case Log():
                if (number, event.text) not in self._said:
                    self._said.add((number, event.text))
                    self.say(f"{lane.plan.label}: {event.text}")
            case Failed():
                self.say(failure_text(f"{lane.plan.label}: {event.what}", event.reason, event.remedy))
            case RequestTaken() | PromptReady() | ThreadsChanged() | Tokenized() | MeasuredWith() | Measured():
                pass
            case _:
                assert_never(event)

    def say(self, text: str) -> None:
        """Write whole lines above the one that moves."""
        self._line.clear()
        self._messages.say(text)

    def clear(self) -> None:
        """Wipe the line that moves."""
        self._line.clear()

    def _ended(self, lane: Lane, event: Finished) -> None:
        if not lane.rounds or lane.rounds[-1].events[-1] is not event:
            return  # scoring was cancelled
        current = lane.rounds[-1]
        figures = summary_line(current.run, current.run.finish_reason)
        self.say(f"round {current.number} · {lane.plan.label}: {figures}")

    def _draw(self, lane: Lane, what: str, fraction: float) -> None:
        self._line.draw(f"{self._where(lane)}  {what}  {self._line.bar(fraction)} {fraction:4.0%}")

    def _where(self, lane: Lane) -> str:
        running = self._comparison.stage is Stage.RUNNING and lane.phase is not LanePhase.MAKING
        place = f"round {self._comparison.round} of {self._comparison.rounds}  " if running else ""
        return f"{place}{visible(lane.plan.label)}"


def _made(lane: Lane, made: Quantized) -> str:
    text = f"{lane.plan.label}: {'made before' if made.reused else 'made'} from {made.source_quantization}"
    return f"{text}, with {'; '.join(made.fallbacks)}" if made.fallbacks else text
