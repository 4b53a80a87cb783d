"""Reading a recording for a command: how far it is is said while that takes long."""

from pathlib import Path
from typing import TYPE_CHECKING

from ..backends.text import visible
from .inputs import said_wait_for_pipe
from .moving_line import MovingLine
from .streams import Messages

if TYPE_CHECKING:
    from ..traces.reader import Trace

_MANY = 300_000
"""Events whose figures take seconds."""


def read_recording(path: Path, messages: Messages) -> "Trace":
    """Read a file. Raises TraceError when there is nothing in it to be shown."""
    from ..traces.reader import read_trace

    line = MovingLine(messages)
    name = visible(path.name)

    def show(share: float) -> None:
        if share < 1:
            line.draw(f"reading {name} {line.bar(share)} {share:.0%}")

    try:
        with said_wait_for_pipe("the recording", path, messages):
            trace = read_trace(path, show)
    finally:
        line.clear()
    if len(trace.events) >= _MANY:
        messages.say(f"{path.name} holds {len(trace.events):,} events: their figures take a while.")
    return trace
