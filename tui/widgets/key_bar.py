"""The line of keys at the bottom."""

from ..keys import KEYS, letter_display
from .cells import Cells, Row

_GAP = "  "


def key_row(width: int, *, letters: bool) -> Row:
    """Return the keys that fit. With ``letters`` (the prompt box has no focus) single letters are shown where a key
    has one. Help and quit always stay; others go from the end."""
    entries = [(letter_display(key) if letters and key.letter else key.display, key.label) for key in KEYS]

    def length(shown: list[tuple[str, str]]) -> int:
        return sum(len(key) + 1 + len(label) for key, label in shown) + len(_GAP) * (len(shown) - 1)

    droppable = [(display, label) for display, label in entries if label not in {"stop", "help", "quit"}]
    while length(entries) > width and droppable:
        entries.remove(droppable.pop())
    spans: list[tuple[str, str]] = []
    for place, (display, label) in enumerate(entries):
        spans += [(_GAP if place else "", ""), (display, "accent"), (f" {label}", "dim")]
    return tuple(spans)


class KeyBar(Cells):
    """One line."""

    DEFAULT_CSS = """
    KeyBar { padding: 0 1; background: $panel; }
    """

    def show(self, *, letters: bool) -> None:
        """Draw the keys; ``letters``: single letters work now."""
        self.show_rows([key_row(self.content_size.width, letters=letters)])
