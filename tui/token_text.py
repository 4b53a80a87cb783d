"""A token's bytes as text that can be shown in a given number of cells."""

from ..backends.text import visible
from .conversation.graphemes import clusters, drawn

_SIGNS = str.maketrans({" ": "·", "\n": "⏎", "\t": "⇥"})


def token_sign(piece: bytes) -> str:
    """Return a token's bytes as visible text: spaces as ·, line feeds as ⏎, invalid bytes as \\xNN."""
    text = visible(piece.decode("utf-8", "backslashreplace").translate(_SIGNS))
    first = next(clusters(text), None)
    # A mark without a base gets one, or it would sit on the cell before the column.
    return "◌" + text if first is not None and first[2] == 0 else text


def fitted(text: str, cells: int) -> str:
    """Return the text in exactly ``cells`` cells, cut with … where it is longer; characters are never cut in half."""
    if cells <= 0:
        return ""
    kept: list[str] = []
    used = 0
    spans = list(clusters(text[: 16 * cells]))
    whole = sum(width for _, _, width in spans) <= cells and len(text) <= 16 * cells
    room = cells if whole else cells - 1
    for start, end, width in spans:
        if used + width > room:
            break
        kept.append(drawn(text, start, end))
        used += width
    if not whole:
        kept.append("…")
        used += 1
    return "".join(kept) + " " * (cells - used)


def hexadecimal(piece: bytes, cells: int) -> str:
    """Return bytes as pairs of digits, as many as fit in ``cells``; … stands for the rest."""
    text = piece.hex(" ")
    return text if len(text) <= cells else piece[: max((cells - 1) // 3, 0)].hex(" ") + " …"
