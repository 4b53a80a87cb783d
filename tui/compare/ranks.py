"""Which columns of the result table stay where there is not room for all."""

from collections.abc import Sequence

from rich.cells import cell_len

from ...backends.text import visible
from ...comparison.results import LaneResult, Results
from ...comparison.table import Column, columns

GAP = 2
_FIRST_AT_LEAST = 8

# The last ones go first; what is not named here goes before them.
_KEPT_LONGEST = (
    "label",
    "decode_rate",
    "ratio",
    "mean_kld",
    "tpot_p50_ns",
    "same_top",
    "ttft_ns",
    "unranked",
    "prefill_rate",
    "bytes",
    "diverged_at",
    "tpot_p95_ns",
    "characters_rate",
    "load_ns",
    "quantization",
    "kld_99",
    "perplexity",
)
_RANKS = {key: rank for rank, key in enumerate(_KEPT_LONGEST)}


def fitting(results: Results, width: int) -> tuple[Column, ...]:
    """Return the columns that fit in ``width`` cells with all their text; the first one always stays, and is the only
    one that may be cut. Spreads are left out before columns are."""
    rows = results.rows
    for spread in (True, False):
        every = columns(results, spread=spread)
        if needed(every, rows, width) <= width:
            return every
    kept = list(every)
    droppable = sorted(kept[1:], key=lambda column: _RANKS.get(column.key, len(_RANKS)))
    while droppable and needed(kept, rows, width) > width:
        kept.remove(droppable.pop())
    return tuple(kept)


def needed(shown: Sequence[Column], rows: Sequence[LaneResult], width: int) -> int:
    """Return how many cells these columns take at least in a table of ``width``."""
    if not shown:
        return 0
    first = min(cells_of(shown[0], rows), max(_FIRST_AT_LEAST, width // 4))
    return first + sum(cells_of(column, rows) + GAP for column in shown[1:])


def cells_of(column: Column, rows: Sequence[LaneResult]) -> int:
    """Return how wide a column is, with one cell for the sign of the one that sorts."""
    return max(cell_len(column.heading) + 1, *(cell_len(visible(column.text(row))) for row in rows))


def ordered(shown: Sequence[Column], rows: Sequence[LaneResult], key: str, *, falling: bool) -> list[LaneResult]:
    """Return the rows sorted by a column, in the order of the lanes without one; those without a value come last,
    either way round."""
    column = next((column for column in shown if column.key == key), None)
    if column is None:
        return list(reversed(rows)) if falling else list(rows)
    known = [(value, row) for row in rows if (value := column.value(row)) is not None]
    unknown = [row for row in rows if column.value(row) is None]
    known.sort(key=lambda pair: (0.0, pair[0]) if isinstance(pair[0], str) else (pair[0], ""), reverse=falling)
    return [*(row for _, row in known), *unknown]
