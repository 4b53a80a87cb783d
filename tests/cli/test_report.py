"""The line of figures."""

import pytest

from decodescope.backends.events import Failed, Finished, FinishReason, PromptReady, RequestTaken, Token
from decodescope.backends.requests import Sampling
from decodescope.cli.report import summary_line
from decodescope.metrics.run import Run


def run(tokens: int, end: Finished | Failed | None = None) -> Run:
    """A prompt of one token; the first token after 10 ms, then one every 2 ms."""
    run = Run(RequestTaken(t=0, request=1, sampling=Sampling(), seed=7))
    run.apply(PromptReady(t=0, tokens=(1,), cached=0))
    for index in range(1, tokens + 1):
        t = 10_000_000 + (index - 1) * 2_000_000
        run.apply(Token(t=t, index=index, id=1, piece=b"x", decode_ns=1, sample_ns=1))
    if end is not None:
        run.apply(end)
    return run


@pytest.mark.parametrize(
    ("reason", "held", "said"),
    [
        ("stop", 0, "the model ended its turn"),
        ("stop", 3, "ended by a stop string"),
        ("length", 0, "cut off at the limit of 3 tokens"),
        ("context", 0, "cut off after 3 tokens: the context is full"),
        ("cancelled", 0, "stopped after 3 tokens"),
    ],
)
def test_how_it_ended(reason: FinishReason, held: int, said: str) -> None:
    ended = run(3, Finished(t=1, reason=reason, held=held))
    # TPOT: (14 - 10) / 2 = 2 ms, so 500 tokens a second.
    figures = "3 tokens · TTFT 10.0 ms · TPOT 2.0 ms · write 500 tok/s · read (1 token)"
    assert summary_line(ended, ended.finish_reason) == f"{figures} · {said} · seed 7"


def test_an_engine_that_never_answered() -> None:
    assert (
        summary_line(run(1), "cancelled") == "1 token · TTFT 10.0 ms · read (1 token) · stopped after 1 token · seed 7"
    )


def test_a_failure_comes_first() -> None:
    failed = Failed(t=1, stage="generate", what="It failed.")
    assert summary_line(run(1, failed), "failed") == "failed after 1 token · TTFT 10.0 ms · read (1 token) · seed 7"
    assert summary_line(run(0, failed), "failed") is None
