"""The line at the top of the compare screen."""

from ...backends.text import visible
from ..widgets.cells import Row, clip, row_width


def title_row(name: str, told: str, width: int) -> Row:
    """Return the name of the screen and what is told of it, such as what all lanes are asked, in one line."""
    head: Row = ((f"{name}  ", "accent"),)
    return (*head, (clip(" ".join(visible(told, keep_lines=True).split()), width - row_width(head)), ""))
