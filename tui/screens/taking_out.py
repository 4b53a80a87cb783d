"""Taking the last answer out of the scope, and the words for how that went."""

from pathlib import Path
from typing import Any, Literal

from ...backends.text import well_formed
from ...traces.settings import described
from ...traces.tape import SessionTape
from ..answer_file import save_answer
from ..options import ScopeOptions
from ..session import Session

Told = tuple[str, Literal["information", "error"]]


def save_last_answer(session: Session) -> Told:
    """Save the last answer in the current directory."""
    text = session.answer_text
    if not text:
        return "There is no answer to save yet.", "information"
    try:
        path = save_answer(text, session.last_prompt or "", Path.cwd())
    except OSError as error:
        return f"The answer cannot be saved here: {error}", "error"
    what = ": the reasoning, since there is no answer" if only_reasoning(session) else ""
    return f"Saved as {path}{what}", "information"


def only_reasoning(session: Session) -> bool:
    """Whether there is only reasoning to save or copy."""
    run = session.run
    return run is not None and run.reasoning_tokens > 0 and not run.kinds.answer.any()


def keep_session(tape: SessionTape, options: ScopeOptions) -> Told:
    """Save everything that was received in the current directory; ``options``: those in force."""
    settings = described(
        model=None if options.model is None else well_formed(str(options.model.path)),
        settings=options.settings,
        sampling=options.sampling,
        max_tokens=options.max_tokens,
        stop=options.stop,
        system=options.system,
        raw=options.raw,
    )
    return keep(tape, settings, "session")


def keep(tape: SessionTape, settings: dict[str, Any], what: str) -> Told:
    """Save a tape in the current directory; ``what`` it is."""
    try:
        path = tape.save(Path.cwd(), settings)
    except OSError as error:
        return f"The {what} cannot be saved here: {error}", "error"
    if path is None:
        return "There is nothing to keep yet.", "information"
    return f"Saved as {path}", "information"
