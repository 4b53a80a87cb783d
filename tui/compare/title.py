"""The line at the top of the compare screen."""

from typing import TYPE_CHECKING

from ...backends.text import visible
from ..widgets.cells import Row, clip, row_width

if TYPE_CHECKING:
    from ...comparison.plan import ComparisonPlan


def title_row(plan: "ComparisonPlan", width: int) -> Row:
    """Return what all lanes are asked, in one line."""
    request = plan.request
    asked = request.prompt if request.prompt is not None else request.messages[-1].content if request.messages else ""
    name: Row = (("compare  ", "accent"),)
    return (*name, (clip(" ".join(visible(asked, keep_lines=True).split()), width - row_width(name)), ""))
