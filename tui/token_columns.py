"""What stands in a row of the token table, and where."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

from ..metrics import numbers
from ..metrics.disturbance import Cause
from ..metrics.pace import pace
from ..metrics.run import Run
from .conversation.marks import degree, marks_of
from .conversation.tints import TINTS
from .inspection import bits, token_id
from .lens import Lens
from .token_text import fitted, token_sign

_CONTROL = " control"
_CURSOR = "▸"

_INDEX_CELLS = 6
_ID_CELLS = 7
_MS_CELLS = 8
_FACTOR_CELLS = 8
_AT_CELLS = 8
_MARK_CELLS = 3
_CHANCE_CELLS = 8
_RANK_CELLS = 6
_ENTROPY_CELLS = 4
_WHY_CELLS = 17
_FEWEST_TOKEN_CELLS = 10
_TOKEN_CELLS_BESIDE_ID = 14
_TOKEN_CELLS_BESIDE_BAR = 20
_LONGEST_TOKEN = 32
_SHORTEST_BAR = 8
_LONGEST_BAR = 40
_MEDIANS_PER_BAR = 8

_SHORT_CAUSES = {
    Cause.PAGE_IN: "read from disk",
    Cause.FIRST_TOUCH: "new pages",
    Cause.SAMPLING: "sampling",
    Cause.PROBABILITIES: "probabilities",
    Cause.REST: "outside decode",
    Cause.UNKNOWN: "unknown",
    Cause.SUSPENDED: "suspended",
}


def reasons(*, recorded: bool) -> Iterator[tuple[str, str]]:
    """Yield (name of a column, why a token may have no value in it); ``recorded``: missing values stay unknown."""
    yield "ITL ms", "The first token has no gap before it: its time is the TTFT."
    yield "× median", "There is no median of the gaps yet."
    why = "was not recorded" if recorded else "is computed only while a lens or the inspector is in use"
    for column in ("chance", "rank", "bits"):
        yield column, f"It {why}."
    if recorded:
        yield "id", "It was left out of the recording, like the text."


def bar(gap: float, median: float, cells: int) -> str:
    """Return a horizontal bar of ``gap`` in half cells; ``cells`` cells are 8 medians, and + is more than that."""
    halves = round(gap / median * cells * 2 / _MEDIANS_PER_BAR)
    if halves > cells * 2:
        return "━" * (cells - 1) + "+"
    return ("━" * (halves // 2) + "╸" * (halves % 2)).ljust(cells)


def short_cause(run: Run, position: int) -> str:
    """Return in a few words what disturbed the token at ``position`` (from 0); empty when nothing did."""
    cause = Cause(run.causes[position])
    if cause is Cause.NONE:
        return ""
    if cause is not Cause.PREEMPTED:
        return _SHORT_CAUSES[cause]
    switches = run.facts.at(position).involuntary_switches
    return f"pre-empted {switches:,}×" if switches else "pre-empted"


@dataclass(frozen=True, slots=True)
class Columns:
    """Cells per column, the space before it left out; 0 leaves it out."""

    lens: Lens
    token: int
    id: int
    bar: int
    why: int

    @classmethod
    def fitting(cls, lens: Lens, width: int) -> "Columns":
        """Return the columns for a table of ``width`` cells: what the lens tells first, then why, id and bar."""
        rest = width - _fixed_cells(lens)
        why = _WHY_CELLS if rest >= 1 + _WHY_CELLS + _FEWEST_TOKEN_CELLS else 0
        rest -= 1 + why if why else 0
        id_cells = _ID_CELLS if rest >= 1 + _ID_CELLS + _TOKEN_CELLS_BESIDE_ID else 0
        rest -= 1 + id_cells if id_cells else 0
        spare = rest - 1 - _TOKEN_CELLS_BESIDE_BAR
        bar_cells = min(_LONGEST_BAR, spare) if lens is Lens.TIME and spare >= _SHORTEST_BAR else 0
        rest -= 1 + bar_cells if bar_cells else 0
        return cls(lens, min(max(1, rest), _LONGEST_TOKEN), id_cells, bar_cells, why)

    @property
    def used(self) -> int:
        """Cells of all columns together."""
        optional = sum(1 + cells for cells in (self.id, self.bar, self.why) if cells)
        return _fixed_cells(self.lens) + self.token + optional

    @property
    def header(self) -> str:
        """The names of the columns."""
        parts = [f" {'#':>{_INDEX_CELLS}} ", fitted("token", self.token)]
        if self.id:
            parts.append(f" {'id':>{self.id}}")
        parts.append(f" {'ITL ms':>{_MS_CELLS}}")
        if self.lens is Lens.TIME:
            parts.append(f" {'× median':>{_FACTOR_CELLS}} {'':{_MARK_CELLS}} {'at s':>{_AT_CELLS}}")
        else:
            mark = f" {'':{_MARK_CELLS}}"
            parts.append(f" {'chance':>{_CHANCE_CELLS}}{mark if self.lens is Lens.PROBABILITY else ''}")
            parts.append(f" {'rank':>{_RANK_CELLS}} {'bits':>{_ENTROPY_CELLS}}")
            parts.append(mark if self.lens is not Lens.PROBABILITY else "")
        if self.bar:
            parts.append(" " + fitted(f"{'|':>{max(self.bar // _MEDIANS_PER_BAR, 1)}} median", self.bar))
        if self.why:
            parts.append(f" {'why so slow':<{self.why}}")
        return "".join(parts)


def _fixed_cells(lens: Lens) -> int:
    told: tuple[int, ...] = (
        (_FACTOR_CELLS, _AT_CELLS) if lens is Lens.TIME else (_CHANCE_CELLS, _RANK_CELLS, _ENTROPY_CELLS)
    )
    return 1 + _INDEX_CELLS + 1 + sum(1 + cells for cells in (_MS_CELLS, _MARK_CELLS, *told))


def row_cells(run: Run, row: int, lens: Lens, columns: Columns, *, chosen: bool) -> Iterator[tuple[str, str]]:
    """Yield (text, role) from left to right; the role is the name of a tint, ``quiet`` or empty for plain text.

    ``row`` counts from 0; ``chosen``: the cursor is on it.
    """
    times, median = run.token_times, run.median_ns
    gap = None if row == 0 else int(times[row] - times[row - 1])
    # Against the median that the factor beside it is told in, which moves on after the text was tinted.
    departs = int(pace(gap or 0, median)) if lens is Lens.TIME else degree(int(marks_of(run, row, row + 1)[0]), lens)
    told = TINTS[departs - 1].name if departs else ""
    mark = f"{TINTS[departs - 1].mark if departs else '':<{_MARK_CELLS}}"

    yield f"{_CURSOR if chosen else ' '}{row + 1:>{_INDEX_CELLS}} ", ""
    yield from _token(run, row, columns.token, told)
    if columns.id:
        id = token_id(run, row)
        yield f" {numbers.MISSING if id is None else id:>{columns.id}}", ""
    yield f" {numbers.bare_milliseconds(gap):>{_MS_CELLS}}", told if lens is Lens.TIME else ""
    if lens is Lens.TIME:
        # The first token's time is the time to first token.
        factor = "TTFT" if gap is None else numbers.times(gap / median if median else None)
        yield f" {factor:>{_FACTOR_CELLS}} {mark}", told
        yield f" {(int(times[row]) - run.taken.t) / 1e9:>{_AT_CELLS}.3f}", ""
    else:
        yield from _chances(run, row, lens, told, mark)
    if columns.bar:
        drawn = bar(gap, median, columns.bar) if gap is not None and median else " " * columns.bar
        yield f" {drawn}", "" if departs else "quiet"
    if columns.why:
        yield f" {fitted(short_cause(run, row), columns.why)}", ""


def _token(run: Run, row: int, cells: int, told: str) -> Iterator[tuple[str, str]]:
    sign = token_sign(run.piece(row))
    if run.control[row] and cells > len(_CONTROL) + 2:
        yield fitted(sign, cells - len(_CONTROL)), told
        yield _CONTROL, "quiet"
    else:
        yield fitted(sign, cells), "quiet" if run.control[row] and not told else told


def _chances(run: Run, row: int, lens: Lens, told: str, mark: str) -> Iterator[tuple[str, str]]:
    """The mark stands beside what it is about."""
    facts = run.likelihood.at(row)
    chance = numbers.percent(None if facts is None else math.exp(facts.logprob))
    rank = numbers.count(None if facts is None else facts.rank)
    entropy = numbers.bare_entropy(None if facts is None else bits(facts.entropy_nats))
    yield f" {chance:>{_CHANCE_CELLS}}", told if lens is Lens.PROBABILITY else ""
    if lens is Lens.PROBABILITY:
        yield f" {mark}", told
    yield f" {rank:>{_RANK_CELLS}}", ""
    yield f" {entropy:>{_ENTROPY_CELLS}}", told if lens is Lens.ENTROPY else ""
    if lens is not Lens.PROBABILITY:
        yield f" {mark}", told
