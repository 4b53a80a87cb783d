"""A figure has no value exactly where a reason is declared."""

import pytest

from decodescope.backends.events import Event
from decodescope.metrics.absence import absences
from decodescope.metrics.run import FEWEST_READ, Run

from ..tui.fakes import MS, finished, progress, prompt, taken, token, tokens

STREAMS: dict[str, list[Event]] = {
    "whole": [
        prompt(10 * MS, 100),
        progress(60 * MS, 50, 100),
        progress(110 * MS, 100, 100),
        *tokens(112 * MS, [b"a"] * 5),
        finished(200 * MS),
    ],
    "cached": [prompt(10 * MS, 100, 100), progress(11 * MS, 100, 100, 100), *tokens(12 * MS, [b"a"] * 3)],
    "few read": [prompt(10 * MS, 100, 95), progress(20 * MS, 100, 100, 95), *tokens(22 * MS, [b"a"] * 3)],
    "reasoning": [
        prompt(10 * MS, 100),
        progress(110 * MS, 100, 100),
        token(112 * MS, 1, b"hm", thinking=True),
        token(119 * MS, 2, b"so", thinking=True),
        finished(130 * MS),
    ],
    "ended early": [prompt(10 * MS, 100), finished(50 * MS, "cancelled")],
    "one token": [prompt(10 * MS, 100), progress(110 * MS, 100, 100), *tokens(112 * MS, [b"a"]), finished(200 * MS)],
}


def without_value(run: Run) -> set[str]:
    gaps = run.percentiles
    values = {
        "ttft": run.ttft_ns,
        "tpot": run.tpot_ns,
        "p50": gaps,
        "p95": gaps,
        "p99": gaps,
        "write": run.decode_rate,
        "now": run.recent_decode_rate() if run.end is None else None,
        "read": run.prefill_rate,
        "slowdown": run.slowdown,
    }
    if run.reasoning_tokens:
        values["ttfa"] = run.ttfa_ns
    return {name for name, value in values.items() if value is None}


@pytest.mark.parametrize("name", STREAMS)
def test_every_figure_without_a_value_has_a_reason_and_no_other(name: str) -> None:
    run = Run(taken())
    assert absences(run).keys() == without_value(run)
    for event in STREAMS[name]:
        run.apply(event)
        found = absences(run)
        assert found.keys() == without_value(run)
        assert all(found.values())


def test_the_reason_tells_how_many_prompt_tokens_were_read() -> None:
    run = Run(taken())
    for event in STREAMS["few read"]:
        run.apply(event)
    assert all(str(number) in absences(run)["slowdown"] for number in (5, FEWEST_READ))
