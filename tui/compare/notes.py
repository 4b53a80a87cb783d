"""The verdict and everything that has to be known with it, in full."""

from typing import ClassVar

from textual.binding import Binding, BindingType

from ...backends.text import visible
from ...comparison.results import Results
from ..screens.help import HelpScreen, Section

NO_NOTES = "Nothing else has to be known with these figures."


class NotesScreen(HelpScreen):
    """Scrolls where there is not room for all; closes with the key that opened it, or escape."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("v", "dismiss", "Close", show=False)]

    def __init__(self, results: Results, heading: str, *, judged: bool) -> None:
        """``heading``: of the sentence below the table; ``judged``: whether there is a verdict yet."""
        verdict = visible(results.verdict) if judged else "There is none before the first round is over."
        notes = [("·", visible(note)) for note in results.notes]
        sections: tuple[Section, ...] = (
            (heading, [("", verdict)], ""),
            ("What has to be known with it", notes, "" if notes else NO_NOTES),
        )
        super().__init__(sections)
