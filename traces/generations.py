"""The generations in a recording, one by one."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from ..backends.events import Event, Failed, Finished, Log, ModelReady, RequestTaken, Token

if TYPE_CHECKING:
    from ..metrics.run import Run


class Generation(msgspec.Struct, frozen=True):
    """One request and what came of it."""

    model: ModelReady | None
    """The model that answered; ``None``: what told of it is not in the recording."""
    taken: RequestTaken
    events: tuple[Event, ...]
    """From ``taken`` to the end, which may be missing."""

    def run(self) -> "Run":
        """Return the figures of it."""
        from ..metrics.prefill import forecast_for
        from ..metrics.run import Run

        run = Run(self.taken, None if self.model is None else forecast_for(self.model, None))
        for event in self.events[1:]:
            if not isinstance(event, Token):
                run.apply(event)
        run.apply_tokens([event for event in self.events if isinstance(event, Token)])
        return run


def generations(events: Iterable[Event]) -> list[Generation]:
    """Return the generations in order; what comes between them is left out."""
    found: list[Generation] = []
    model: ModelReady | None = None
    current: list[Event] = []

    def end() -> None:
        if current and isinstance(current[0], RequestTaken):
            found.append(Generation(model, current[0], tuple(current)))
        current.clear()

    for event in events:
        if isinstance(event, RequestTaken | ModelReady):
            end()
        if isinstance(event, ModelReady):
            model = event
        elif current or isinstance(event, RequestTaken):
            current.append(event)
            if isinstance(event, Finished | Failed):
                end()
    end()
    return found


class Take(msgspec.Struct, frozen=True):
    """What is replayed in one go: a generation and how its model was loaded, or what there is without one."""

    opening: tuple[Event, ...]
    """What came since the generation before; a model that was there already is told again."""
    generation: Generation | None
    """``None``: nothing was asked."""

    @property
    def events(self) -> tuple[Event, ...]:
        """Everything in order."""
        return self.opening if self.generation is None else (*self.opening, *self.generation.events)


def takes(events: Sequence[Event]) -> list[Take]:
    """Return the parts of a recording in order; at least one, and all but an only one with a generation."""
    found: list[Take] = []
    place = 0
    warned: tuple[Log, ...] = ()  # while the model in use was loaded
    for generation in generations(events):
        first = next(number for number in range(place, len(events)) if events[number] is generation.taken)
        opening = tuple(events[place:first])
        logs = tuple(event for event in opening if isinstance(event, Log))
        if any(isinstance(event, ModelReady) for event in opening):
            warned = tuple(log for log in logs if log.level != "info")
        elif generation.model is not None:
            start = generation.taken.t
            opening = (replace(generation.model, t=start), *(replace(log, t=start) for log in warned), *logs)
        found.append(Take(opening, generation))
        place = first + len(generation.events)
    return found or [Take(tuple(events), None)]
