"""The result of a comparison as Markdown."""

from ..backends.text import visible
from .results import Results
from .table import columns

_MEANINGFUL = "\\`*_[]<>&#"


def markdown(results: Results) -> str:
    """Return the table, the verdict and the notes; text of unknown origin is shown as it is, never as Markdown."""
    shown = columns(results)
    lines = [
        [column.heading for column in shown],
        ["---:" if column.number else "---" for column in shown],
        *([_cell(column.text(row)) for column in shown] for row in results.rows),
    ]
    said = [_inline(results.verdict), *([""] if results.notes else []), *(f"- {_inline(one)}" for one in results.notes)]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines) + "\n" + "".join(f"{line}\n" for line in said)


def _inline(text: str) -> str:
    marked = "".join(f"\\{character}" if character in _MEANINGFUL else character for character in visible(text))
    return " ".join(marked.split())


def _cell(text: str) -> str:
    return _inline(text).replace("|", "\\|")
