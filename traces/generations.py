"""The generations in a recording, one by one."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

import msgspec

from ..backends.events import Event, Failed, Finished, ModelReady, RequestTaken

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
            run.apply(event)
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
