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
    return _ending(reason, run.token_count, isinstance(run.end, Finished) and run.end.held > 0)


def ending_of(end: Finished | Failed, tokens: int) -> str:
    """Return the same of the event that ended an answer of so many tokens."""
    if isinstance(end, Failed):
        return _ending("failed", tokens, False)
    return _ending(end.reason, tokens, end.held > 0)


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
