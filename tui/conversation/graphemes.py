"""Characters as the terminal shows them: clusters that must stay together, and how many cells each takes.

Widths are Rich's (``rich.cells``), which Textual crops and pads by: what is laid out here and what Textual believes
must agree to the cell. All text given to this module has been through ``backends.text.visible``.
"""

import re
from collections.abc import Iterator

from rich.cells import cell_len, get_character_cell_size

ZERO_WIDTH_JOINER = "\u200d"
EMOJI_PRESENTATION = "\ufe0f"

MOST_CODE_POINTS = 16
"""No more of one cluster is drawn; the longest emoji in use has 10, stacked marks have no bound."""

# One cell each, and never part of a longer cluster unless something outside this set follows.
SIMPLE_RANGES = (
    (0x20, 0x7E),  # ASCII
    (0xA0, 0xAC),
    (0xAE, 0x2FF),  # Latin
    (0x370, 0x377),
    (0x384, 0x38A),
    (0x391, 0x3A1),
    (0x3A3, 0x482),  # Greek, Cyrillic
    (0x2010, 0x2027),  # dashes, quotes, bullets
    (0x2030, 0x205E),
    (0x2190, 0x21FF),  # arrows
    (0x2200, 0x22FF),  # operators
    (0x2500, 0x25FC),  # boxes, blocks, shapes
    (0x2800, 0x28FF),  # braille
)
_SIMPLE = re.compile("[" + "".join(f"{chr(first)}-{chr(last)}" for first, last in SIMPLE_RANGES) + "]*")

is_simple = _SIMPLE.fullmatch
"""Truthy for text in which every character is one cluster of one cell."""


class _Widths(dict[str, int]):
    """Cells per character, measured once each."""

    def __missing__(self, character: str) -> int:
        width = self[character] = get_character_cell_size(character)
        return width


width_of: dict[str, int] = _Widths()
"""Cells that a character takes alone; a tab, which is expanded elsewhere, counts as one and so is no mark."""
width_of["\t"] = 1


def is_wide(character: str) -> bool:
    """Whether the character alone takes two cells."""
    return width_of[character] == 2


def _is_regional_indicator(character: str) -> bool:
    return "\U0001f1e6" <= character <= "\U0001f1ff"


def _is_pictograph(character: str) -> bool:
    """Roughly: may be joined to another by a zero-width joiner into one picture."""
    return "\U0001f000" <= character <= "\U0001fbff" or "\u2190" <= character <= "\u2bff"


def has_clusters(text: str) -> bool:
    """Whether some cluster of the text has more than one character."""
    return any(width_of[character] == 0 or _is_regional_indicator(character) for character in set(text))


def cluster_end(text: str, start: int, end: int) -> int:
    """Return where the cluster that begins at ``start`` ends, at most ``end``.

    Marks, joiners and variation selectors stay with their base, joined pictographs with each other, and regional
    indicators in pairs. A tab is always alone.
    """
    base = text[start]
    position = start + 1
    if base == "\t":
        return position
    if position < end and _is_regional_indicator(base) and _is_regional_indicator(text[position]):
        position += 1
    while position < end:
        character = text[position]
        joined = text[position - 1] == ZERO_WIDTH_JOINER and _is_pictograph(base) and _is_pictograph(character)
        if width_of[character] and not joined:
            break
        position += 1
    return position


def drawn(text: str, start: int, end: int) -> str:
    """Return the cluster as it is drawn.

    A joiner that joins no pictographs is left out: ``cell_len`` takes whatever follows a joiner as joined, terminals
    don't. What is too long to be a character is cut.
    """
    if end - start == 1:
        return "" if text[start] == ZERO_WIDTH_JOINER else text[start]
    cluster = text[start : min(end, start + MOST_CODE_POINTS)].rstrip(ZERO_WIDTH_JOINER)
    if ZERO_WIDTH_JOINER not in cluster:
        return cluster
    kept = [
        character
        for position, character in enumerate(cluster)
        if character != ZERO_WIDTH_JOINER or (width_of[cluster[position + 1]] > 0 and position > 0)
    ]
    return "".join(kept)


def cluster_width(text: str, start: int, end: int) -> int:
    """Return the cells that ``drawn`` takes."""
    return width_of[text[start]] if end - start == 1 else cell_len(drawn(text, start, end))


def clusters(text: str) -> Iterator[tuple[int, int, int]]:
    """Yield (start, end, cells) of each cluster."""
    position, end = 0, len(text)
    while position < end:
        stop = cluster_end(text, position, end)
        yield position, stop, cluster_width(text, position, stop)
        position = stop
