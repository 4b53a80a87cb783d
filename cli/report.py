"""What is said about a run in words."""

from ..backends.events import Finished
from ..metrics.run import Run


def summary_line(run: Run, finish_reason: str | None) -> str | None:
    """Return the figures of a run in one line, those without a value left out; ``None`` where a failure left none.

    Disturbed tokens are told of only when there are any. ``finish_reason`` is one of ``Run.finish_reason``, or what
    ended the run from outside.
    """
    tokens = _count(run.token_count, "token")
    failed = finish_reason == "failed"
    if failed and not run.token_count:
        return None
    parts = [f"failed after {tokens}" if failed else tokens]
    if run.ttft_ns is not None:
        parts.append(f"TTFT {milliseconds(run.ttft_ns)}")
    if run.tpot_ns is not None:
        parts.append(f"TPOT {milliseconds(run.tpot_ns)}")
    if run.decode_rate is not None:
        parts.append(f"write {rate(run.decode_rate)}")
    if run.prompt_tokens is not None:
        cached = f", {run.cached_tokens:,} cached" if run.cached_tokens else ""
        speed = "" if run.prefill_rate is None else f" {rate(run.prefill_rate)}"
        parts.append(f"read{speed} ({_count(run.prompt_tokens, 'token')}{cached})")
    disturbance = run.disturbance
    if disturbance is not None and disturbance.disturbed:
        parts.append(disturbance.sentence + ("" if disturbance.quotable else ": not to be quoted"))
    if not failed:
        parts.append(_ending(run, finish_reason, tokens))
    return " · ".join([*parts, f"seed {run.taken.seed}"])


def _ending(run: Run, finish_reason: str | None, tokens: str) -> str:
    match finish_reason:
        case "stop" if isinstance(run.end, Finished) and run.end.held:
            return "ended by a stop string (--stop)"
        case "stop":
            return "the model ended its turn"
        case "length":
            return f"cut off at the limit of {tokens} (-n)"
        case "context":
            return f"cut off after {tokens}: the context is full (-c)"
        case "cancelled":
            return f"stopped after {tokens}"
        case _:
            return "unfinished"


def _count(number: int, thing: str) -> str:
    return f"{number:,} {thing}{'' if number == 1 else 's'}"


def milliseconds(ns: float) -> str:
    """Return a duration with three significant digits or in whole milliseconds: ``6.91 ms``, ``1,204 ms``."""
    value = ns / 1e6
    digits = 0 if value >= 99.95 else 1 if value >= 9.995 else 2
    return f"{value:,.{digits}f} ms"


def rate(per_second: float) -> str:
    """Return tokens per second, as in ``145 tok/s`` or ``9.3 tok/s``."""
    return f"{per_second:,.{0 if per_second >= 99.95 else 1}f} tok/s"
