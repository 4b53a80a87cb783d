"""Which tokens were disturbed, and what is said about them."""

import random
from typing import Any

import numpy as np
import pytest

from decodescope.backends.events import Token
from decodescope.metrics.disturbance import Cause, disturbance
from decodescope.metrics.run import Run

from .tokens import MS, gap, run_with, waiting


def steady(count: int, ms: float = 6.6) -> list[dict[str, Any]]:
    return [gap(ms, involuntary_switches=0, wait_ns=0, longest_wait_ns=0, minor_faults=0, major_faults=0)] * count


def marked(run: Run) -> list[int]:
    return np.flatnonzero(run.outliers).tolist()


def test_a_steady_run_has_no_outlier() -> None:
    generator = random.Random(1)
    run = run_with(gap(generator.gauss(6.6, 0.2)) for _ in range(2000))
    assert marked(run) == []
    found = run.disturbance
    assert found is not None
    assert (found.tokens, found.disturbed, found.lost_ns, found.share, found.quotable) == (2000, 0, 0, 0.0, True)
    assert found.sentence == "no token disturbed"


def test_no_token_and_one_token() -> None:
    empty = run_with()
    assert marked(empty) == []
    assert empty.disturbance is None
    assert empty.usual_ns is None
    assert empty.explain(0) == "100 ms since the request was taken: template, prompt and first sample"


def test_a_slow_token_among_few_is_not_judged_too_early() -> None:
    run = run_with(steady(3), waiting(66, 60))
    assert marked(run) == []
    assert run.disturbance is None
    assert run.explain(4) == "66.0 ms; too few tokens yet to tell what is usual"


def test_the_first_gaps_are_judged_once_there_are_enough() -> None:
    run = run_with(waiting(66, 60), steady(6))
    assert marked(run) == []
    run = run_with(waiting(66, 60), steady(7))
    assert marked(run) == [1]
    assert run.causes.tolist() == [0, Cause.PREEMPTED] + [0] * 7


def test_a_pre_empted_token_is_named_with_its_numbers() -> None:
    # 92 ms beside 5.4 ms: 17 times as long. 86.6 ms too many, of which a thread waited 82.
    run = run_with(steady(40, 5.4), waiting(92, 82, switches=37), steady(10, 5.4))
    assert marked(run) == [41]
    assert (
        run.explain(41) == "92.0 ms, 17× the usual 5.4 ms: pre-empted 37 times,"
        " a thread waited 82.0 ms for a core, others had the cores"
    )
    assert run.explain(40) == "5.4 ms, usual here: 5.4 ms"


def test_every_token_disturbed_and_the_baseline_still_right() -> None:
    """As with one core kept busy: no token was left alone, each waited for what it took beyond 10 ms."""
    generator = random.Random(2)
    times = [generator.choice((20.0, 24.0, 30.0, 150.0)) for _ in range(300)]
    run = run_with(waiting(ms, ms - 10 + generator.uniform(-0.5, 0.5)) for ms in times)
    assert run.usual_ns == pytest.approx(10 * MS, rel=0.05)
    assert len(marked(run)) == 300
    assert set(run.causes[1:].tolist()) == {Cause.PREEMPTED}
    found = run.disturbance
    assert found is not None
    assert not found.quotable
    assert found.share == pytest.approx(1 - 10 * 300 / sum(times), abs=0.01)


def test_most_tokens_disturbed_where_waits_are_not_told() -> None:
    """Two of three, as a platform tells that only knows switches."""
    quiet = gap(10, involuntary_switches=1)
    slow = gap(80, involuntary_switches=40)
    kinds = [slow, quiet, slow] * 130
    run = run_with(kinds)
    assert run.usual_ns == 10 * MS
    assert marked(run) == [place for place, kind in enumerate(kinds, 1) if kind is slow]
    assert run.explain(marked(run)[0]).endswith("pre-empted 40 times, others had the cores")


def test_a_majority_without_any_facts_is_unknown() -> None:
    run = run_with([gap(80), gap(10), gap(80)] * 130)
    assert run.usual_ns == 10 * MS
    assert set(run.causes.tolist()) == {Cause.NONE, Cause.UNKNOWN}
    assert run.explain(marked(run)[0]) == "80.0 ms, 8.0× the usual 10.0 ms: cause unknown, 80.0 ms of it in decode"


def test_slow_growth_with_the_context_is_usual() -> None:
    # From 6 to 30 ms over 4,000 tokens.
    run = run_with(gap(6 + place * 0.006) for place in range(4000))
    assert marked(run) == []


def test_a_new_level_becomes_usual() -> None:
    run = run_with(steady(500), steady(500, 20))
    assert max(marked(run)) < 500 + 128
    assert run.usual_ns == 20 * MS


CAUSES: dict[Cause, tuple[dict[str, Any], str]] = {
    Cause.PAGE_IN: (
        gap(92, major_faults=15_616, minor_faults=3, read_bytes=61 * 2**20, wait_ns=0, longest_wait_ns=0),
        "61 MiB read from disk (15,616 major faults)",
    ),
    Cause.SUSPENDED: (
        gap(92, major_faults=3, suspended_ns=85 * MS, wait_ns=0, longest_wait_ns=0),
        "suspended for 0.1 s: the engine was stopped, or the machine was asleep",
    ),
    Cause.FIRST_TOUCH: (
        gap(92, major_faults=0, minor_faults=24_000, wait_ns=0, longest_wait_ns=0),
        "24,000 pages touched for the first time (minor faults)",
    ),
    Cause.SAMPLING: (gap(92, sample=80), "sampling took 80.0 ms"),
    Cause.REST: (gap(92, rest=80), "80.0 ms of it outside decode and sampling"),
    Cause.PROBABILITIES: (gap(92, cost=81), "computing probabilities took 81.0 ms"),
    Cause.UNKNOWN: (
        gap(92, major_faults=0, minor_faults=999, involuntary_switches=4, wait_ns=MS, longest_wait_ns=MS),
        "cause unknown, 92.0 ms of it in decode",
    ),
}


@pytest.mark.parametrize("cause", CAUSES, ids=lambda cause: cause.name)
def test_each_cause_is_named_by_its_fact(cause: Cause) -> None:
    fields, words = CAUSES[cause]
    run = run_with(steady(40), fields, steady(3))
    assert run.causes[41] == cause
    assert run.explain(41) == f"92.0 ms, 14× the usual 6.6 ms: {words}"
    assert marked(run) == [41]


def test_a_run_that_was_suspended_is_not_to_be_quoted_and_says_for_how_long() -> None:
    run = run_with(steady(200), gap(5000, suspended_ns=4993 * MS), steady(200))
    found = run.disturbance
    assert found is not None
    assert found.causes == {Cause.SUSPENDED: 1}
    assert found.suspended_ns == 4993 * MS
    assert found.lost_ns == pytest.approx(4993.4 * MS)
    assert not found.quotable
    assert found.sentence.endswith("% of the time lost, suspended for 5.0 s")


def test_pages_from_the_disk_without_their_bytes() -> None:
    run = run_with(steady(40), gap(92, major_faults=1))
    assert run.explain(41).endswith(": 1 major fault, read from disk")


def test_a_fact_that_does_not_account_for_it_is_not_its_cause() -> None:
    # 85.4 ms too many: 10 ms of waiting, 20 ms of sampling and 20 ms elsewhere are no half of it.
    short = gap(92, sample=20, rest=20, wait_ns=10 * MS, longest_wait_ns=10 * MS, involuntary_switches=50)
    assert run_with(steady(40), short).causes[41] == Cause.UNKNOWN


def test_many_short_waits_at_once_are_no_long_one() -> None:
    # 32 threads, 2 ms each at the same time: 64 ms together, and 2 ms lost.
    many = gap(92, wait_ns=64 * MS, longest_wait_ns=2 * MS, involuntary_switches=50)
    assert run_with(steady(40), many).causes[41] == Cause.UNKNOWN


@pytest.mark.parametrize(
    ("token", "expected"),
    [
        (waiting(9.89, 3), Cause.NONE),  # 1.5 × 6.6 = 9.9
        (waiting(9.91, 3), Cause.PREEMPTED),
        (gap(13.19), Cause.NONE),  # 2 × 6.6 = 13.2
        (gap(13.21), Cause.UNKNOWN),
    ],
)
def test_known_causes_count_from_one_and_a_half_and_others_from_twice(token: dict[str, Any], expected: Cause) -> None:
    assert run_with(steady(40), token).causes[41] == expected


def test_the_newest_cause_is_at_hand() -> None:
    run = run_with(steady(40), waiting(92, 82))
    causes = [run.last_cause]
    run.apply(Token(t=int(run.token_times[-1]) + 7 * MS, index=43, id=1, piece=b"", decode_ns=7 * MS, sample_ns=0))
    causes.append(run.last_cause)
    assert causes == [Cause.PREEMPTED, Cause.NONE]


def test_the_summary_is_the_sum() -> None:
    gaps = np.array([10, 10, 30, 50, 10, 10], dtype=np.int64)
    usual = np.full(6, 10, dtype=np.int64)
    causes = np.array([0, 0, Cause.UNKNOWN, Cause.PREEMPTED, 0, 0], dtype=np.int8)
    found = disturbance(gaps, usual, causes)
    assert found is not None
    assert (found.tokens, found.disturbed, found.lost_ns) == (6, 2, 60)  # 20 + 40
    assert found.share == 0.5  # of 120
    assert found.causes == {Cause.PREEMPTED: 1, Cause.UNKNOWN: 1}
    assert found.sentence == "2 of 6 tokens disturbed, 50 % of the time lost"


@pytest.mark.parametrize(("slow", "quotable"), [(62, True), (63, False)])
def test_a_run_that_lost_more_than_a_twentieth_is_not_quotable(slow: int, quotable: bool) -> None:
    # 99 gaps of 10 ms and one slow one: 52 / 1,042 lost is 4.99 %, 53 / 1,053 is 5.03 %.
    gaps = np.array([10] * 99 + [slow], dtype=np.int64)
    usual = np.full(100, 10, dtype=np.int64)
    found = disturbance(gaps, usual, np.array([0] * 99 + [Cause.UNKNOWN], dtype=np.int8))
    assert found is not None
    assert found.quotable is quotable


def test_a_share_that_is_not_nothing_is_not_called_nothing() -> None:
    run = run_with(steady(2000), gap(14))
    found = run.disturbance
    assert found is not None
    assert found.sentence == "1 of 2,001 tokens disturbed, less than 1 % of the time lost"


def test_no_time_at_all_is_no_disturbance() -> None:
    assert disturbance(np.zeros(9, np.int64), np.zeros(9, np.int64), np.zeros(9, np.int8)) is None
    run = run_with([gap(0)] * 20)
    assert marked(run) == []
    assert run.disturbance is None
