"""The line at the top of the compare screen."""

from typing import TYPE_CHECKING

from ...backends.text import visible
from ..widgets.cells import Row, clip, row_width, spread

if TYPE_CHECKING:
    from ...comparison.plan import ComparisonPlan

_PROMPT_AT_LEAST = 24
"""Cells of the prompt that settings do not take."""


def title_row(plan: "ComparisonPlan", width: int) -> Row:
    """Return what all lanes are asked, and with which seed, in one line; the settings only where there is room."""
    request = plan.request
    asked = request.prompt if request.prompt is not None else request.messages[-1].content if request.messages else ""
    name: Row = (("compare  ", "accent"),)
    sampling = request.sampling
    facts = [f"temp {sampling.temp:g}", f"seed {sampling.seed}"]
    while facts and width - row_width(name) - len(" · ".join(facts)) - 2 < _PROMPT_AT_LEAST:
        facts.pop(0)  # the seed stays longest
    right: Row = ((" · ".join(facts), "dim"),)
    room = width - row_width(name) - (row_width(right) + 2 if facts else 0)
    left: Row = (*name, (clip(" ".join(visible(asked, keep_lines=True).split()), room), ""))
    return spread(left, right, width) if facts else left
