"""A recorded comparison without a screen: what ``compare`` printed when it was made."""

from typing import TYPE_CHECKING, Any

from ..comparison.retold import RetoldComparison
from ..traces.writer import encoded
from .comparison_outputs import Form, said, written
from .exit_codes import ExitCode
from .streams import Data, Messages, delivered

if TYPE_CHECKING:
    from ..traces.opened import Opened
    from ..traces.reader import Trace
    from .replaying import Form as ReplayForm


def print_comparison(opened: "Opened", form: "ReplayForm", messages: Messages) -> ExitCode:
    """Print the table (``plain``), the report or every line; what is wrong is said on stderr."""
    for note in opened.notes:
        messages.say(f"{opened.name}: {note}")
    if not opened.text and form != "jsonl":
        messages.say(f"{opened.name}: It holds no text.")
    if form == "jsonl":
        text, below = encoded(opened.trace.records).decode(), ""
    else:
        told = Form.JSON if form == "json" else Form.TABLE
        text, below = retold_as(told, opened.trace, opened.name, messages)
    data = Data()

    def print_all() -> None:
        data.write(text)
        data.flush()

    printed = delivered(data, messages, print_all)
    if printed is ExitCode.DONE and below:
        messages.say(below)
    return printed


def retold_as(form: Form, trace: "Trace", name: str, messages: Messages) -> tuple[str, str]:
    """Return the result of a recorded comparison as text, and what stands below it; ``name``: of the file."""
    comparison = RetoldComparison(trace)
    for note in comparison.notes:
        messages.say(f"{name}: {note}")
    results = comparison.results
    settings: dict[str, Any] = {} if trace.header is None else trace.header.settings
    return written(form, comparison, results, settings), said(results, form)
