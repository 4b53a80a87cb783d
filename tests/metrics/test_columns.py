"""Facts as columns: what goes in comes out, and little memory is taken."""

import sys
import tracemalloc

import numpy as np
import pytest

from decodescope.backends.events import RequestTaken, Token
from decodescope.backends.requests import Sampling
from decodescope.backends.token_facts import Alternative, Probability, Scheduling
from decodescope.metrics.fact_columns import UNKNOWN, FactColumns
from decodescope.metrics.likelihood import Likelihood
from decodescope.metrics.run import Run

FACTS = (
    Scheduling(involuntary_switches=0, voluntary_switches=2, minor_faults=3, major_faults=0, cpu_ns=12_000_000),
    None,
    Scheduling(major_faults=7, read_bytes=2**40, wait_ns=9, longest_wait_ns=5),
    Scheduling(minor_faults=2**40),
    Scheduling(cpu_ns=5, suspended_ns=5_000_000_000),
)


def test_scheduling_facts_come_back_and_missing_ones_are_not_zero() -> None:
    columns = FactColumns()
    for facts in FACTS:
        columns.append(facts)
    assert [columns.at(place) for place in (0, 1, 2, 4)] == [FACTS[0], Scheduling(), FACTS[2], FACTS[4]]
    assert columns.involuntary_switches.tolist() == [0, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN]
    assert columns.voluntary_switches.tolist() == [2, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN]
    assert columns.minor_faults.tolist() == [3, UNKNOWN, UNKNOWN, 2**31 - 1, UNKNOWN]
    assert columns.major_faults.tolist() == [0, UNKNOWN, 7, UNKNOWN, UNKNOWN]
    assert columns.wait_ns.tolist() == [UNKNOWN, UNKNOWN, 9, UNKNOWN, UNKNOWN]
    assert columns.longest_wait_ns.tolist() == [UNKNOWN, UNKNOWN, 5, UNKNOWN, UNKNOWN]
    assert columns.cpu_ns.tolist() == [12_000_000, UNKNOWN, UNKNOWN, UNKNOWN, 5]


def probability(rank: int = 2) -> Probability:
    # Numbers that single precision holds exactly.
    top = (Alternative(7, b" the", -0.5), Alternative(9, b"\xf0", -1.25))
    return Probability(logprob=-1.25, rank=rank, entropy_nats=1.5, top=top, cost_ns=210_000)


def test_probability_facts_come_back_and_may_begin_late_and_end() -> None:
    likelihood = Likelihood()
    for facts in (None, None, probability(), probability(rank=6), None):
        likelihood.append(facts)
    assert likelihood.known
    assert [likelihood.at(place) for place in range(5)] == [None, None, probability(), probability(rank=6), None]
    assert likelihood.ranks.tolist() == [0, 0, 2, 6, 0]
    assert likelihood.logprobs[2:4].tolist() == [-1.25, -1.25]
    assert likelihood.entropies[2:4].tolist() == [1.5, 1.5]
    assert np.isnan(likelihood.logprobs[[0, 1, 4]]).all()
    assert likelihood.cost_ns(2) == 210_000
    assert likelihood.cost_ns(0) is None


def test_without_probabilities_there_are_none() -> None:
    likelihood = Likelihood()
    for _ in range(3):
        likelihood.append(None)
    assert not likelihood.known
    assert np.isnan(likelihood.logprobs).tolist() == [True] * 3
    assert np.isnan(likelihood.entropies).tolist() == [True] * 3
    assert likelihood.ranks.tolist() == [0, 0, 0]
    assert likelihood.at(1) is None
    assert likelihood.cost_ns(1) is None


@pytest.mark.skipif(sys.gettrace() is not None, reason="a tracer would be counted as well")
def test_a_token_with_its_facts_is_a_row_of_numbers() -> None:
    facts = Scheduling(
        involuntary_switches=3,
        voluntary_switches=2,
        minor_faults=1,
        major_faults=0,
        wait_ns=4,
        longest_wait_ns=4,
        cpu_ns=5,
    )
    tracemalloc.start()
    try:
        run = Run(RequestTaken(t=0, request=1, sampling=Sampling(), seed=1))
        for index in range(1, 2**14 + 1):
            run.apply(Token(t=index * 7, index=index, id=1, piece=b"abcd", decode_ns=6, sample_ns=1, scheduling=facts))
        used, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    # 10 columns of 8 bytes that a run always has, and for the facts 4 of 8, 4 of 4 and 1 of 1 byte. The rest is text
    # and what does not grow.
    rows = 2**14
    assert used < rows * (10 * 8 + 4 * 8 + 4 * 4 + 1) + 2**18
