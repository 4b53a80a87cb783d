"""Why a token took as long as it did, in words; only what is known."""

from .disturbance import Cause, Spent


def explain(token: Spent, usual: int | None, cause: Cause) -> str:
    """Return one line about a token, such as ``92 ms, 17× the usual 5.4 ms: pre-empted 37 times``.

    ``usual``: what an undisturbed token takes, ns; ``None`` when that is not known yet.
    """
    took = _duration(token.gap)
    if usual is None or usual <= 0:
        return f"{took}; too few tokens yet to tell what is usual"
    if cause is Cause.NONE:
        return f"{took}, usual here: {_duration(usual)}"
    return f"{took}, {_factor(token.gap / usual)} the usual {_duration(usual)}: {_reason(token, cause)}"


def explain_first(ttft: int) -> str:
    """Return one line about the first token, which took ``ttft`` ns since the request was taken."""
    return f"{_duration(ttft)} since the request was taken: template, prompt and first sample"


def _reason(token: Spent, cause: Cause) -> str:
    match cause:
        case Cause.PREEMPTED:
            return _preempted(token)
        case Cause.PAGE_IN:
            return _page_in(token)
        case Cause.FIRST_TOUCH:
            return f"{token.facts.minor_faults or 0:,} pages touched for the first time (minor faults)"
        case Cause.SAMPLING:
            return f"sampling took {_duration(token.sample)}"
        case Cause.PROBABILITIES:
            return f"computing probabilities took {_duration(token.probability or 0)}"
        case Cause.REST:
            return f"{_duration(token.rest)} of it outside decode and sampling"
        case Cause.UNKNOWN | Cause.NONE:
            return f"cause unknown, {_duration(token.decode)} of it in decode"


def _preempted(token: Spent) -> str:
    times = token.facts.involuntary_switches
    parts = []
    if times:
        parts.append("pre-empted once" if times == 1 else f"pre-empted {times:,} times")
    if token.facts.longest_wait_ns:
        parts.append(f"a thread waited {_duration(token.facts.longest_wait_ns)} for a core")
    elif token.facts.wait_ns:
        parts.append(f"threads waited {_duration(token.facts.wait_ns)} for a core")
    return ", ".join([*parts, "others had the cores"])


def _page_in(token: Spent) -> str:
    faults = token.facts.major_faults or 0
    counted = f"{faults:,} major {'fault' if faults == 1 else 'faults'}"
    return (
        f"{_size(token.facts.read_bytes)} read from disk ({counted})"
        if token.facts.read_bytes
        else f"{counted}, read from disk"
    )


def _duration(ns: int) -> str:
    if ns >= 9_999_500_000:
        return f"{ns / 1e9:,.1f} s"
    return f"{ns / 1e6:,.0f} ms" if ns >= 99_950_000 else f"{ns / 1e6:.1f} ms"


def _factor(factor: float) -> str:
    return f"{factor:.1f}×" if factor < 9.95 else f"{factor:,.0f}×"


def _size(number: int) -> str:
    return f"{number / 2**20:,.0f} MiB" if number >= 2**20 else f"{number / 2**10:,.0f} KiB"
