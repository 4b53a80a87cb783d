"""Why a token took as long as it did, in words; only what is known."""

from . import numbers
from .disturbance import Cause, Spent


def explain(token: Spent, usual: int | None, cause: Cause) -> str:
    """Return one line about a token, such as ``92 ms, 17× the usual 5.4 ms: pre-empted 37 times``.

    ``usual``: what an undisturbed token takes, ns; ``None`` when that is not known yet.
    """
    took = numbers.milliseconds(token.gap)
    if usual is None or usual <= 0:
        return f"{took}; too few tokens yet to tell what is usual"
    if cause is Cause.NONE:
        return f"{took}, usual here: {numbers.milliseconds(usual)}"
    return (
        f"{took}, {numbers.times(token.gap / usual)} the usual {numbers.milliseconds(usual)}: {_reason(token, cause)}"
    )


def explain_first(ttft: int, suspended: int | None = None) -> str:
    """Return one line about the first token, which took ``ttft`` ns since the request was taken, ``suspended`` of them
    while the engine was stopped or the machine was asleep."""
    told = f"{numbers.milliseconds(ttft)} since the request was taken: template, prompt and first sample"
    return f"{told}; suspended for {numbers.seconds(suspended)} of it" if suspended else told


def _reason(token: Spent, cause: Cause) -> str:
    match cause:
        case Cause.PREEMPTED:
            return _preempted(token)
        case Cause.SUSPENDED:
            return (
                f"suspended for {numbers.seconds(token.facts.suspended_ns)}: "
                "the engine was stopped, or the machine was asleep"
            )
        case Cause.PAGE_IN:
            return _page_in(token)
        case Cause.FIRST_TOUCH:
            return f"{token.facts.minor_faults or 0:,} pages touched for the first time (minor faults)"
        case Cause.SAMPLING:
            return f"sampling took {numbers.milliseconds(token.sample)}"
        case Cause.PROBABILITIES:
            return f"computing probabilities took {numbers.milliseconds(token.probability or 0)}"
        case Cause.REST:
            return f"{numbers.milliseconds(token.rest)} of it outside decode and sampling"
        case Cause.UNKNOWN | Cause.NONE:
            return f"cause unknown, {numbers.milliseconds(token.decode)} of it in decode"


def _preempted(token: Spent) -> str:
    times = token.facts.involuntary_switches
    parts = []
    if times:
        parts.append("pre-empted once" if times == 1 else f"pre-empted {times:,} times")
    if token.facts.longest_wait_ns:
        parts.append(f"a thread waited {numbers.milliseconds(token.facts.longest_wait_ns)} for a core")
    elif token.facts.wait_ns:
        parts.append(f"threads waited {numbers.milliseconds(token.facts.wait_ns)} for a core")
    return ", ".join([*parts, "others had the cores"])


def _page_in(token: Spent) -> str:
    faults = token.facts.major_faults or 0
    counted = f"{faults:,} major {'fault' if faults == 1 else 'faults'}"
    return (
        f"{numbers.size(token.facts.read_bytes)} read from disk ({counted})"
        if token.facts.read_bytes
        else f"{counted}, read from disk"
    )
