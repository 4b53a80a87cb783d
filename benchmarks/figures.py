"""A measured figure beside its target, and how pairs are compared."""

import statistics
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Figure:
    """One line of the report."""

    name: str
    measured: str
    target: str
    met: bool | None
    """None: shown without a target."""
    detail: str = ""

    @property
    def verdict(self) -> str:
        """How the figure compares with its target."""
        return "-" if self.met is None else ("met" if self.met else "MISSED")


def paired_ratio(first: Callable[[], float], second: Callable[[], float], pairs: int) -> tuple[float, float, float]:
    """Run both in turn and return (median of first/second, median of first, median of second).

    The order within a pair alternates, so that neither always comes second.
    """
    firsts, seconds = [], []
    for number in range(pairs):
        if number % 2:
            seconds.append(second())
            firsts.append(first())
        else:
            firsts.append(first())
            seconds.append(second())
    ratios = [a / b for a, b in zip(firsts, seconds, strict=True)]
    return statistics.median(ratios), statistics.median(firsts), statistics.median(seconds)


def table(figures: list[Figure]) -> str:
    """Return the report as a Markdown table."""
    rows = [("figure", "measured", "target", "verdict", "detail")]
    rows += [(figure.name, figure.measured, figure.target, figure.verdict, figure.detail) for figure in figures]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = [
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) + " |" for row in rows
    ]
    lines.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
    return "\n".join(lines)
