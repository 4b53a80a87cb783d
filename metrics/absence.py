"""Why a figure of a run has no value, in words, for every figure that is a dash on the screen."""

from .run import FEWEST_READ, Run

_ENDED_EARLY = "The answer ended before its first token."
_NO_TOKEN = "There is no token yet."
_ONE_TOKEN = "This needs two tokens, and there is only one."
_NOT_NOW = "The answer is done, so there is no rate over the last two seconds."
_NOT_TOKENIZED = "The prompt has not been tokenized yet."
_NOT_READ = "No part of the prompt has been processed yet."
_ALL_CACHED = "The whole prompt was in the cache, so no prefill was needed."
_NO_ANSWER = "All tokens so far are reasoning."
_NEVER_AN_ANSWER = "The model wrote nothing but reasoning."


def absences(run: Run) -> dict[str, str]:
    """Return a sentence for each figure of a run that has no value now: ``ttft``, ``ttfa``, ``tpot``, ``p50``, ``p95``,
    ``p99``, ``write``, ``now``, ``read``, ``slowdown``. Empty where all have one; ``ttfa`` only where the model
    reasons."""
    found: dict[str, str] = {}
    none = _NO_TOKEN if run.end is None else _ENDED_EARLY
    if run.ttft_ns is None:
        found["ttft"] = none
    pace = none if run.token_count == 0 else _ONE_TOKEN
    if run.tpot_ns is None:
        found |= dict.fromkeys(("tpot", "p50", "p95", "p99"), pace)
    if run.decode_rate is None:
        found["write"] = pace
    if run.end is not None:
        found["now"] = _NOT_NOW
    elif run.recent_decode_rate() is None:
        found["now"] = pace
    if run.prefill_rate is None:
        found["read"] = _unread(run)
    if run.slowdown is None:
        found["slowdown"] = found.get("read") or found.get("write") or _too_few(run)
    if run.reasoning_tokens and run.ttfa_ns is None:
        found["ttfa"] = _NO_ANSWER if run.end is None else _NEVER_AN_ANSWER
    return found


def _unread(run: Run) -> str:
    if run.prompt is None:
        return _NOT_TOKENIZED
    return _ALL_CACHED if run.prompt.cached >= len(run.prompt.tokens) else _NOT_READ


def _too_few(run: Run) -> str:
    read = run.evaluated_tokens or 0
    return (
        f"Too few prompt tokens were processed to measure the prefill rate: {read:,}, but at least {FEWEST_READ} are "
        "needed; cached tokens do not count."
    )
