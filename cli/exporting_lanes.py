"""A recorded comparison in another form: all its lanes where the form can hold them, else one."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..traces.errors import TraceError
from .exporting import Form, pictured
from .streams import Messages

if TYPE_CHECKING:
    from ..traces.exports.subject import Export
    from ..traces.lanes import ComparisonBegun
    from ..traces.reader import Trace


def lane_of(trace: "Trace", lane: int | None, name: str, messages: Messages) -> "Trace":
    """Return what is told of one lane (from 1), ``None``: of the first with an answer; which one that is, is said.

    ``name``: of the file. Raises click.UsageError when there is no such lane.
    """
    comparison = trace.comparison
    if comparison is None:
        if lane is not None:
            raise click.UsageError(f"{name} is no comparison: it has no lanes.")
        return trace
    if lane is not None:
        if lane > len(comparison.lanes):
            raise click.UsageError(f"There is no lane {lane:,}: {_listed(comparison)}.")
        return trace.of_lane(lane - 1)
    from ..traces.generations import generations

    lanes = [trace.of_lane(number) for number in range(len(comparison.lanes))]
    taken = next((number for number, one in enumerate(lanes) if generations(one.events)), 0)
    messages.say(f"Of the comparison lane {taken + 1:,} was taken ({_listed(comparison)}); --lane N takes another.")
    return lanes[taken]


def comparison_as(form: Form, trace: "Trace", number: int | None, name: str, messages: Messages) -> str | None:
    """Return all lanes of a comparison in one of the forms that hold them; ``None`` for another form, or another
    recording. ``number``: of the answer that alone is wanted of each lane.
    """
    if trace.comparison is None:
        return None
    if form is Form.CSV:
        from ..traces.exports.table import lanes_as_csv

        return lanes_as_csv(_lanes(trace, trace.comparison, number))
    if form is Form.PERFETTO:
        from ..traces.exports.timeline import lanes_as_perfetto

        return lanes_as_perfetto(_lanes(trace, trace.comparison, number))
    if form in (Form.JSON, Form.MD) and number is None:
        from .comparison_outputs import Form as Result
        from .replaying_comparison import retold_as

        return retold_as(Result.JSON if form is Form.JSON else Result.MD, trace, name, messages)[0]
    return None


def comparison_picture(
    trace: "Trace", path: Path, number: int | None, size: tuple[int, int], theme: str | None, messages: Messages
) -> str | None:
    """Return the lanes beside each other as ``replay`` shows them at the end of a round (from 1; ``None``: the last);
    ``None`` where the recording is no comparison. Raises click.UsageError where there is nothing to be seen."""
    if trace.comparison is None:
        return None
    lanes = _lanes(trace, trace.comparison, number)
    from ..traces.generations import takes
    from ..traces.opened import Opened

    last = max(one.subjects[-1].number for _, one in lanes)
    return pictured(Opened(path, trace, tuple(takes(trace.events)), last - 1), size, theme, messages)


def _lanes(trace: "Trace", comparison: "ComparisonBegun", number: int | None) -> list[tuple[str, "Export"]]:
    """Return the names of the lanes that have answers, and those. Raises click.UsageError where there are none."""
    from ..traces.exports.subject import export_of

    found = []
    for place, lane in enumerate(comparison.lanes):
        try:
            found.append((lane.label, export_of(trace.of_lane(place), number)))
        except TraceError:  # a lane that failed, or was not so far
            continue
    if not found:
        which = "an answer" if number is None else f"an answer {number:,}"
        raise click.UsageError(f"No lane of this comparison has {which}.")
    return found


def _listed(comparison: "ComparisonBegun") -> str:
    return ", ".join(f"{place} {lane.label}" for place, lane in enumerate(comparison.lanes, start=1))
