"""Which columns of the result table stay where there is not room for all."""

from collections.abc import Sequence
from dataclasses import replace

from rich.cells import cell_len

from ...comparison.results import LaneResult, Results
from ...comparison.table import Column, columns
from ...comparison.table import ordered as sorted_by

GAP = 2
_FIRST_AT_LEAST = 8

# The last ones go first; what is not named here goes before them.
_KEPT_LONGEST = (
    "label",
    "decode",
    "ratio",
    "kld",
    "itl_p50",
    "same_top",
    "ttft",
    "prefill",
    "bytes",
    "diverged",
    "itl_p95",
    "characters",
    "characters_ratio",
    "load",
    "disturbed",
    "kld_99",
    "perplexity",
)
_IN_CHARACTERS = ("characters", "characters_ratio")
"""What decides where tokens are not alike: these stay longest then."""


# The first ones get their spread, interval or uncertainty first.
_FULL_FIRST = (
    "ratio",
    "characters_ratio",
    "kld",
    "same_top",
    "perplexity",
    "decode",
    "characters",
    "ttft",
    "itl_p50",
    "prefill",
    "itl_p95",
)


def fitting(results: Results, width: int, covers: str = "") -> tuple[Column, ...]:
    """Return the columns that fit in ``width`` cells with all their text; the first one always stays, and is the only
    one that may be cut. Spreads are left out before columns are. ``covers``: what the figures are of, where that has to
    be said; it stands over the lanes."""
    rows = results.rows
    scored = any(row.perplexity is not None for row in rows)
    kept = [_headed(column) for column in columns(results, wide=True, quality=scored)]
    if covers:
        kept[0] = replace(kept[0], heading=covers)
    order = list(_KEPT_LONGEST)
    if not results.same_vocabulary:
        order = [*_IN_CHARACTERS, *(key for key in order if key not in _IN_CHARACTERS)]
    ranks = {key: rank for rank, key in enumerate(order)}
    droppable = sorted(kept[1:], key=lambda column: ranks.get(column.key, len(ranks)))
    while droppable and needed(kept, rows, width) > width:
        kept.remove(droppable.pop())
    first = () if results.same_vocabulary else _IN_CHARACTERS[::-1]
    for key in dict.fromkeys((*first, *_FULL_FIRST)):
        fuller = [replace(column, cell=column.full) if column.key == key else column for column in kept]
        if needed(fuller, rows, width) <= width:
            kept = fuller
    return tuple(kept)


def _headed(column: Column) -> Column:
    """Return the column with its unit in the heading."""
    return replace(column, heading=f"{column.heading} {column.unit}".rstrip())


def needed(shown: Sequence[Column], rows: Sequence[LaneResult], width: int) -> int:
    """Return how many cells these columns take at least in a table of ``width``."""
    if not shown:
        return 0
    first = min(cells_of(shown[0], rows), max(_FIRST_AT_LEAST, width // 4))
    return first + sum(cells_of(column, rows) + GAP for column in shown[1:])


def cells_of(column: Column, rows: Sequence[LaneResult]) -> int:
    """Return how wide a column is, with one cell for the sign of the one that sorts."""
    return max(cell_len(column.heading) + 1, *(cell_len(column.cell(row)) for row in rows))


def ordered(shown: Sequence[Column], rows: Sequence[LaneResult], key: str, *, falling: bool) -> list[LaneResult]:
    """Return the rows sorted by a column, in the order of the lanes without one; those without a value come last,
    either way round."""
    column = next((column for column in shown if column.key == key), None)
    if column is None:
        return list(reversed(rows)) if falling else list(rows)
    return sorted_by(rows, column, descending=falling)
