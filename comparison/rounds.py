"""What one round of a lane gives, and which rounds count."""

from collections.abc import Sequence
from dataclasses import replace
from weakref import WeakKeyDictionary

import numpy as np

from ..backends.events import Failed, Finished, Token
from ..backends.text import Piece, TextStream
from ..metrics.latency import rate_per_second
from ..metrics.run import FEWEST_READ, Run
from .figures import RoundFigures
from .lane import Lane, Round, TextFacts

COLD_SHARE = 0.05
"""A round is cold from this share of the weights on that it waited for from the disk."""

COLD_FACTOR = 1.5
"""A lane's first round is cold, too, when a token took this many times that of the slowest later round."""

_FEWEST_LATER = 2
_UNDER_WAY = "under way"
_COLD = "cold"

_finished: "WeakKeyDictionary[Run, RoundFigures]" = WeakKeyDictionary()
"""Figures of runs that are over do not change, and are asked for several times a second."""


def round_figures(lane: Lane) -> tuple[RoundFigures, ...]:
    """Return every round of ``lane``, in order.

    A round counts when it is over and was not cancelled, its prompt was read as a whole, and it was not cold: nothing
    that matters came from the disk, and the first round was not far slower than all those after it.
    """
    size = None if lane.model is None else lane.model.bytes
    rounds = [_figures(one, size, lane.without_text) for one in lane.rounds]
    if _slow_start(rounds):
        rounds[0] = replace(rounds[0], left_out=_COLD)
    return tuple(rounds)


def counting(rounds: Sequence[RoundFigures]) -> list[RoundFigures]:
    """Return the rounds that count; where none does, those that are over, else the one under way."""
    return (
        [one for one in rounds if not one.left_out]
        or [one for one in rounds if one.left_out != _UNDER_WAY]
        or list(rounds)
    )


def why_none_counts(rounds: Sequence[RoundFigures]) -> str:
    """Return in few words why no round counts; empty when one does, ``no figures yet`` before the first one ended."""
    if any(not one.left_out for one in rounds):
        return ""
    over = [one.left_out for one in rounds if one.left_out != _UNDER_WAY]
    return over[-1] if over else "no figures yet"


def first_difference(one: Run, other: Run) -> int | None:
    """Return the index (from 1) of the first token at which two answers differ, by its id or by its text.

    The ids of a script only count up. ``None`` as long as no token differs: neither where one answer is only shorter
    than the other.
    """
    common = min(one.token_count, other.token_count)
    differing = one.token_ids[:common] != other.token_ids[:common]
    differing |= one.piece_ends[:common] != other.piece_ends[:common]
    places = np.flatnonzero(differing)
    before = int(places[0]) if len(places) else common
    # Until there the pieces are equally long.
    length = int(one.piece_ends[before - 1]) if before else 0
    texts = [np.frombuffer(run.text_bytes(length), dtype=np.uint8) for run in (one, other)]
    unlike = np.flatnonzero(texts[0] != texts[1])
    if len(unlike):
        return int(np.searchsorted(one.piece_ends, unlike[0], side="right")) + 1
    return before + 1 if before < common else None


def _slow_start(rounds: Sequence[RoundFigures]) -> bool:
    """Whether the first round was slowed by what only a first one meets: cold caches, clocks that still rise."""
    later = [one for one in rounds[1:] if not one.left_out]
    if len(later) < _FEWEST_LATER or rounds[0].left_out:
        return False
    # The median ITL, because a few disturbed tokens are no cold start.
    slowest = [one.itl_p50_ns for one in later if one.itl_p50_ns is not None]
    if slowest and (rounds[0].itl_p50_ns or 0) >= COLD_FACTOR * max(slowest):
        return True
    # How quickly a handful of tokens is read says nothing.
    enough = (rounds[0].evaluated or 0) >= FEWEST_READ
    rates = [one.prefill_rate for one in later if one.prefill_rate is not None]
    first = rounds[0].prefill_rate
    return enough and first is not None and bool(rates) and first * COLD_FACTOR <= min(rates)


def _figures(one: Round, weights: int | None, without_text: TextFacts | None) -> RoundFigures:
    run = one.run
    known = _finished.get(run)
    if known is not None:
        return known
    over = run.end is not None
    gaps = run.percentiles
    disturbance = run.disturbance if over else None
    from_disk = run.facts.bytes_from_disk
    figures = RoundFigures(
        number=one.number,
        left_out=_left_out(run, from_disk, weights),
        tokens=run.token_count,
        evaluated=run.evaluated_tokens,
        cached=run.cached_tokens,
        ttft_ns=run.ttft_ns,
        prefill_rate=run.prefill_rate,
        tpot_ns=run.tpot_ns,
        itl_p50_ns=None if gaps is None else gaps.p50,
        itl_p95_ns=None if gaps is None else gaps.p95,
        decode_rate=run.decode_rate,
        characters_rate=_characters_rate(one, without_text) if over else None,
        disturbed=disturbance is not None and not disturbance.quotable,
        disturbed_tokens=0 if disturbance is None else disturbance.disturbed,
        lost_share=None if disturbance is None else disturbance.share,
        read_from_disk=from_disk,
        finish_reason=run.finish_reason,
    )
    if over:
        _finished[run] = figures
    return figures


def _left_out(run: Run, from_disk: int | None, weights: int | None) -> str:
    if run.end is None:
        return _UNDER_WAY
    if isinstance(run.end, Failed):
        return "failed"
    if run.end.reason == "cancelled":
        return "cancelled"
    if run.prompt is None or run.prompt.cached:
        return "cached prompt"
    if from_disk and weights and from_disk >= COLD_SHARE * weights:
        return _COLD
    return "" if run.token_count else "no token"


def characters(one: Round) -> int:
    """Return the length of an answer, those characters left out that its first token completed.

    Reasoning is text too; control tokens and stop strings are not.
    """
    stream = TextStream()
    count = 0
    for event in one.events:
        fragments: list[Piece] = []
        if isinstance(event, Token):
            fragments = stream.feed(event)
        elif isinstance(event, Finished):
            fragments = stream.finish(event)
        count += sum(len(one.text) for one in fragments if one.index > 1)
    return count


def _characters_rate(one: Round, without_text: TextFacts | None) -> float | None:
    """Characters per second from the first token to the last."""
    count = characters(one) if without_text is None else without_text.characters.get(one.number)
    duration = one.run.decode_ns_total
    return None if duration is None or count is None else rate_per_second(count, duration)
