"""The line at the top of the compare screen."""

from collections.abc import Sequence

from ...backends.requests import Sampling
from ...backends.text import visible
from ..widgets.cells import Row, clip, row_width, spread

_TOLD_AT_LEAST = 24
"""Cells that facts do not take."""


def sampling_facts(sampling: Sampling) -> tuple[str, ...]:
    """Return how all lanes draw their tokens, for ``title_row``."""
    seed = () if sampling.seed < 0 else (f"seed {sampling.seed}",)
    return f"temp {sampling.temp:g}", *seed


def title_row(name: str, told: str, width: int, facts: Sequence[str] = ()) -> Row:
    """Return the name of the screen and what is told of it, such as what all lanes are asked, in one line.

    ``facts``: shown where there is room; the last ones stay longest.
    """
    head: Row = ((f"{name}  ", "accent"),)
    shown = list(facts)
    while shown and width - row_width(head) - len(" · ".join(shown)) - 2 < _TOLD_AT_LEAST:
        shown.pop(0)
    right: Row = ((" · ".join(shown), "dim"),)
    room = width - row_width(head) - (row_width(right) + 2 if shown else 0)
    left: Row = (*head, (clip(" ".join(visible(told, keep_lines=True).split()), room), ""))
    return spread(left, right, width) if shown else left
