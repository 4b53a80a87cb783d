"""What the screen plays, and the film that is made of it as an asciicast."""

import json
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

from msgspec.structs import replace

from ...backends.events import Event, Failed, Finished, LoadProgress, ModelReady, PromptReady, RequestTaken, Token
from ...backends.text import visible, well_formed
from ..header import Header
from .subject import Export

_IDLE_NS = 1_000_000_000


def played(export: Export) -> Sequence[Event]:
    """Return the events of what is exported: of the whole recording, or of a generation with its model in front.

    Of the time in which nothing was asked and nothing went on, a second stays.
    """
    chosen = export.subjects[0].generation
    if not export.one:
        return _without_idle_time(export.events)
    ready = () if chosen.model is None else (replace(chosen.model, t=chosen.taken.t),)
    return (*ready, *chosen.events)


def _without_idle_time(events: Sequence[Event]) -> Sequence[Event]:
    kept: list[Event] = []
    left_out, idle_since = 0, None
    for event in events:
        if idle_since is not None and isinstance(event, RequestTaken | LoadProgress | ModelReady):
            left_out += max(event.t - idle_since - _IDLE_NS, 0)
            idle_since = None
        if isinstance(event, ModelReady | Finished | Failed):
            idle_since = event.t
        kept.append(replace(event, t=event.t - left_out) if left_out else event)
    return kept


def _marks(events: Sequence[Event]) -> Iterator[tuple[float, str]]:
    """Yield where something begins: seconds since the first event, and what."""
    writes = False
    for event in events:
        match event:
            case PromptReady():
                said = "read"
            case Token() if not writes:
                said = "write"
            case Finished():
                said = "done"
            case Failed():
                said = "failed"
            case _:
                continue
        writes = isinstance(event, Token)
        yield (event.t - events[0].t) / 1e9, said


def as_cast(
    frames: Sequence[tuple[float, str]],
    events: Sequence[Event],
    size: tuple[int, int],
    title: str,
    header: Header | None = None,
) -> str:
    """Return an asciicast, version 2, of what was sent to a terminal of ``size``: seconds, and characters.

    ``events``: what it shows, of which markers tell; ``header``: of the recording.
    """
    head: dict[str, Any] = {"version": 2, "width": size[0], "height": size[1]}
    if header is not None and (recorded := _seconds(header.recorded)) is not None:
        head["timestamp"] = recorded
    head |= {"title": visible(well_formed(title)), "env": {"TERM": "xterm-256color"}}
    lines = [(at, "o", data) for at, data in frames]
    # A mark stands behind what is shown at that time.
    lines = sorted([*lines, *((at, "m", said) for at, said in _marks(events))], key=lambda line: line[0])
    shown = [json.dumps([round(at, 6), kind, data], ensure_ascii=False) for at, kind, data in lines]
    return "\n".join([json.dumps(head, ensure_ascii=False), *shown]) + "\n"


def _seconds(date: str) -> int | None:
    """Return a date in seconds since 1970; None where it is none."""
    try:
        return int(datetime.fromisoformat(date).timestamp())
    except (ValueError, OverflowError, OSError):
        return None
