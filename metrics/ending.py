"""How an answer ended, in the one wording of the screen, of the line of ``run`` and of the exports."""

from typing import TYPE_CHECKING

from ..backends.events import Failed, Finished
from . import numbers

if TYPE_CHECKING:
    from .run import Run


def ending(run: "Run", reason: str | None) -> str:
    """Return what ended a run: ``cut off at the limit of 60 tokens``.

    ``reason``: one of ``Run.finish_reason``, or what ended the run from outside.
    """
    finished = run.end if isinstance(run.end, Finished) else None
    told = _ending(reason, run.token_count, finished is not None and finished.held > 0)
    return "; ".join([told, *_without_end(finished, answered=run.ttfa_ns is not None)])


def ending_of(end: Finished | Failed, tokens: int, *, answered: bool) -> str:
    """Return the same for the event that ended an answer of so many tokens.

    ``answered``: whether there is anything in it besides reasoning.
    """
    if isinstance(end, Failed):
        return _ending("failed", tokens, False)
    return "; ".join([_ending(end.reason, tokens, end.held > 0), *_without_end(end, answered=answered)])


def _without_end(end: Finished | None, *, answered: bool) -> list[str]:
    """Return what to say about reasoning that was not closed."""
    if end is None or not end.unclosed:
        return []
    return ["the reasoning was not closed", *([] if answered else ["there is no answer"])]


def _ending(reason: str | None, tokens: int, stopped_by_string: bool) -> str:
    counted = numbers.counted(tokens, "token")
    done = f"after {counted}" if tokens else "before the first token"
    match reason:
        case "stop":
            own = "ended by a stop string" if stopped_by_string else "the model ended its turn"
            return own if tokens else f"{own} {done}"
        case "length":
            return f"cut off at the limit of {counted}"
        case "context":
            return f"cut off {done}: the context is full"
        case "cancelled":
            return f"stopped {done}"
        case "failed":
            return f"failed {done}"
        case _:
            return "unfinished"
