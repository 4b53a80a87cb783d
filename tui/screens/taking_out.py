"""Taking the last answer out of the scope, and the words for how that went."""

from pathlib import Path
from typing import Any, Literal

from textual.app import App

from ..answer_file import save_answer
from ..session import Session

Told = tuple[str, Literal["information", "error"]]


def copy_answer(app: App[Any], session: Session) -> Told:
    """Copy the last answer to the clipboard."""
    text = session.answer_text
    if not text:
        return "There is no answer to copy yet.", "information"
    app.copy_to_clipboard(text)
    return f"Copied {len(text):,} characters to the clipboard.", "information"


def save_last_answer(session: Session) -> Told:
    """Save the last answer in the current directory."""
    text = session.answer_text
    if not text:
        return "There is no answer to save yet.", "information"
    try:
        path = save_answer(text, session.last_prompt or "", Path.cwd())
    except OSError as error:
        return f"The answer cannot be saved here: {error}", "error"
    return f"Saved as {path}", "information"
