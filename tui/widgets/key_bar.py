"""The line of keys at the bottom."""

from collections.abc import Callable, Sequence

from ..keys import KEYS, Key, letter_display
from .cells import Cells, Row, row_width

_GAP = "  "


_EDITING = (("enter", "replace the last turn"), ("esc", "leave it as it was"), ("^j", "new line"), ("^q", "quit"))


def key_row(width: int, *, letters: bool, editing: bool = False) -> Row:
    """Return the keys that fit, the more important ones first to stay. With ``letters`` (the prompt box has no focus)
    single letters are shown where a key has one; ``editing``: the last prompt is in the box."""
    if editing and not letters:
        return _row(_EDITING)

    def entry(key: Key) -> tuple[str, str]:
        return letter_display(key) if letters and key.letter else key.display, key.label

    return fitting_row(KEYS, entry, width)


def fitting_row(keys: Sequence[Key], entry: Callable[[Key], tuple[str, str]], width: int) -> Row:
    """Return those of ``keys`` that fit, the highest ranks left out first; ``entry``: what is printed on a key, and its
    label."""
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

    def show(self, *, letters: bool, editing: bool) -> None:
        """Draw the keys, as for ``key_row``."""
        self.show_rows([key_row(self.content_size.width, letters=letters, editing=editing)])


class FixedKeyBar(KeyBar):
    """One line with keys that are always the same."""

    def __init__(self, keys: Sequence[Key]) -> None:
        super().__init__()
        self._keys = keys

    def show_keys(self) -> None:
        """Draw those that fit."""
        self.show_rows([fitting_row(self._keys, lambda key: (key.display, key.label), self.content_size.width)])
