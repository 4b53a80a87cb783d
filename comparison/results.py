"""The figures of a comparison, the same for the screen, the table and the files."""

from collections.abc import Callable, Mapping, Sequence
from statistics import median
from weakref import WeakKeyDictionary

from ..backends.events import Finished
from ..metrics.divergence import Divergence, Estimate
from ..metrics.run import Run
from .figures import LaneResult, Ratio, Results, RoundFigures, Spread
from .lane import Lane, LanePhase
from .ratios import RoundRates, ratio, standing
from .rounds import counting, first_difference, round_figures, why_none_counts
from .verdict import failure, notes, verdict

__all__ = ["LaneResult", "Ratio", "Results", "RoundFigures", "Spread", "results"]

_NOT_QUANTIZED = frozenset({"F64", "F32", "F16", "BF16"})

_Scores = tuple[Estimate | None, float | None, Estimate | None, Estimate | None]
_NO_SCORES: _Scores = (None, None, None, None)
_scored: "WeakKeyDictionary[Divergence, tuple[int, _Scores]]" = WeakKeyDictionary()


def results(lanes: Sequence[Lane], *, together: bool, so_far: bool = False) -> Results:
    """Return the figures of what the lanes have done so far; cheap enough to be asked several times a second.

    See ``round_figures`` for which rounds count. The first of ``lanes`` is the reference. ``so_far``: more
    rounds are to come.
    """
    rounds = [round_figures(lane) for lane in lanes]
    taking_part = [lane for lane in lanes if lane.failed is None]
    same_tokens = len({lane.prompt_key for lane in taking_part} - {None}) < 2
    same_vocabulary = same_tokens or not any(
        lane.own_vocabulary is not False for lane in taking_part if _reads_another(lane, lanes[0])
    )
    rates = {
        name: [_rates(of_lane, figure) for of_lane in rounds]
        for name, figure in (
            ("decode", _decode_rate),
            ("prefill", _prefill_rate),
            ("characters", _characters_rate),
        )
    }

    deciding = rates["decode" if same_vocabulary else "characters"]
    unranked = [_unranked(*of_lane) for of_lane in zip(lanes, rounds, deciding, strict=True)]

    def to_reference(name: str, number: int) -> Ratio | None:
        if number == 0 or unranked[0] or unranked[number]:
            return None
        return ratio(rates[name][number], rates[name][0])

    rows = tuple(
        _row(lane, lanes[0], rounds[number], unranked[number], {name: to_reference(name, number) for name in rates})
        for number, lane in enumerate(lanes)
    )
    found = standing({number: deciding[number] for number, why in enumerate(unranked) if not why})
    return Results(
        rows=rows,
        same_tokens=same_tokens,
        same_vocabulary=same_vocabulary,
        winner=None if found is None or not found.shown else found.leader,
        verdict=verdict(rows, found, same_vocabulary=same_vocabulary, so_far=so_far),
        notes=notes(lanes, rows, together=together, same_tokens=same_tokens, same_vocabulary=same_vocabulary),
    )


def _row(
    lane: Lane, reference: Lane, rounds: Sequence[RoundFigures], unranked: str, ratios: Mapping[str, Ratio | None]
) -> LaneResult:
    mean_kld, kld_99, same_top, perplexity = _scores(lane.scores)
    diverged_at, compared = divergence(lane, reference)
    counted = [one for one in rounds if not one.left_out]
    return LaneResult(
        number=lane.number,
        label=lane.plan.label,
        quantization=_quantization(lane),
        requantized_from=_requantized_from(lane),
        bytes=_bytes(lane),
        load_ns=None if lane.model is None else lane.model.load_ns,
        ttft_ns=_spread(rounds, lambda one: one.ttft_ns),
        prefill_rate=_spread(rounds, _prefill_rate),
        itl_p50_ns=_spread(rounds, lambda one: one.itl_p50_ns),
        itl_p95_ns=_spread(rounds, lambda one: one.itl_p95_ns),
        decode_rate=_spread(rounds, _decode_rate),
        characters_rate=_spread(rounds, _characters_rate),
        decode_ratio=ratios["decode"],
        prefill_ratio=ratios["prefill"],
        characters_ratio=ratios["characters"],
        unranked=unranked,
        failure="" if lane.failed is None else failure(lane.failed),
        fallbacks="" if lane.made is None else "; ".join(lane.made.fallbacks),
        disturbed_rounds=sum(one.disturbed for one in counted),
        rounds=len(counted),
        mean_kld=mean_kld,
        kld_99=kld_99,
        same_top=same_top,
        perplexity=perplexity,
        scores_note=lane.scores_note,
        diverged_at=diverged_at,
        compared_tokens=compared,
        all_rounds=tuple(rounds),
    )


def _decode_rate(one: RoundFigures) -> float | None:
    return one.decode_rate


def _prefill_rate(one: RoundFigures) -> float | None:
    return one.prefill_rate


def _characters_rate(one: RoundFigures) -> float | None:
    return one.characters_rate


def _rates(rounds: Sequence[RoundFigures], figure: Callable[[RoundFigures], float | None]) -> RoundRates:
    values = {one.number: figure(one) for one in rounds if not one.left_out}
    return {number: value for number, value in values.items() if value is not None}


def _spread(rounds: Sequence[RoundFigures], figure: Callable[[RoundFigures], float | None]) -> Spread | None:
    shown = [(one, value) for one in counting(rounds) if (value := figure(one)) is not None]
    if not shown:
        return None
    values = [value for _, value in shown]
    return Spread(median(values), min(values), max(values), sum(not one.left_out for one, _ in shown))


def _unranked(lane: Lane, rounds: Sequence[RoundFigures], deciding: RoundRates) -> str:
    if lane.failed is not None or lane.phase is LanePhase.FAILED:
        return "failed"
    why = why_none_counts(rounds)
    if why == "no figures yet" and lane.phase is LanePhase.CANCELLED:
        return "cancelled"
    return why or ("" if deciding else "too short")


def _reads_another(lane: Lane, reference: Lane) -> bool:
    """Whether a lane reads other prompt tokens than the reference, or nothing is known of the reference's."""
    return lane is not reference and lane.prompt_key is not None and lane.prompt_key != reference.prompt_key


def divergence(lane: Lane, reference: Lane) -> tuple[int | None, int]:
    """Return the first token (from 1) at which the first answers differ, and how many were compared.

    Where one answer is over, and not because it was cancelled or failed, the other differs by going on. Tokens of
    lanes that read other prompt tokens cannot be compared.
    """
    if lane.without_text is not None:
        return lane.without_text.differs_at, lane.without_text.compared
    if lane is reference or not lane.rounds or not reference.rounds or lane.prompt_key != reference.prompt_key:
        return None, 0
    one, other = lane.rounds[0].run, reference.rounds[0].run
    common = min(one.token_count, other.token_count)
    if (differing := first_difference(one, other)) is not None:
        return differing, common
    shorter = one if one.token_count < other.token_count else other
    if one.token_count != other.token_count and _ended_by_itself(shorter):
        return common + 1, common
    return None, common


def _ended_by_itself(run: Run) -> bool:
    return isinstance(run.end, Finished) and run.end.reason == "stop"


def _scores(found: Divergence | None) -> _Scores:
    if found is None or found.count == 0:
        return _NO_SCORES
    known = _scored.get(found)
    if known is None or known[0] != found.count:
        scores = (found.mean_kld, found.kld_99, found.same_top, found.perplexity)
        known = _scored[found] = (found.count, scores)
    return known[1]


def _quantization(lane: Lane) -> str:
    if lane.model is not None:
        return lane.model.quantization
    if lane.plan.make is not None:
        return lane.plan.make
    return lane.plan.known.quantization


def _requantized_from(lane: Lane) -> str:
    if lane.model is not None and lane.model.requantized_from:
        return lane.model.requantized_from
    source = "" if lane.made is None else lane.made.source_quantization
    return "" if source in _NOT_QUANTIZED else source


def _bytes(lane: Lane) -> int | None:
    if lane.model is not None:
        return lane.model.bytes
    if lane.made is not None:
        return lane.made.bytes
    return lane.plan.known.bytes if lane.plan.make is None else None
