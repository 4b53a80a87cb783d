"""What the help of the compare screen says."""

from typing import TYPE_CHECKING

from ...backends.text import visible
from ..screens.help import Section, key_entries
from .keys import KEYS, LANE_KEYS

if TYPE_CHECKING:
    from ...comparison.results import Results

_RACE = (
    (
        "what",
        "The lanes ran one at a time, unless --together was given; the race replays one round of all on one clock.",
    ),
    ("place", "Who was done first, from the request to the last token: reading the prompt (TTFT) is part of it."),
    ("no verdict", "Answers may differ in length. Who writes faster is told below the table, from all rounds."),
)

FIGURES = (
    ("TPOT", "Time per output token: (last token − first token) / (tokens − 1); tok/s is its inverse."),
    ("TTFT", "Time to first token: from the request to the first token; reading the prompt is most of it."),
)
"""What the figures of a lane are."""


def sections(results: "Results | None") -> tuple[Section, ...]:
    """Return the help; that of the table's columns only with ``results``."""
    made: list[Section] = [
        ("Keys", key_entries(KEYS), ""),
        ("Lanes", (*LANE_KEYS, *FIGURES), ""),
        ("The race", _RACE, ""),
    ]
    if results is not None:
        made.append(of_the_table(results))
        made += without_value(results)
    return tuple(made)


def without_value(results: "Results") -> list[Section]:
    """Return why cells of the table are dashes now; empty if none is."""
    from ...comparison.table import columns, reason

    entries: list[tuple[str, str]] = []
    for row in results.rows:
        found: dict[str, list[str]] = {}
        for column in columns(results, wide=True):
            if (why := reason(column, row)) is not None:
                found.setdefault(why, []).append(column.heading)
        entries += [(visible(row.label), f"{', '.join(names)}: {visible(why)}") for why, names in found.items()]
    return [("Cells without a value now", entries, "")] if entries else []


def of_the_table(results: "Results") -> Section:
    """Return what its columns mean."""
    from ...comparison.table import columns

    shown = [(column.heading, column.help) for column in columns(results, wide=True)]
    return "The table", shown, "Each is the median of all rounds that count, where it is one of every round."
