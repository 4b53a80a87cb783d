"""Recordings to be shared: everything is timed and nothing can be read.

Left out are prompts, answers, system prompts, stop strings, alternatives, the ids of tokens, which are text to whoever
has the model, names of channels, and the length of each token, since a sequence of lengths is known to give its text
away. What stands in the place of a text says how many characters it had; the id in the place of every id is -1.
"""

import re
from collections.abc import Callable
from typing import Any, assert_never

from msgspec.structs import replace

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
from ..backends.requests import Message
from ..backends.token_facts import Part
from .lanes import AnswerTold, ComparisonBegun, LaneStands, ScoringBegun, StageReached
from .memory import MemoryMeasured, Written

NO_ID = -1
"""Stands where the id of a token was."""

_FOLDERS = re.compile(r".*[/\\]", flags=re.DOTALL)


def without_text(record: Written) -> Written:
    """Return an event or a line as it may be shared."""
    match record:
        case ComparisonBegun():
            lanes = tuple(
                replace(lane, label=_file_name(lane.label), name=_file_name(lane.name)) for lane in record.lanes
            )
            return replace(record, lanes=lanes, prompt=_stand_in(record.prompt))
        case LaneStands():
            return replace(record, note=_pathless(record.note))
        case ScoringBegun():
            return replace(record, tokens=(NO_ID,) * len(record.tokens))
        case StageReached() | AnswerTold() | MemoryMeasured():
            return record
        case _:
            return event_without_text(record)


def event_without_text(event: Event) -> Event:
    """Return the event as it may be shared."""
    match event:
        case Token():
            probability = event.probability
            return replace(
                event,
                id=NO_ID,
                piece=b"",
                parts=_sizeless(event.parts),
                held=0,
                probability=None if probability is None else replace(probability, top=()),
            )
        case RequestTaken():
            return replace(
                event,
                messages=tuple(Message(one.role, _stand_in(one.content)) for one in event.messages),
                prompt=_stand_in(event.prompt),
                stop=tuple(_stand_in(stop) for stop in event.stop),
            )
        case Finished():
            return replace(event, parts=_sizeless(event.parts))
        case PromptReady():
            return replace(event, tokens=(NO_ID,) * len(event.tokens))
        case Tokenized():
            return replace(event, tokens=(NO_ID,) * len(event.tokens), bos=None)
        case ModelReady():
            return replace(event, file=_file_name(event.file))
        case Scored():
            return replace(event, top=((),) * len(event.top), pieces=())
        case Quantized():
            return replace(event, path=event.path.rpartition(b"/")[2])
        case Failed():
            # A native reason may quote a path, a template's the conversation.
            return replace(
                event, what=_pathless(event.what), reason=_stand_in(event.reason), remedy=_pathless(event.remedy)
            )
        case Log():
            return replace(event, text=_pathless(event.text))
        case LoadProgress() | PrefillProgress() | ThreadsChanged():
            return event
        case QuantizeProgress() | MeasuredWith() | Measured():
            return event
        case _:
            assert_never(event)


def settings_without_text(settings: dict[str, Any]) -> dict[str, Any]:
    """Return the settings, as ``described``, as they may be shared."""
    leave: dict[str, Callable[[Any], Any]] = {
        "model": _file_name,
        "system_prompt": _stand_in,
        "stop": lambda stops: [_stand_in(stop) for stop in stops],
    }
    return {
        name: leave[name](value) if name in leave and value is not None else value for name, value in settings.items()
    }


def _sizeless(parts: tuple[Part, ...] | None) -> tuple[Part, ...] | None:
    return None if parts is None else tuple(replace(part, size=0, name="") for part in parts)


def _stand_in(text: str) -> str:
    if not text:
        return ""
    return f"({len(text):,} character{'' if len(text) == 1 else 's'} left out)"


def _pathless(text: str) -> str:
    """Return a sentence of ours, unless there is a path in it."""
    return _stand_in(text) if "/" in text or "\\" in text else text


def _file_name(reference: str) -> str:
    """Return a reference or a path without its folders; a prefix such as ``script:`` goes with them."""
    return _FOLDERS.sub("", reference)
