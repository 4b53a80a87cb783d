"""The line of keys at the bottom."""

from collections.abc import Sequence

import msgspec

from ..keys import KEYS, Key, letter_display
from .cells import Cells, Row, row_width

_GAP = "  "
_EDITING = (("enter", "replace the last turn"), ("esc", "leave it as it was"), ("^j", "new line"), ("^q", "quit"))


class _Entry(msgspec.Struct):
    display: str
    label: str
    rank: int


def key_row(width: int, *, letters: bool, editing: bool = False, keys: Sequence[Key] = KEYS) -> Row:
    """Return those of ``keys`` that fit in ``width`` cells; the more important ones stay longer. Keys that belong
    together are one entry, and an entry is shown in full or not at all.

    With ``letters`` (there is no prompt box to type into) single letters are shown where a key has one; ``editing``:
    the last prompt is in the box.
    """
    entries = [_Entry(*one, rank=0) for one in _EDITING] if editing else _entries(keys, letters=letters)
    while entries and row_width(_row(entries)) > width:
        rank = max(entry.rank for entry in entries)
        # Of the keys that stay as long as there is room, the first and the last go last.
        last = [place for place, entry in enumerate(entries) if entry.rank == rank][-1]
        del entries[last if rank else max(len(entries) - 2, 0)]
    return _row(entries)


def _entries(keys: Sequence[Key], *, letters: bool) -> list[_Entry]:
    entries: list[_Entry] = []
    pairs: dict[str, _Entry] = {}
    for key in keys:
        display = letter_display(key) if letters and key.letter else key.display
        entry = pairs.get(key.pair)
        if entry is None:
            entry = _Entry(display, key.pair or key.label, key.rank)
            entries.append(entry)
            if key.pair:
                pairs[key.pair] = entry
        else:
            entry.display += display if len(entry.display) == len(display) == 1 else f"/{display}"
    return entries


def _row(entries: Sequence[_Entry]) -> Row:
    spans: list[tuple[str, str]] = []
    for place, entry in enumerate(entries):
        spans += [(_GAP if place else "", ""), (entry.display, "accent"), (f" {entry.label}", "dim")]
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
