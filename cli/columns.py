"""Text in columns of terminal cells."""

import unicodedata
from collections.abc import Sequence

_GAP = "  "


def cells(text: str) -> int:
    """Return how many terminal cells ``text`` takes: wide and full-width characters two, combining ones none."""
    return sum(_width(character) for character in text)


def _width(character: str) -> int:
    if character.isascii():
        return 1
    if unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in ("W", "F") else 1


def clip(text: str, width: int) -> str:
    """Return ``text`` in at most ``width`` cells (at least 1); what is left out in the middle becomes ``…``."""
    if cells(text) <= width:
        return text
    head = _take(text, (width - 1) // 2 + (width - 1) % 2)
    tail = _take(text[::-1], width - 1 - cells(head))[::-1]
    return f"{head}…{tail}"


def _take(text: str, width: int) -> str:
    used = 0
    for position, character in enumerate(text):
        used += _width(character)
        if used > width:
            return text[:position]
    return text


def table(
    rows: Sequence[Sequence[str]], elastic: Sequence[int], width: int | None, right: Sequence[int] = ()
) -> list[str]:
    """Lay out ``rows`` (the first one is the heading) in lines of at most ``width`` cells; ``None``: no limit.

    Columns in ``elastic`` give way, the widest first, down to 10 cells; columns in ``right`` are set flush right.
    """
    widths = [max(cells(row[column]) for row in rows) for column in range(len(rows[0]))]
    if width is not None:
        excess = sum(widths) + len(_GAP) * (len(widths) - 1) - width
        while excess > 0:
            widest = max(elastic, key=lambda column: widths[column])
            if widths[widest] <= 10:
                break
            widths[widest] -= 1
            excess -= 1
    lines = []
    for row in rows:
        padded = []
        for column, text in enumerate(row):
            shown = clip(text, widths[column])
            space = " " * (widths[column] - cells(shown))
            padded.append(space + shown if column in right else shown + space)
        line = _GAP.join(padded).rstrip()
        lines.append(line if width is None else clip(line, width))
    return lines
