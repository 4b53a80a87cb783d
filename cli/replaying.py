"""A recording without a screen: what ``run`` printed when it was made."""

import json
from typing import TYPE_CHECKING, Literal

from ..backends.events import Failed
from ..backends.logs import warnings_in
from ..backends.text import written_by
from ..backends.wire import encode
from ..metrics.summary import summarize, texts
from ..traces.generations import Take
from ..traces.opened import Opened
from ..traces.settings import of_request
from .exit_codes import ExitCode
from .failure import failure_text
from .outputs import PlainText
from .report import summary_line
from .streams import Data, Messages, delivered

if TYPE_CHECKING:
    from ..metrics.run import Run

Form = Literal["plain", "json", "jsonl"]

_MOST_ASKED = 72
"""Characters of a prompt in a heading."""


def print_recording(opened: Opened, form: Form, generation: int | None, messages: Messages) -> ExitCode:
    """Print one answer (``generation``, from 1), or all of them; with ``json`` the last.

    What is wrong is said on stderr.
    """
    for note in opened.notes:
        messages.say(f"{opened.name}: {note}")
    if not opened.text and form != "jsonl":
        messages.say(f"{opened.name}: It holds no text.")
    takes = opened.takes if generation is None else opened.takes[generation - 1 : generation]
    data = Data()

    def print_all() -> None:
        if form == "jsonl":
            events = opened.trace.events if generation is None else takes[0].events
            data.write(b"".join(encode(event) for event in events).decode())
        elif form == "json":
            data.write(_summary(opened, takes[-1]))
        else:
            for place, take in enumerate(takes, start=1):
                if len(takes) > 1:
                    messages.say(_heading(place, len(takes), take))
                    if place > 1:
                        data.write("\n")
                _print_text(take, data, messages)
        data.flush()

    return delivered(data, messages, print_all)


def _heading(place: int, count: int, take: Take) -> str:
    """Return which answer follows, and what was asked where the recording holds it."""
    which = f"Answer {place:,} of {count:,}"
    if take.generation is None:
        return which
    taken = take.generation.taken
    asked = taken.messages[-1].content if taken.messages else taken.prompt or ""
    line = " ".join(asked.split())
    shown = line if len(line) <= _MOST_ASKED else f"{line[:_MOST_ASKED]}…"
    return f"{which}: {shown}" if shown else which


def _print_text(take: Take, data: Data, messages: Messages) -> None:
    text = PlainText(data, messages)
    for event in take.events:
        text.event(event)
    text.end()
    for warning in warnings_in(take.events):
        messages.say(f"warning: {warning}")
    failed = _failed(take)
    if failed is not None:
        messages.say(failure_text(failed.what, failed.reason, failed.remedy))
    if take.generation is None:
        if failed is None:
            messages.say("Nothing was asked.")
        return
    run = take.generation.run()
    line = summary_line(run, run.finish_reason)
    if line is not None:
        messages.say(line)


def _failed(take: Take) -> Failed | None:
    return next((event for event in take.events if isinstance(event, Failed)), None)


def _summary(opened: Opened, take: Take) -> str:
    """Return what ``run --json`` prints."""
    run = _run(take)
    header = opened.trace.header
    model = None if take.generation is None else take.generation.model
    settings = {} if header is None else header.settings
    if take.generation is not None:
        # What the model brought was not known when the recording began, and a session may have changed the rest.
        settings = {**settings, **of_request(run.taken.sampling, run.taken.max_tokens, run.taken.stop)}
    summary = summarize(run, model, settings)
    failed = _failed(take)
    if failed is not None:
        summary["finish_reason"] = "failed"
    summary["error"] = (
        None if failed is None else {"what": failed.what, "reason": failed.reason, "remedy": failed.remedy}
    )
    summary["warnings"] = warnings_in(take.events)
    summary |= texts(run, written_by(take.events))
    return json.dumps(summary, ensure_ascii=False, allow_nan=False, indent=2) + "\n"


def _run(take: Take) -> "Run":
    if take.generation is not None:
        return take.generation.run()
    from ..backends.events import RequestTaken
    from ..backends.requests import Sampling
    from ..metrics.run import Run

    return Run(RequestTaken(t=0, request=0, sampling=Sampling(), seed=Sampling().seed))
