"""What the screen says in whole sentences."""

from ...backends.events import Failed, Finished
from ...backends.text import visible
from ..session import Phase, Session


def answer_note(ended: Finished | Failed, tokens: int) -> str:
    """Return what stands under an answer; nothing where the model itself ended it."""
    if isinstance(ended, Failed):
        return visible(f"failed: {ended.what}")
    if ended.reason == "stop":
        return ""
    if ended.reason == "length":
        return f"cut off at the limit of {tokens:,} tokens"
    if ended.reason == "context":
        return f"cut off after {tokens:,} tokens: the context is full"
    if tokens == 0:
        return "stopped before the first token; the next turn goes on without this one"
    return f"stopped after {tokens:,} token{'' if tokens == 1 else 's'}"


def failure_hint(session: Session) -> str:
    """Return what can be done about a failure with the keys of the scope."""
    if session.phase is Phase.GONE:
        return "^r starts the engine again; the conversation stays."
    return "^r tries again; f2 takes the prompt back to change it."
