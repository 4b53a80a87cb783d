"""How long a run had fewer threads."""

from decodescope.backends.events import RequestTaken, ThreadsChanged, Token
from decodescope.backends.requests import Sampling
from decodescope.metrics.run import Run
from decodescope.metrics.summary import summarize
from decodescope.metrics.threads import FewerThreads

MS = 1_000_000


def token(index: int) -> Token:
    return Token(t=index * 10 * MS, index=index, id=1, piece=b"x", decode_ns=MS, sample_ns=0)


def change(ms: int, before: int, after: int) -> ThreadsChanged:
    return ThreadsChanged(t=ms * MS, before=before, after=after, why="core_taken" if after < before else "core_idle")


def run(*events: Token | ThreadsChanged) -> Run:
    found = Run(RequestTaken(t=0, request=1, sampling=Sampling(), seed=1))
    for event in events:
        found.apply(event)
    return found


def test_a_run_without_changes_tells_nothing() -> None:
    assert run(token(1), token(2)).fewer_threads is None


def test_tokens_with_fewer_threads_are_counted() -> None:
    """Tokens at 10, 20, 30 … ms; two threads to 25 ms, one to 55, then two: the tokens at 30, 40 and 50 ms."""
    tokens = [token(index) for index in range(1, 9)]
    found = run(*tokens[:2], change(25, 2, 1), *tokens[2:5], change(55, 1, 2), *tokens[5:])
    assert found.fewer_threads == FewerThreads(1, 2, 3)


def test_threads_given_up_in_prefill_or_before() -> None:
    tokens = [token(index) for index in range(1, 4)]
    assert run(change(5, 4, 3), *tokens).fewer_threads == FewerThreads(3, 4, 3)
    assert run(*tokens[:2], change(25, 1, 4), tokens[2]).fewer_threads == FewerThreads(1, 4, 2)
    assert run(change(5, 1, 2), *tokens).fewer_threads is None


def test_the_order_of_a_recording_does_not_matter() -> None:
    """All tokens of a recording are taken in at once, and the rest before or after them."""
    tokens = [token(index) for index in range(1, 9)]
    whole = Run(RequestTaken(t=0, request=1, sampling=Sampling(), seed=1))
    whole.apply(change(25, 2, 1))
    whole.apply_tokens(tokens)
    whole.apply(change(55, 1, 2))
    assert whole.fewer_threads == FewerThreads(1, 2, 3)


def test_the_summary_names_each_change() -> None:
    found = run(token(1), token(2), change(25, 2, 1), token(3))
    assert summarize(found, None, {})["thread_changes"] == [
        {"token": 3, "ms": 25.0, "from": 2, "to": 1, "why": "core_taken"}
    ]
