"""What the screen plays, and the film that is made of it as an asciicast."""

import json
from collections.abc import Sequence

from msgspec.structs import replace

from ...backends.events import Event
from ...backends.text import visible, well_formed
from .subject import Export


def played(export: Export) -> Sequence[Event]:
    """Return the events of what is exported: of the whole recording, or of a generation with its model in front."""
    chosen = export.subjects[0].generation
    if not export.one:
        return export.events
    ready = () if chosen.model is None else (replace(chosen.model, t=chosen.taken.t),)
    return (*ready, *chosen.events)


def as_cast(frames: Sequence[tuple[float, str]], size: tuple[int, int], title: str) -> str:
    """Return an asciicast, version 2, of what was sent to a terminal of ``size``: seconds, and characters."""
    head = {
        "version": 2,
        "width": size[0],
        "height": size[1],
        "title": visible(well_formed(title)),
        "env": {"TERM": "xterm-256color"},
    }
    lines = [json.dumps(head, ensure_ascii=False)]
    lines += [json.dumps([round(at, 6), "o", data], ensure_ascii=False) for at, data in frames]
    return "\n".join(lines) + "\n"
