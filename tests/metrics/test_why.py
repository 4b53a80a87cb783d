"""Why writing is slower than reading, worked by hand."""

import msgspec
import pytest

from decodescope.backends.events import PrefillProgress, PromptReady, RequestTaken, Token
from decodescope.backends.requests import Sampling
from decodescope.metrics.floor import MemoryFloor
from decodescope.metrics.prefill import PrefillForecast, PrefillPrior
from decodescope.metrics.run import Run
from decodescope.metrics.why import explain, facts

from .test_summary import MODEL as UNKNOWN

MS = 1_000_000
MODEL = msgspec.structs.replace(
    UNKNOWN, micro_batch=100, kv_bytes_per_token=1000, weight_bytes_per_token=2_000_000, weight_bytes_per_pass=8_000_000
)
FLOOR = MemoryFloor(weight_bytes=2_000_000, kv_bytes_per_token=1000, bytes_per_second=1e9)


def run(
    total: int = 250,
    cached: int = 0,
    tokens: int = 5,
    prior: PrefillPrior | None = None,
    ms_per_prompt_token: float = 1.0,
) -> Run:
    """A prompt read at 1 ms a token, then tokens at 10 ms."""
    forecast = PrefillForecast(100, prior or PrefillPrior(0.0, 1e-9))
    run = Run(RequestTaken(t=0, request=1, sampling=Sampling(), seed=0), forecast)
    run.apply(PromptReady(t=0, tokens=tuple(range(total)), cached=cached))
    t = 0
    for end in [*range(cached + 100, total, 100), total]:
        t = round((end - cached) * ms_per_prompt_token * MS)
        run.apply(PrefillProgress(t=t, processed=end, cached=cached, total=total))
    for index in range(1, tokens + 1):
        run.apply(Token(t=t + 10 * MS * index, index=index, id=index, piece=b"x", decode_ns=1, sample_ns=1))
    return run


def test_the_figures_of_a_run() -> None:
    why = explain(run(), MODEL, FLOOR)
    assert why.read_rate == pytest.approx(1000)
    assert why.write_rate == pytest.approx(100)
    assert why.ratio == pytest.approx(10)
    # Three passes for 250 tokens; each reads the KV cache up to its end: 100, 200 and 250 tokens.
    assert why.bytes_per_prompt_token == pytest.approx((3 * 8_000_000 + 550 * 1000) / 250)
    # Gaps at depths 251 to 254: 252.5 on average.
    assert why.bytes_per_token == pytest.approx(2_000_000 + 252_500)
    assert why.floor_ns == pytest.approx(2_252_500)
    assert why.micro_batch == 100
    # 250 tokens more, at the same 1 ms each; five tokens more at 10 ms
    assert why.longer_prompt_ns == pytest.approx(250 * MS, rel=1e-3)
    assert why.longer_answer_ns == pytest.approx(50 * MS)
    assert (why.cached_tokens, why.saved_ns) == (0, None)


def test_what_the_cache_saved() -> None:
    why = explain(run(total=250, cached=100), MODEL, FLOOR)
    assert why.saved_ns == pytest.approx(100 * MS, rel=1e-3)
    # Two passes for the 150 tokens from depth 100 on: to 200 and 250.
    assert why.bytes_per_prompt_token == pytest.approx((2 * 8_000_000 + 450 * 1000) / 150)


def test_a_prompt_of_few_tokens_does_not_tell_what_many_cost() -> None:
    few = explain(run(total=110, cached=100, ms_per_prompt_token=5), MODEL, FLOOR)
    assert few.read_rate == pytest.approx(200)
    assert few.longer_prompt_ns is None
    assert few.saved_ns is None
    known = PrefillPrior(0.0, 1e-9, base_ns=1 * MS)
    after = explain(run(total=110, cached=100, ms_per_prompt_token=5, prior=known), MODEL, FLOOR)
    assert after.saved_ns == pytest.approx(100 * MS, rel=0.1)


def test_what_is_missing_is_none() -> None:
    bare = explain(Run(RequestTaken(t=0, request=1, sampling=Sampling(), seed=0)), None)
    for name in bare.__struct_fields__:
        assert getattr(bare, name) is None, name
    unknown = explain(run(), msgspec.structs.replace(MODEL, weight_bytes_per_token=None, weight_bytes_per_pass=None))
    assert unknown.bytes_per_token is None
    assert unknown.bytes_per_prompt_token is None
    assert unknown.floor_ns is None
    one = explain(run(tokens=1), MODEL, FLOOR)
    assert (one.write_rate, one.ratio, one.bytes_per_token, one.floor_ns, one.longer_answer_ns) == (None,) * 5
    assert one.read_rate == pytest.approx(1000)


def test_a_prompt_that_was_cached_whole_says_nothing_of_reading() -> None:
    why = explain(run(total=250, cached=250), MODEL, FLOOR)
    assert (why.read_rate, why.ratio, why.bytes_per_prompt_token, why.longer_prompt_ns, why.saved_ns) == (None,) * 5
    assert why.cached_tokens == 250
    assert why.write_rate == pytest.approx(100)


def test_line_by_line() -> None:
    lines = facts(explain(run(), MODEL, FLOOR))
    by_label = {fact.label: fact for fact in lines}
    assert len(by_label) == len(lines)
    assert by_label["ratio"].value == pytest.approx(10)
    assert by_label["ratio"].unit == "times"
    assert by_label["saved by the cache"].value is None
    assert "100" in by_label["per prompt token"].note
    assert all(fact.value is None for fact in facts(explain(Run(run().taken), None)))


def test_what_is_foreseen_has_the_level_of_this_run_and_not_of_an_earlier_one() -> None:
    earlier = PrefillPrior(0.0, 1e-9, base_ns=10.0 * MS)
    why = explain(run(total=40, prior=earlier), MODEL, FLOOR)
    assert why.longer_prompt_ns == pytest.approx(40 * MS, rel=1e-3)


def test_a_handful_of_prompt_tokens_says_nothing_of_reading() -> None:
    why = explain(run(total=250, cached=240), MODEL, FLOOR)
    assert (why.ratio, why.longer_prompt_ns, why.saved_ns) == (None, None, None)
