"""The columns of the result table, the same on the screen, in a terminal and in Markdown."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ..metrics import numbers
from ..models.recipes import with_origin
from .results import LaneResult, Ratio, Results, Spread

Value = float | str | None


@dataclass(frozen=True, slots=True)
class Column:
    """One figure of all lanes. Its texts may hold names of unknown origin."""

    key: str
    """What it is called in programs."""
    heading: str
    text: Callable[[LaneResult], str]
    value: Callable[[LaneResult], Value]
    """What rows are sorted by; those without a value come last."""
    number: bool = True
    """Whether it is set flush right."""


def columns(results: Results, *, spread: bool = True) -> tuple[Column, ...]:
    """Return the columns for ``results``; those that have no value in any row are left out.

    ``spread``: with the least and the most of all rounds behind a median. Where lanes read other tokens than the
    reference, characters per second come with the tokens, and ratios are in characters.
    """
    ratio = _decode_ratio if results.same_tokens else _characters_ratio
    found = [
        Column("label", "model", lambda row: row.label, lambda row: row.label, number=False),
        Column("quantization", "type", _quantization, _quantization, number=False),
        Column("bytes", "size", lambda row: numbers.size(row.bytes), lambda row: row.bytes),
        Column("load_ns", "load", lambda row: numbers.milliseconds(row.load_ns), lambda row: row.load_ns),
        _spread("ttft_ns", "TTFT ms", lambda row: row.ttft_ns, numbers.bare_milliseconds, spread),
        _spread("prefill_rate", "read tok/s", lambda row: row.prefill_rate, numbers.bare_rate, spread),
        _spread("tpot_p50_ns", "TPOT p50 ms", lambda row: row.tpot_p50_ns, numbers.bare_milliseconds, False),
        _spread("tpot_p95_ns", "p95 ms", lambda row: row.tpot_p95_ns, numbers.bare_milliseconds, False),
        _spread("decode_rate", "write tok/s", lambda row: row.decode_rate, numbers.bare_rate, spread),
        _spread("characters_rate", "char/s", lambda row: row.characters_rate, numbers.bare_rate, spread),
        Column("ratio", "× reference", lambda row: _ratio_text(row, ratio(row)), lambda row: _ratio_value(ratio(row))),
        Column("mean_kld", "Mean KLD", _mean_kld, lambda row: None if row.mean_kld is None else row.mean_kld.value),
        Column("kld_99", "99.0% KLD", lambda row: numbers.divergence(row.kld_99), lambda row: row.kld_99),
        Column("same_top", "Same top p", _same_top, lambda row: None if row.same_top is None else row.same_top.value),
        Column("perplexity", "PPL", _perplexity, lambda row: None if row.perplexity is None else row.perplexity.value),
        Column("diverged_at", "differs at", _diverged, lambda row: row.diverged_at),
        Column("unranked", "not ranked", lambda row: row.unranked, lambda row: row.unranked or None, number=False),
    ]
    left_out = {"characters_rate"} if results.same_tokens else set()
    if all(row.label == _quantization(row) for row in results.rows):
        left_out.add("quantization")
    return tuple(
        column
        for column in found
        if column.key not in left_out and any(column.value(row) not in (None, "") for row in results.rows)
    )


def ordered(rows: Sequence[LaneResult], column: Column, *, descending: bool = False) -> list[LaneResult]:
    """Return ``rows`` sorted by a column; those without a value come last, whatever the direction."""

    def key(row: LaneResult) -> tuple[float, str]:
        value = column.value(row)
        return (0.0, value.casefold()) if isinstance(value, str) else (value or 0.0, "")

    known = [row for row in rows if column.value(row) is not None]
    unknown = [row for row in rows if column.value(row) is None]
    return [*sorted(known, key=key, reverse=descending), *unknown]


def _spread(
    key: str,
    heading: str,
    figure: Callable[[LaneResult], Spread | None],
    bare: Callable[[float | None], str],
    ends: bool,
) -> Column:
    def text(row: LaneResult) -> str:
        found = figure(row)
        if found is None or not ends:
            return bare(None if found is None else found.median)
        return numbers.spread(found.median, found.least, found.most, bare)

    def value(row: LaneResult) -> Value:
        found = figure(row)
        return None if found is None else found.median

    return Column(key, heading, text, value)


def _quantization(row: LaneResult) -> str:
    return with_origin(row.quantization, row.requantized_from)


def _decode_ratio(row: LaneResult) -> Ratio | None:
    return row.decode_ratio


def _characters_ratio(row: LaneResult) -> Ratio | None:
    return row.characters_ratio


def _ratio_value(ratio: Ratio | None) -> float | None:
    return None if ratio is None else ratio.value


def _ratio_text(row: LaneResult, ratio: Ratio | None) -> str:
    if row.number == 0:
        return "reference"
    if ratio is None:
        return numbers.MISSING
    interval = "" if ratio.low is None else f" ({numbers.interval(ratio.low, ratio.high)})"
    return f"{numbers.ratio(ratio.value)}{interval}"


def _mean_kld(row: LaneResult) -> str:
    found = row.mean_kld
    return numbers.divergence(None if found is None else found.value, None if found is None else found.uncertainty)


def _same_top(row: LaneResult) -> str:
    found = row.same_top
    return numbers.agreement(None if found is None else found.value, None if found is None else found.uncertainty)


def _perplexity(row: LaneResult) -> str:
    found = row.perplexity
    return numbers.perplexity(None if found is None else found.value, None if found is None else found.uncertainty)


def _diverged(row: LaneResult) -> str:
    if row.number == 0 or not row.compared_tokens:
        return numbers.MISSING
    return f"never in {row.compared_tokens:,}" if row.diverged_at is None else f"token {row.diverged_at:,}"
