"""What an event changes in a lane's records; whose turn it is afterwards is the runner's affair."""

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
from ..metrics.prefill import forecast_for
from ..metrics.run import Run
from .lane import Lane, Round


def take_in(lane: Lane, event: Event, number: int, *, running: bool) -> None:
    """Record ``event``; ``number``: the round under way; ``running``: whether the lane generates."""
    match event:
        case QuantizeProgress():
            lane.fraction = event.fraction
        case Quantized():
            lane.made = event
        case LoadProgress():
            lane.fraction = event.fraction
            lane.opening.append(event)
        case ModelReady():
            lane.model = event
            lane.opening.append(event)
        case RequestTaken():
            forecast = None if lane.model is None else forecast_for(lane.model)
            lane.rounds.append(Round(number, Run(event, forecast), [event]))
        case PromptReady() | PrefillProgress() | Token() | ThreadsChanged() | Finished() | Failed() | Log():
            # An engine may die before it has taken the request, and warn before and after it.
            if running and lane.rounds and lane.rounds[-1].number == number:
                lane.rounds[-1].run.apply(event)
                lane.rounds[-1].events.append(event)
            elif isinstance(event, Log):
                lane.opening.append(event)
        case Scored():
            if lane.scores is not None:
                lane.scores.apply(event)
        case Tokenized() | MeasuredWith() | Measured():
            pass
        case _:
            assert_never(event)
