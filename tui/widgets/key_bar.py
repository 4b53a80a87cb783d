"""The line of keys at the bottom."""

from collections.abc import Sequence

from ..keys import KEYS, Key, letter_display
from .cells import Cells, Row, row_width

_GAP = "  "


_EDITING = (("enter", "replace the last turn"), ("esc", "leave it as it was"), ("^j", "new line"), ("^q", "quit"))


def key_row(width: int, *, letters: bool, editing: bool = False, keys: Sequence[Key] = KEYS) -> Row:
    """Return those of ``keys`` that fit, the more important ones first to stay.

    With ``letters`` (there is no prompt box to type into) single letters are shown where a key has one; ``editing``:
    the last prompt is in the box.
    """
    if editing:
        return _row(_EDITING)

    def entry(key: Key) -> tuple[str, str]:
        return letter_display(key) if letters and key.letter else key.display, key.label

    kept = list(keys)
    droppable = sorted((key for key in keys if key.rank), key=lambda key: key.rank)
    while row_width(_row([entry(key) for key in kept])) > width and droppable:
        kept.remove(droppable.pop())
    return _row([entry(key) for key in kept])


def _row(entries: Sequence[tuple[str, str]]) -> Row:
    spans: list[tuple[str, str]] = []
    for place, (display, label) in enumerate(entries):
        spans += [(_GAP if place else "", ""), (display, "accent"), (f" {label}", "dim")]
    return tuple(spans)


class KeyBar(Cells):
    """One line."""

    DEFAULT_CSS = """
    KeyBar { padding: 0 1; background: $panel; }
    """

    def __init__(self, keys: Sequence[Key] = KEYS) -> None:
        super().__init__()
        self.keys = keys
        """Those that work."""

    def show(self, *, letters: bool, editing: bool) -> None:
        """Draw the keys, as for ``key_row``."""
        self.show_rows([key_row(self.content_size.width, letters=letters, editing=editing, keys=self.keys)])
