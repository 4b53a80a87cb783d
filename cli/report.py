"""What is said about a run in words."""

from ..metrics.run import Run


def summary_line(run: Run, finish_reason: str | None) -> str:
    """Return the figures of a run in one line; those without a value are left out.

    Disturbed tokens are told of only when there are any.
    """
    parts = [f"{run.token_count:,} {'token' if run.token_count == 1 else 'tokens'}"]
    if run.ttft_ns is not None:
        parts.append(f"TTFT {milliseconds(run.ttft_ns)}")
    if run.tpot_ns is not None:
        parts.append(f"TPOT {milliseconds(run.tpot_ns)}")
    if run.decode_rate is not None:
        parts.append(f"write {rate(run.decode_rate)}")
    if run.prompt_tokens is not None:
        cached = f", {run.cached_tokens:,} cached" if run.cached_tokens else ""
        speed = "" if run.prefill_rate is None else f" {rate(run.prefill_rate)}"
        parts.append(f"read{speed} ({run.prompt_tokens:,} tokens{cached})")
    disturbance = run.disturbance
    if disturbance is not None and disturbance.disturbed:
        parts.append(disturbance.sentence + ("" if disturbance.quotable else ": not to be quoted"))
    parts += [finish_reason or "unfinished", f"seed {run.taken.seed}"]
    return " · ".join(parts)


def milliseconds(ns: float) -> str:
    """Return a duration with three significant digits or in whole milliseconds: ``6.91 ms``, ``1,204 ms``."""
    value = ns / 1e6
    digits = 0 if value >= 99.95 else 1 if value >= 9.995 else 2
    return f"{value:,.{digits}f} ms"


def rate(per_second: float) -> str:
    """Return tokens per second, as in ``145 tok/s`` or ``9.3 tok/s``."""
    return f"{per_second:,.{0 if per_second >= 99.95 else 1}f} tok/s"
