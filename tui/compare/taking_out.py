"""Taking the table, or all that was received, out of the compare screen."""

from pathlib import Path
from typing import TYPE_CHECKING, Literal

from ..answer_file import save_answer

if TYPE_CHECKING:
    from textual.screen import Screen

    from ..terminal_app import TerminalApp
    from .board import Board
    from .keeping import Keeping

    class _Base(Screen[None]):
        app: TerminalApp
else:
    _Base = object

_FILE = "comparison"


class TakingOut(_Base):
    """A part of the compare screen."""

    board: "Board | None"
    _keeping: "Keeping | None"

    def _say(self, text: str, severity: Literal["information", "warning", "error"] = "information") -> None:
        raise NotImplementedError

    def _markdown(self) -> str:
        from ...comparison.formats import as_markdown

        return "" if self.board is None else as_markdown(self.board.results)

    def action_copy(self) -> None:
        """Copy the table."""
        if text := self._markdown():
            self.app.copy_to_clipboard(text, "the table as Markdown")

    def action_save(self) -> None:
        """Save the table in the current directory."""
        if text := self._markdown():
            try:
                path = save_answer(text, _FILE, Path.cwd())
            except OSError as error:
                self._say(f"The table cannot be saved here: {error}", "error")
            else:
                self._say(f"Saved as {path}")

    def action_keep(self) -> None:
        """Save all that was received in the current directory."""
        if self._keeping is not None:
            self._say(*self._keeping.save())

    def _tell_of_recording(self) -> None:
        """Say what went wrong with the recording, where there is one."""
        if self._keeping is not None and (problem := self._keeping.tape.news()) is not None:
            self._say(problem, "error")
