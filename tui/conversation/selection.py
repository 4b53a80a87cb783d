"""Text selected with the mouse, from rows of a view to characters."""

from textual.selection import Selection

from .layout import Document
from .paint import plain_text


def span_in_text(selection: Selection, row: int) -> tuple[int, int] | None:
    """Return the selected characters of a row; an end of -1 is the end of the row.

    Textual counts the bar as characters before the first one, and an end that is not given as -1.
    """
    span = selection.get_span(row)
    if span is None:
        return None
    start, end = span
    open_end = end == -1 and (selection.end is None or row != selection.end.y)
    return max(0, start), -1 if open_end else max(0, end)


def selected_text(document: Document, selection: Selection) -> str:
    """Return the selected text as it is drawn, lines joined where they were only wrapped."""
    last = document.height - 1
    first = 0 if selection.start is None else selection.start.y
    if selection.end is not None:
        last = min(last, selection.end.y)
    parts: list[str] = []
    for row in range(first, last + 1):
        line = document.line(row)
        if line is None:
            parts.append("\n")
            continue
        start, end = span_in_text(selection, row) or (0, 0)
        text = plain_text(line)
        parts.append(text[start:] if end < 0 else text[start:end])
        if row < last and not line.wrapped:
            parts.append("\n")
    return "".join(parts)
