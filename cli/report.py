"""What is said about a run in words."""

from ..metrics import numbers
from ..metrics.ending import ending
from ..metrics.run import Run


def summary_line(run: Run, finish_reason: str | None) -> str | None:
    """Return the figures of a run in one line, those without a value left out; ``None`` where a failure left none.

    Disturbed tokens are told of only when there are any. ``finish_reason`` is one of ``Run.finish_reason``, or what
    ended the run from outside.
    """
    tokens = numbers.counted(run.token_count, "token")
    failed = finish_reason == "failed"
    if failed and not run.token_count:
        return None
    parts = [f"failed after {tokens}" if failed else tokens]
    if run.ttft_ns is not None:
        suspended = run.facts.suspended_ns(0, 1)
        of_it = f" (suspended for {numbers.seconds(suspended)} of it)" if suspended else ""
        parts.append(f"TTFT {numbers.milliseconds(run.ttft_ns)}{of_it}")
    if run.tpot_ns is not None:
        parts.append(f"TPOT {numbers.milliseconds(run.tpot_ns)}")
    if run.decode_rate is not None:
        parts.append(f"write {numbers.rate(run.decode_rate)}")
    if run.prompt_tokens is not None:
        cached = f", {run.cached_tokens:,} cached" if run.cached_tokens else ""
        speed = "" if run.prefill_rate is None else f" {numbers.rate(run.prefill_rate)}"
        parts.append(f"read{speed} ({numbers.counted(run.prompt_tokens, 'token')}{cached})")
    disturbance = run.disturbance
    if disturbance is not None and disturbance.disturbed:
        parts.append(disturbance.sentence + ("" if disturbance.quotable else ": not to be quoted"))
    fewer = run.fewer_threads
    if fewer is not None:
        parts.append(fewer.sentence)
    if not failed:
        parts.append(ending(run, finish_reason))
    return " · ".join([*parts, f"seed {run.taken.seed}"])
