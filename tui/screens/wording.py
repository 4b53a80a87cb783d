"""What the screen says in whole sentences."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...backends.events import Failed, Finished
from ...metrics import numbers
from ...metrics.ending import ending_of
from ..options import ScopeOptions
from ..session import Phase, Session

if TYPE_CHECKING:
    from ...metrics.run import Run


def answer_note(ended: Finished | Failed, tokens: int, *, answered: bool, recorded: bool = False) -> str:
    """Return what stands under an answer; nothing where the model itself ended it.

    ``answered``: as for ``ending_of``. ``recorded``: it is too late to change anything.
    """
    if isinstance(ended, Failed):
        return ending_of(ended, tokens, answered=answered)
    if ended.reason == "stop" and not ended.held and not ended.unclosed:
        return ""
    what_now = ""
    if ended.reason == "context" and not recorded:
        what_now = "; ^l begins anew"
    elif not recorded and ((ended.reason == "cancelled" and tokens == 0) or (ended.unclosed and not answered)):
        what_now = "; the next turn goes on without this one"
    return ending_of(ended, tokens, answered=answered) + what_now


def ready_notes(session: Session) -> Iterator[str]:
    """Yield what should be known about the model that has become ready, in addition to its warnings."""
    model = session.model
    if model is not None and model.context_note and model.context <= model.trained_context:
        yield f"Context: {model.context:,} tokens, {model.context_note}."


def settings_note(options: ScopeOptions) -> str:
    """Return what is in force from now on."""
    facts = numbers.sampling_facts(options.sampling.temp, options.sampling.seed)
    return f"From the next prompt on: {', '.join(facts)}."


def reasoning_words(run: "Run", token: int) -> str:
    """Return how long a run has reasoned: ``reasoned for 2.3 s · 143 tokens``; ``reasoning for …`` while it does.

    ``token``: one of the block that is meant, from 1; there can be several.
    """
    from ...metrics.latency import block  # numpy comes after the first frame

    first, last = block(run.reasoning, token - 1)
    going_on = run.end is None and last == run.token_count - 1
    lasted = int(run.token_times[last]) - int(run.token_times[first])
    verb = "reasoning" if going_on else "reasoned"
    return f"{verb} for {numbers.seconds(lasted)} · {numbers.counted(last - first + 1, 'token')}"


def failure_hint(session: Session) -> str:
    """Return what can be done about a failure with the keys of the scope."""
    if session.phase is Phase.GONE:
        return "^r starts the engine again; the conversation stays."
    return "^r tries again, f2 changes the prompt, ^l begins a new conversation."
