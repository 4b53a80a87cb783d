"""The table of a comparison as data, for the screen and for text alike."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ..backends.text import visible
from ..metrics import numbers
from ..metrics.divergence import Estimate
from .figures import LaneResult, Ratio, Results, Spread

Value = float | str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """One figure of every lane."""

    key: str
    """Stable, unique."""
    heading: str
    unit: str = ""
    """Of the cells, where it does not stand in them."""
    help: str
    """What it is, in a sentence."""
    right: bool = True
    """Set flush right: numbers are, names are not."""
    value: Callable[[LaneResult], Value]
    """What to sort by; ``None``, which comes last, where there is no value."""
    cell: Callable[[LaneResult], str]
    """As it is read; safe to draw."""
    full: Callable[[LaneResult], str]
    """The same with spread, interval or uncertainty, where it has one."""
    why: Callable[[LaneResult], str]
    """Why a lane has no value, in a sentence; called for a cell that is a dash."""
    best_low: bool = False
    """Whether less is better, so that a first sort goes upwards."""


def reason(column: Column, row: LaneResult) -> str | None:
    """Return why a cell is a dash; ``None`` if it is not."""
    if column.cell(row) != numbers.MISSING:
        return None
    return f"The lane failed: {row.failure}" if row.failure else column.why(row)


def _no_model(row: LaneResult) -> str:
    return "The model is not loaded yet."


def _no_round(row: LaneResult) -> str:
    if not row.all_rounds:
        return "No round has begun yet."
    if all(one.tokens < 2 for one in row.all_rounds):
        return "This needs two tokens, and no round has two yet."
    return "No round has this figure."


def _not_read(row: LaneResult) -> str:
    if row.all_rounds and all(one.evaluated == 0 for one in row.all_rounds):
        return "The whole prompt was in the cache, so no prefill was needed."
    return "No round has begun yet." if not row.all_rounds else "No round has finished its prefill yet."


def _no_token(row: LaneResult) -> str:
    return "No round has begun yet." if not row.all_rounds else "No round has a token yet."


def _no_ratio(row: LaneResult) -> str:
    return "The reference has no round that counts, or none with the same number as a round of this lane."


def _not_scored(row: LaneResult) -> str:
    return row.scores_note or "No text has been scored yet; scoring comes after the rounds."


def _not_compared(row: LaneResult) -> str:
    if row.number == 0 and row.perplexity is not None:
        return "This lane is the reference that the others are compared with."
    return _not_scored(row)


def _no_other_answer(row: LaneResult) -> str:
    if row.number == 0:
        return "This lane is the reference that the others are compared with."
    return "There are no two answers to the same prompt to compare yet."


def columns(results: Results, *, wide: bool = False, quality: bool = True) -> tuple[Column, ...]:
    """Return the columns that ``results`` need, in order; ``wide``: those for which a narrow table has no room, too.

    ``quality``: whether texts are scored at all.
    """
    shown = ["label", "bytes", "load", "ttft", "prefill", "itl_p50", "itl_p95", "decode", "ratio"]
    if not results.same_vocabulary:
        shown += ["characters", "characters_ratio"]
    if quality:
        shown += ["kld", *(["kld_99"] if wide else []), "same_top", *(["perplexity"] if wide else [])]
    shown.append("diverged")
    if any(row.disturbed_rounds for row in results.rows):
        shown.append("disturbed")
    return tuple(_COLUMNS[key] for key in shown)


def ordered(rows: Sequence[LaneResult], column: Column, *, descending: bool) -> list[LaneResult]:
    """Return ``rows`` sorted by ``column``, equal ones in the order of the lanes, those without a value last."""
    known = [(value, row) for row in rows if (value := column.value(row)) is not None]
    known.sort(key=lambda pair: _sort_key(pair[0]), reverse=descending)
    return [row for _, row in known] + [row for row in rows if column.value(row) is None]


def _sort_key(value: Value) -> tuple[float, str]:
    return (0.0, value.casefold()) if isinstance(value, str) else (value or 0.0, "")


def as_rows(results: Results, shown: Sequence[Column], *, full: bool = False) -> list[list[str]]:
    """Return headings (with units) and cells as text, a row a lane; ``full``: with spreads and intervals."""
    headings = [f"{column.heading} {column.unit}".rstrip() for column in shown]
    return [headings, *([(column.full if full else column.cell)(row) for column in shown] for row in results.rows)]


def _label(row: LaneResult) -> str:
    return visible(row.label)


def _plain(
    key: str,
    heading: str,
    help: str,
    value: Callable[[LaneResult], Value],
    cell: Callable[[LaneResult], str],
    why: Callable[[LaneResult], str],
    **more: Any,
) -> Column:
    return Column(key=key, heading=heading, help=help, value=value, cell=cell, full=cell, why=why, **more)


def _of_spread(
    key: str,
    heading: str,
    unit: str,
    help: str,
    figure: Callable[[LaneResult], Spread | None],
    *,
    time: bool = False,
    why: Callable[[LaneResult], str] = _no_round,
) -> Column:
    bare = numbers.bare_milliseconds if time else numbers.bare_rate

    def value(row: LaneResult) -> float | None:
        found = figure(row)
        return None if found is None else found.median

    def full(row: LaneResult) -> str:
        found = figure(row)
        return numbers.MISSING if found is None else numbers.spread(found.median, found.least, found.most, bare)

    return Column(
        key=key,
        heading=heading,
        unit=unit,
        help=help,
        value=value,
        cell=lambda row: bare(value(row)),
        full=full,
        why=why,
        best_low=time,
    )


def _of_ratio(key: str, heading: str, help: str, figure: Callable[[LaneResult], Ratio | None]) -> Column:
    def instead(row: LaneResult) -> str:
        return row.unranked or ("reference" if row.number == 0 else numbers.MISSING)

    def value(row: LaneResult) -> float | None:
        found = figure(row)
        return found.value if found is not None else 1.0 if row.number == 0 and not row.unranked else None

    def cell(row: LaneResult) -> str:
        found = figure(row)
        return instead(row) if found is None else numbers.ratio(found.value)

    def full(row: LaneResult) -> str:
        found = figure(row)
        if found is None or found.low is None:
            return cell(row)
        return f"{cell(row)} ({numbers.interval(found.low, found.high)})"

    return Column(key=key, heading=heading, help=help, value=value, cell=cell, full=full, why=_no_ratio)


def _of_estimate(
    key: str,
    heading: str,
    help: str,
    figure: Callable[[LaneResult], Estimate | None],
    text: Callable[[float | None, float | None], str],
    *,
    best_low: bool,
    why: Callable[[LaneResult], str] = _not_compared,
) -> Column:
    def value(row: LaneResult) -> float | None:
        found = figure(row)
        return None if found is None else found.value

    def full(row: LaneResult) -> str:
        found = figure(row)
        return numbers.MISSING if found is None else text(found.value, found.uncertainty)

    return Column(
        key=key,
        heading=heading,
        help=help,
        value=value,
        cell=lambda row: text(value(row), None),
        full=full,
        why=why,
        best_low=best_low,
    )


def _diverged(row: LaneResult) -> str:
    if row.diverged_at is not None:
        return f"token {numbers.count(row.diverged_at)}"
    return f"same {numbers.count(row.compared_tokens)}" if row.compared_tokens else numbers.MISSING


def _diverged_value(row: LaneResult) -> float | None:
    if row.diverged_at is not None:
        return row.diverged_at
    return float("inf") if row.compared_tokens else None


def _disturbed(row: LaneResult) -> str:
    return f"{row.disturbed_rounds} of {row.rounds}" if row.rounds else numbers.MISSING


_COLUMNS = {
    column.key: column
    for column in (
        _plain("label", "lane", "What is compared.", _label, _label, _no_model, right=False),
        _plain(
            "bytes",
            "size",
            "Size of the weights.",
            lambda row: row.bytes,
            lambda row: numbers.size(row.bytes),
            _no_model,
            best_low=True,
        ),
        _plain(
            "load",
            "load",
            "Loading the model, without the warm-up.",
            lambda row: row.load_ns,
            lambda row: numbers.seconds(row.load_ns),
            _no_model,
            best_low=True,
        ),
        _of_spread(
            "ttft",
            "TTFT",
            "ms",
            "Time to first token: from the request on.",
            lambda row: row.ttft_ns,
            time=True,
            why=_no_token,
        ),
        _of_spread(
            "prefill", "prefill", "tok/s", "Prompt tokens read per second.", lambda row: row.prefill_rate, why=_not_read
        ),
        _of_spread(
            "itl_p50", "ITL p50", "ms", "Median time between two tokens.", lambda row: row.itl_p50_ns, time=True
        ),
        _of_spread(
            "itl_p95", "ITL p95", "ms", "19 of 20 tokens took no longer.", lambda row: row.itl_p95_ns, time=True
        ),
        _of_spread("decode", "decode", "tok/s", "Tokens written per second.", lambda row: row.decode_rate),
        _of_ratio(
            "ratio",
            "× reference",
            "Decode rate over the reference's, with its 95 % interval; or why there is none.",
            lambda row: row.decode_ratio,
        ),
        _of_spread(
            "characters",
            "text",
            "char/s",
            "Characters written per second, the fair rate where tokenizers differ.",
            lambda row: row.characters_rate,
        ),
        _of_ratio(
            "characters_ratio",
            "× in text",
            "Characters per second over the reference's, with its 95 % interval.",
            lambda row: row.characters_ratio,
        ),
        _of_estimate(
            "kld",
            "KLD",
            "Mean KL divergence from the reference on the same text, nats.",
            lambda row: row.mean_kld,
            numbers.divergence,
            best_low=True,
        ),
        _plain(
            "kld_99",
            "99.0% KLD",
            "99 of 100 tokens diverge by no more, nats.",
            lambda row: row.kld_99,
            lambda row: numbers.divergence(row.kld_99),
            _not_compared,
            best_low=True,
        ),
        _of_estimate(
            "same_top",
            "same top",
            "How often the likeliest token is the reference's.",
            lambda row: row.same_top,
            numbers.agreement,
            best_low=False,
        ),
        _of_estimate(
            "perplexity",
            "perplexity",
            "Of the same text; less is better.",
            lambda row: row.perplexity,
            numbers.perplexity,
            best_low=True,
            why=_not_scored,
        ),
        _plain(
            "diverged",
            "differs at",
            "First token at which the lane's own answer is another than the reference's.",
            _diverged_value,
            _diverged,
            _no_other_answer,
        ),
        _plain(
            "disturbed",
            "disturbed",
            "Rounds that lost more than 5 % of their time to disturbances.",
            lambda row: row.disturbed_rounds,
            _disturbed,
            lambda row: "No round counts yet.",
            best_low=True,
        ),
    )
}
