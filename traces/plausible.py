"""Whether what a file says can be: a recording may come from anywhere, and figures are computed in 64 and 32 bits."""

from typing import assert_never

from msgspec.structs import astuple

from ..backends.events import (
    Event,
    Failed,
    Finished,
    LoadProgress,
    Log,
    Measured,
    MeasuredWith,
    ModelReady,
    PrefillProgress,
    PromptReady,
    Quantized,
    QuantizeProgress,
    RequestTaken,
    Scored,
    ThreadsChanged,
    Token,
    Tokenized,
)
from ..backends.token_facts import Part, Probability, Scheduling
from .lanes import MOST_LANES, AnswerTold, ComparisonBegun, LaneStands, Line, ScoringBegun, StageReached
from .memory import MemoryMeasured
from .no_text import NO_ID

MOST_NS = 1 << 62
"""Of a time; half of what 64 bits hold, so that two can be subtracted."""
_MOST = MOST_NS
_MOST_COUNT = (1 << 31) - 1
_MOST_NUMBER = 1e9
"""Of a logarithm or an entropy; far beyond any, and within a 32-bit float."""
_MOST_TOP = 1_000
_MOST_BYTES_PER_SECOND = 1e15


def plausible(event: Event) -> bool:
    """Whether all numbers of an event are in the range that such a number can have."""
    if not -_MOST < event.t < _MOST:
        return False
    match event:
        case Token():
            return _token(event)
        case PromptReady():
            return _count(event.cached) and _ids(event.tokens)
        case Tokenized():
            return _ids(event.tokens) and (event.bos is None or _count(event.bos))
        case PrefillProgress():
            return _count(event.processed) and _count(event.cached) and _count(event.total)
        case RequestTaken():
            sampling = event.sampling
            return (
                _count(event.request)
                and abs(event.seed) < _MOST
                and abs(event.max_tokens) < _MOST
                and all(abs(number) < _MOST for number in astuple(sampling) if isinstance(number, int | float))
                and set(sampling.from_model) <= set(sampling.__struct_fields__)
            )
        case ModelReady():
            return event.context > 0 and _model(event)
        case LoadProgress() | QuantizeProgress():
            return 0 <= event.fraction <= 1
        case Finished():
            return _count(event.held) and _parts(event.parts)
        case Scored():
            return _scored(event)
        case Measured():
            return _measured(event)
        case ThreadsChanged():
            return 1 <= event.before <= _MOST_COUNT and 1 <= event.after <= _MOST_COUNT
        case Quantized():
            return 0 <= event.bytes < _MOST
        case Failed():
            return event.most_context is None or 0 <= event.most_context < _MOST
        case Log() | MeasuredWith():
            return True
        case _:
            assert_never(event)


def plausible_line(line: Line) -> bool:
    """The same for what tells of several engines."""
    if not -_MOST < line.t < _MOST:
        return False
    match line:
        case ComparisonBegun():
            sizes = [lane.bytes for lane in line.lanes if lane.bytes is not None]
            return 0 < len(line.lanes) <= MOST_LANES and _count(line.rounds) and all(0 <= one < _MOST for one in sizes)
        case LaneStands():
            return 0 <= line.lane < MOST_LANES and _count(line.round)
        case ScoringBegun():
            return _ids(line.tokens) and 0 <= line.prompt_tokens <= len(line.tokens)
        case StageReached():
            return _count(line.round) and _count(line.rounds)
        case AnswerTold():
            counts = (line.lane, line.round, line.characters, line.like, line.differs_at, line.compared)
            return all(one is None or _count(one) for one in counts)
        case _:
            assert_never(line)


def plausible_memory(measured: MemoryMeasured) -> bool:
    """The same for what tells of the machine."""
    rate = measured.bytes_per_second
    return (
        -_MOST < measured.t < _MOST
        and 1 <= measured.threads <= _MOST_COUNT
        and (rate is None or 0 < rate < _MOST_BYTES_PER_SECOND)
    )


def _ids(tokens: tuple[int, ...]) -> bool:
    return all(NO_ID <= one <= _MOST_COUNT for one in tokens)


def _count(number: int) -> bool:
    return 0 <= number <= _MOST_COUNT


def _token(token: Token) -> bool:
    return (
        0 <= token.decode_ns < _MOST
        and 0 <= token.sample_ns < _MOST
        and NO_ID <= token.id <= _MOST_COUNT
        and _count(token.held)
        and (token.parts is None or _parts(token.parts))
        and (token.scheduling is None or _scheduling(token.scheduling))
        and (token.probability is None or _probability(token.probability))
    )


def _parts(parts: tuple[Part, ...] | None) -> bool:
    return all(_count(part.index) and _count(part.size) for part in parts or ())


def _scheduling(facts: Scheduling) -> bool:
    # Once per token of a long recording, so no generator is made.
    for number in astuple(facts)[:_COUNTS]:
        if number is not None and not 0 <= number <= _MOST_COUNT:
            return False
    for number in astuple(facts)[_COUNTS:]:  # noqa: SIM110
        if number is not None and not 0 <= number < _MOST:
            return False
    return True


_COUNTS = Scheduling.__struct_fields__.index("read_bytes")
"""How many of the facts come before the first that is no count."""


def _probability(facts: Probability) -> bool:
    for one in facts.top:
        if not 0 <= one.id <= _MOST_COUNT or not -_MOST_NUMBER < one.logprob < _MOST_NUMBER:
            return False
    return (
        -_MOST_NUMBER < facts.logprob < _MOST_NUMBER
        and -_MOST_NUMBER < facts.entropy_nats < _MOST_NUMBER
        and 1 <= facts.rank <= _MOST_COUNT
        and 0 <= facts.cost_ns < _MOST
        and len(facts.top) <= _MOST_TOP
    )


def _model(model: ModelReady) -> bool:
    return all(0 <= number < _MOST for number in astuple(model)[1:] if isinstance(number, int | float))


def _scored(scored: Scored) -> bool:
    count = len(scored.logprobs)
    return (
        _count(scored.first)
        and len(scored.entropies) == len(scored.ranks) == len(scored.top) == count
        and len(scored.kld) in (0, count)
        and len(scored.same_top) in (0, count)
        and all(abs(number) < _MOST_NUMBER for number in (*scored.logprobs, *scored.entropies, *scored.kld))
        and all(1 <= rank <= _MOST_COUNT for rank in scored.ranks)
        and 0 <= scored.decode_ns < _MOST
        and 0 <= scored.compute_ns < _MOST
    )


def _measured(measured: Measured) -> bool:
    count = len(measured.gaps)
    prompt = measured.prompt_ns, measured.prompt_scheduling
    return (
        -_MOST < measured.started < _MOST
        and len(measured.decode_ns) == len(measured.sample_ns) == len(measured.scheduling) == count
        and all(0 <= number < _MOST for number in (*measured.gaps, *measured.decode_ns, *measured.sample_ns))
        and (prompt[0] is None or 0 <= prompt[0] < _MOST)
        and all(one is None or _scheduling(one) for one in (prompt[1], *measured.scheduling))
    )
