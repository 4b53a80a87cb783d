"""One generation from its events."""

import pytest
from msgspec.structs import replace

from decodescope.backends.events import (
    Event,
    Failed,
    Finished,
    FinishReason,
    LoadProgress,
    Log,
    PrefillProgress,
    PromptReady,
    RequestTaken,
    Stage,
    Token,
)
from decodescope.backends.requests import Sampling
from decodescope.backends.token_facts import Part
from decodescope.metrics.ending import ending
from decodescope.metrics.pace import Pace
from decodescope.metrics.run import Run

MS = 1_000_000


def taken(ms: float = 0) -> RequestTaken:
    return RequestTaken(t=round(ms * MS), request=1, prompt="x", sampling=Sampling(), seed=42)


def prompt(ms: float, total: int, cached: int = 0) -> PromptReady:
    return PromptReady(t=round(ms * MS), tokens=tuple(range(total)), cached=cached)


def progress(ms: float, processed: int, total: int, cached: int = 0) -> PrefillProgress:
    return PrefillProgress(t=round(ms * MS), processed=processed, cached=cached, total=total)


def token(ms: float, index: int, piece: bytes = b"x", *, thinking: bool = False, control: bool = False) -> Token:
    return Token(
        t=round(ms * MS),
        index=index,
        id=100 + index,
        piece=piece,
        decode_ns=index * 10,
        sample_ns=index,
        thinking=thinking,
        control=control,
    )


def finished(ms: float, reason: FinishReason = "stop") -> Finished:
    return Finished(t=round(ms * MS), reason=reason)


def failed(ms: float, stage: Stage = "generate") -> Failed:
    return Failed(t=round(ms * MS), stage=stage, what="It broke.")


def run_of(*events: Event, start_ms: float = 0) -> Run:
    run = Run(taken(start_ms))
    for event in events:
        run.apply(event)
    return run


def test_nothing_yet_is_none_everywhere() -> None:
    run = run_of()
    for name in (
        "prompt_tokens",
        "cached_tokens",
        "evaluated_tokens",
        "prefill_ns",
        "prefill_rate",
        "ttft_ns",
        "ttfa_ns",
        "tpot_ns",
        "e2e_ns",
        "decode_ns_total",
        "decode_rate",
        "percentiles",
        "running_median_ns",
        "finish_reason",
    ):
        assert getattr(run, name) is None, name
    assert run.recent_decode_rate() is None
    assert run.token_count == 0
    assert run.context_used == 0
    assert not run.prefill_done


def test_a_whole_generation() -> None:
    run = run_of(
        prompt(12, 300, cached=100),
        progress(62, 200, 300, cached=100),
        progress(112, 300, 300, cached=100),
        token(120, 1, b"Hel"),
        token(130, 2, b"lo"),
        token(150, 3, b"", control=True),
        finished(150.5),
        start_ms=10,
    )
    assert run.prompt_tokens == 300
    assert run.cached_tokens == 100
    assert run.evaluated_tokens == 200
    assert run.prefill_ns == 100 * MS  # 112 − 12
    assert run.prefill_rate == pytest.approx(2000)  # 200 tokens in 0.1 s; the cached ones cost nothing
    assert run.ttft_ns == 110 * MS  # 120 − 10
    assert run.ttfa_ns == 110 * MS
    assert run.tpot_ns == 15 * MS  # (150 − 120) / 2
    assert run.e2e_ns == 140 * MS  # 150 − 10
    assert run.decode_ns_total == 30 * MS
    assert run.decode_rate == pytest.approx(1000 / 15)
    assert run.itl_ns.tolist() == [10 * MS, 20 * MS]
    assert run.token_count == 3
    assert run.context_used == 303
    assert run.finish_reason == "stop"
    assert run.prefill_done


def test_columns_hold_what_the_tokens_said() -> None:
    run = run_of(
        token(1, 1, b"\xf0", thinking=True),
        token(2, 2, b"\x9f\xa6", thinking=True),
        token(3, 3, b"\x99"),
        token(4, 4, b"", control=True),
        token(5, 5, b"ab"),
    )
    assert run.token_times.tolist() == [1 * MS, 2 * MS, 3 * MS, 4 * MS, 5 * MS]
    assert run.token_ids.tolist() == [101, 102, 103, 104, 105]
    assert run.decode_ns.tolist() == [10, 20, 30, 40, 50]
    assert run.sample_ns.tolist() == [1, 2, 3, 4, 5]
    assert run.reasoning.tolist() == [1, 1, 0, 0, 0]
    assert run.control.tolist() == [0, 0, 0, 1, 0]
    assert [run.piece(position) for position in range(5)] == [b"\xf0", b"\x9f\xa6", b"\x99", b"", b"ab"]


def test_half_characters_and_control_tokens_are_counted_and_timed() -> None:
    run = run_of(token(10, 1, b"\xf0"), token(20, 2, b"\x9f\xa6"), token(30, 3, b"\x99"), token(40, 4, control=True))
    assert run.token_count == 4
    assert run.itl_ns.tolist() == [10 * MS] * 3


def test_one_token_has_a_ttft_and_no_pace_figures() -> None:
    run = run_of(token(1000, 1))
    assert run.ttft_ns == 1000 * MS
    assert run.tpot_ns is None
    assert run.decode_rate is None
    assert run.decode_ns_total is None
    assert run.percentiles is None
    assert run.recent_decode_rate() is None


def test_reasoning_then_answer() -> None:
    run = run_of(token(1000, 1, thinking=True), token(5000, 2))
    assert run.ttft_ns == 1000 * MS
    assert run.ttfa_ns == 5000 * MS


def test_ending_in_reasoning_has_no_first_answer() -> None:
    run = run_of(token(1000, 1, thinking=True), token(2000, 2, thinking=True), finished(2000, "length"))
    assert run.ttft_ns == 1000 * MS
    assert run.ttfa_ns is None


def test_a_token_is_what_it_turns_out_to_be() -> None:
    parts = (Part(1, "answer", 1), Part(2, "answer", 1), Part(3, "channel", 1, "x"))
    run = run_of(*(replace(token(at * 1000, at, thinking=True), parts=()) for at in (1, 2, 3)))
    assert (run.ttfa_ns, run.reasoning_tokens) == (None, 3)
    run.apply(replace(token(4000, 4), parts=parts))
    assert (run.ttfa_ns, run.reasoning.tolist(), run.kinds.answer.tolist()) == (1000 * MS, [0, 0, 0, 0], [1, 1, 0, 0])


def test_what_the_end_tells() -> None:
    run = run_of(replace(token(1000, 1, thinking=True), parts=()))
    run.apply(Finished(t=2000 * MS, reason="stop", parts=(Part(1, "answer", 1),)))
    assert (run.ttfa_ns, run.reasoning_closed) == (1000 * MS, None)


@pytest.mark.parametrize("unclosed", [True, False])
def test_reasoning_that_is_closed_or_not(unclosed: bool) -> None:
    run = run_of(token(1000, 1, thinking=True))
    assert run.reasoning_closed is None
    run.apply(Finished(t=2000 * MS, reason="stop", unclosed=unclosed))
    assert run.reasoning_closed is not unclosed
    assert ("not closed" in ending(run, "stop")) == unclosed
    assert ("no answer" in ending(run, "stop")) == unclosed


def test_an_answer_that_cannot_be_told() -> None:
    run = run_of(PromptReady(t=0, tokens=(1,), cached=0, reasoning_unknown=True), token(1000, 1))
    assert (run.ttft_ns, run.ttfa_ns) == (1000 * MS, None)


def test_progress_counts_only_what_is_computed() -> None:
    run = run_of(prompt(0, 237, cached=230), progress(10, 233, 237, cached=230))
    assert run.evaluated_tokens == 3  # of the 7 that the cache does not hold
    assert run.prefill_rate == pytest.approx(300)  # 3 tokens in 10 ms
    assert run.context_used == 233
    assert not run.prefill_done


def test_a_wholly_cached_prompt_divides_by_nothing() -> None:
    run = run_of(prompt(5, 230, cached=230), progress(5, 230, 230, cached=230), token(9, 1))
    assert run.evaluated_tokens == 0
    assert run.prefill_ns == 0
    assert run.prefill_rate is None
    assert run.prefill_done


def test_prefill_before_its_first_progress() -> None:
    run = run_of(prompt(5, 230, cached=10))
    assert run.evaluated_tokens == 0
    assert run.prefill_ns is None
    assert run.prefill_rate is None


def test_prefill_time_stops_with_the_last_prompt_token() -> None:
    run = run_of(prompt(0, 8), progress(4, 4, 8), progress(8, 8, 8), token(9, 1), token(500, 2))
    assert run.prefill_ns == 8 * MS


def test_a_cancelled_prefill_keeps_what_was_read() -> None:
    run = run_of(prompt(0, 8000), progress(200, 512, 8000), finished(205, "cancelled"))
    assert run.evaluated_tokens == 512
    assert run.prefill_ns == 200 * MS
    assert run.prefill_rate == pytest.approx(2560)
    assert run.ttft_ns is None
    assert run.finish_reason == "cancelled"
    assert not run.prefill_done


def test_recent_rate_looks_at_the_window_only() -> None:
    # Slow start, then 10 ms apart: the last 100 ms hold the tokens at 2000, 2010 … 2100: 10 gaps in 100 ms.
    slow = [token(index * 1000, index + 1) for index in range(2)]
    fast = [token(2000 + index * 10, index + 3) for index in range(11)]
    run = run_of(*slow, *fast)
    assert run.recent_decode_rate(100 * MS) == pytest.approx(100)
    # The whole run: 12 gaps in 2.1 s, and 2 s before the newest token begin at 100 ms, after the first token:
    # from the token at 1000 ms on, 11 gaps in 1.1 s.
    assert run.decode_rate == pytest.approx(12 / 2.1)
    assert run.recent_decode_rate() == pytest.approx(10)


def test_recent_rate_takes_two_tokens_when_the_window_is_shorter_than_a_gap() -> None:
    run = run_of(token(0, 1), token(100, 2), token(5100, 3))
    assert run.recent_decode_rate(1000 * MS) == pytest.approx(0.2)  # one gap of 5 s


def test_recent_rate_of_tokens_at_one_moment_is_none() -> None:
    run = run_of(token(10, 1), token(10, 2))
    assert run.recent_decode_rate() is None
    assert run.decode_rate is None
    assert run.tpot_ns == 0.0


def test_each_token_is_paced_by_the_gaps_before_it() -> None:
    run = Run(taken())
    paces = []
    # Gaps: 10, 10, 10, then 40 (4 medians: SLOWER), then 10 again, then 200 (20 medians: SLOWEST), then 16 (SLOW).
    for index, ms in enumerate((0, 10, 20, 30, 70, 80, 280, 296), start=1):
        run.apply(token(ms, index))
        paces.append(run.last_pace)
    ordinary, slow, slower, slowest = Pace
    assert paces == [ordinary, ordinary, ordinary, ordinary, slower, ordinary, slowest, slow]
    assert run.running_median_ns == 10 * MS


def test_the_running_median_agrees_with_the_percentiles_while_there_are_few() -> None:
    run = run_of(*(token(ms, index) for index, ms in enumerate((0, 7, 15, 24, 40), start=1)))
    figures = run.percentiles
    assert figures is not None
    assert figures.p50 == 8.5 * MS  # gaps 7, 8, 9, 16
    assert run.running_median_ns == 8.5 * MS


def test_once_a_run_is_over_its_median_is_exact() -> None:
    # 39 gaps of 64 ms, more than are kept one by one.
    run = run_of(*(token(64 * index, index) for index in range(1, 41)))
    assert run.running_median_ns != 64 * MS
    assert run.median_ns == run.running_median_ns
    run.apply(finished(64 * 41))
    assert run.median_ns == 64 * MS
    assert run_of(token(1, 1), finished(2)).median_ns is None


def test_events_of_the_engine_change_nothing() -> None:
    events: list[Event] = [prompt(0, 4), progress(4, 4, 4), token(5, 1), token(6, 2)]
    plain = run_of(*events)
    noisy = Run(taken())
    for event in events:
        noisy.apply(LoadProgress(t=0, fraction=0.5))
        noisy.apply(Log(t=0, level="warning", text="context shifted"))
        noisy.apply(event)
    assert noisy.token_times.tolist() == plain.token_times.tolist()
    assert noisy.prefill_ns == plain.prefill_ns
    assert noisy.finish_reason is None


@pytest.mark.parametrize("reason", ["stop", "length", "context", "cancelled"])
def test_the_reason_is_the_engine_s(reason: FinishReason) -> None:
    assert run_of(token(1, 1), finished(2, reason)).finish_reason == reason


def test_a_failure_keeps_the_partial_answer_and_its_figures() -> None:
    run = run_of(token(10, 1, b"half"), token(20, 2, b" an"), failed(25, "engine"))
    assert run.finish_reason == "failed"
    assert run.piece(0) + run.piece(1) == b"half an"
    assert run.tpot_ns == 10 * MS


def test_an_engine_that_dies_later_does_not_change_how_the_run_ended() -> None:
    run = run_of(token(10, 1), finished(11), failed(9000, "engine"))
    assert run.finish_reason == "stop"
