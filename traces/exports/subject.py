"""What all forms are made of: the generations of a recording with their figures."""

from typing import Any, NamedTuple

import msgspec

from ...backends.events import Event, Token
from ...backends.logs import warnings_in
from ...backends.text import Written, written_by
from ...metrics.disturbance import Cause
from ...metrics.run import Run
from ..errors import TraceError
from ..generations import Generation, generations, takes
from ..header import Header
from ..memory import MemoryMeasured
from ..reader import Trace
from ..settings import of_request


class Row(NamedTuple):
    """One token; times in ns."""

    token: Token
    reasoning: bool
    """Whether it turned out to be a reasoning token."""
    at: int
    """Since the request was taken."""
    gap: int | None
    """Its inter-token latency; ``None`` for the first."""
    cause: Cause
    """What disturbed it."""


class Subject(msgspec.Struct, frozen=True):
    """One generation of a recording."""

    number: int
    """Its place in the recording, from 1."""
    generation: Generation
    run: Run
    header: Header | None
    """Of the recording; ``None``: it has none."""
    warnings: tuple[str, ...] = ()
    """Its engine's warnings, each once."""

    @property
    def settings(self) -> dict[str, Any]:
        """The flags under their long names, as far as the recording tells.

        Those of the request are its own: a session may have changed them since it began.
        """
        taken = self.generation.taken
        begun = {} if self.header is None else self.header.settings
        return {**begun, **of_request(taken.sampling, taken.max_tokens, taken.stop)}

    @property
    def text(self) -> Written:
        """What was written; empty where the recording holds no text."""
        return written_by(self.generation.events)

    def rows(self) -> list[Row]:
        """Return its tokens in order."""
        rows: list[Row] = []
        before: int | None = None
        causes = iter(self.run.causes.tolist())
        reasoning = iter(self.run.reasoning.tolist())
        taken = self.generation.taken.t
        for event in self.generation.events:
            if isinstance(event, Token):
                gap = None if before is None else event.t - before
                rows.append(Row(event, bool(next(reasoning)), event.t - taken, gap, Cause(next(causes))))
                before = event.t
        return rows


class Export(msgspec.Struct, frozen=True):
    """What is exported of a recording."""

    header: Header | None
    subjects: tuple[Subject, ...]
    """At least one."""
    events: tuple[Event, ...]
    """Of the whole recording."""
    one: bool
    """Only one generation of it was asked for."""
    memory: tuple[MemoryMeasured, ...] = ()
    """What was measured of the machine, in order."""


def export_of(trace: Trace, number: int | None = None) -> Export:
    """Return the recording's generations, or only the one with this number. Raises TraceError where there is none."""
    found = generations(trace.events)
    if not found:
        raise TraceError("There is no answer in this recording.", remedy="decodescope replay shows what there is.")
    if number is not None and not 1 <= number <= len(found):
        said = "1 generation" if len(found) == 1 else f"{len(found):,} generations"
        raise TraceError(f"There is no generation {number:,}: the recording has {said}.")
    subjects = tuple(
        Subject(place, take.generation, take.generation.run(), trace.header, tuple(warnings_in(take.events)))
        for place, take in enumerate(takes(trace.events), start=1)
        if take.generation is not None and number in (None, place)
    )
    return Export(trace.header, subjects, trace.events, number is not None, trace.memory)
