"""What the keys of the compare screen do about the table, the verdict and the help."""

from typing import TYPE_CHECKING

from ..screens.help import HelpScreen
from .help import sections

if TYPE_CHECKING:
    from textual.screen import Screen

    from .board import Board

    _Base = Screen[None]
else:
    _Base = object


class Telling(_Base):
    """A part of the compare screen."""

    board: "Board | None"
    _told_first = "Verdict"
    """What the sentence below the table is."""

    def action_sort(self) -> None:
        """Sort the table by its next column."""
        if self.board is not None:
            self.board.table.sort_by_next()

    def action_reverse(self) -> None:
        """Sort the table the other way round."""
        if self.board is not None:
            self.board.table.reverse()

    def action_notes(self) -> None:
        """Show the verdict and all that has to be known with it."""
        if self.board is not None:
            from .notes import NotesScreen

            self.app.push_screen(NotesScreen(self.board.results, self._told_first, judged=self.board.judged))

    def action_help(self) -> None:
        """Show the keys and what the figures mean."""
        self.app.push_screen(HelpScreen(sections(None if self.board is None else self.board.results)))
