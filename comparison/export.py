"""The results of a comparison as plain JSON values, under the names of a run's summary."""

from typing import Any

from ..metrics.divergence import Estimate
from ..metrics.summary import as_ms, rounded
from .figures import LaneResult, Ratio, Results, RoundFigures, Spread

_DIGITS = 6  # llama-perplexity's


def as_json(results: Results) -> dict[str, Any]:
    """Return everything as plain JSON values; ms, per second, nats, ``None`` where there is no value."""
    winner = None if results.winner is None else results.rows[results.winner].label
    return {
        "winner": winner,
        "verdict": results.verdict,
        "notes": list(results.notes),
        "same_tokens": results.same_tokens,
        "same_vocabulary": results.same_vocabulary,
        "lanes": [_lane(row) for row in results.rows],
    }


def _lane(row: LaneResult) -> dict[str, Any]:
    return {
        "label": row.label,
        "quantization": row.quantization,
        "requantized_from": row.requantized_from or None,
        "bytes": row.bytes,
        "load_ms": as_ms(row.load_ns),
        "unranked": row.unranked or None,
        "fallbacks": row.fallbacks or None,
        "rounds": row.rounds,
        "disturbed_rounds": row.disturbed_rounds,
        "ttft_ms": _times(row.ttft_ns),
        "prompt_per_second": _rates(row.prefill_rate),
        "itl_p50_ms": _times(row.itl_p50_ns),
        "itl_p95_ms": _times(row.itl_p95_ns),
        "predicted_per_second": _rates(row.decode_rate),
        "characters_per_second": _rates(row.characters_rate),
        "predicted_ratio": _ratio(row.decode_ratio),
        "prompt_ratio": _ratio(row.prefill_ratio),
        "characters_ratio": _ratio(row.characters_ratio),
        "mean_kld": _estimate(row.mean_kld),
        "kld_99": _nats(row.kld_99),
        "same_top_p": _estimate(row.same_top),
        "perplexity": _estimate(row.perplexity),
        "scores_note": row.scores_note or None,
        "diverged_at": row.diverged_at,
        "compared_n": row.compared_tokens,
        "all_rounds": [_round(one) for one in row.all_rounds],
    }


def _round(one: RoundFigures) -> dict[str, Any]:
    return {
        "round": one.number,
        "left_out": one.left_out or None,
        "prompt_n": one.evaluated,
        "cache_n": one.cached,
        "prompt_per_second": rounded(one.prefill_rate),
        "predicted_n": one.tokens,
        "predicted_per_second": rounded(one.decode_rate),
        "characters_per_second": rounded(one.characters_rate),
        "ttft_ms": as_ms(one.ttft_ns),
        "tpot_ms": as_ms(one.tpot_ns),
        "itl_p50_ms": as_ms(one.itl_p50_ns),
        "itl_p95_ms": as_ms(one.itl_p95_ns),
        "disturbed": one.disturbed,
        "disturbed_n": one.disturbed_tokens,
        "lost_share": None if one.lost_share is None else round(one.lost_share, 4),
        "disk_bytes": one.read_from_disk,
        "finish_reason": one.finish_reason,
    }


def _times(found: Spread | None) -> dict[str, float | None]:
    median, least, most = (None, None, None) if found is None else (found.median, found.least, found.most)
    return {"median": as_ms(median), "min": as_ms(least), "max": as_ms(most)}


def _rates(found: Spread | None) -> dict[str, float | None]:
    median, least, most = (None, None, None) if found is None else (found.median, found.least, found.most)
    return {"median": rounded(median), "min": rounded(least), "max": rounded(most)}


def _ratio(found: Ratio | None) -> dict[str, Any]:
    if found is None:
        return {"value": None, "low": None, "high": None, "shown": None}
    return {"value": _nats(found.value), "low": _nats(found.low), "high": _nats(found.high), "shown": found.shown}


def _estimate(found: Estimate | None) -> dict[str, float | None]:
    if found is None:
        return {"value": None, "uncertainty": None}
    return {"value": _nats(found.value), "uncertainty": _nats(found.uncertainty)}


def _nats(value: float | None) -> float | None:
    return None if value is None else round(value, _DIGITS)
