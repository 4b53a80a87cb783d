"""A run taken in at once, or from another one, tells what it tells when its tokens come one by one."""

import random

import numpy as np
import pytest

from decodescope.backends.events import RequestTaken, Token
from decodescope.backends.requests import Sampling
from decodescope.backends.token_facts import Alternative, Kind, Part, Probability, Scheduling
from decodescope.metrics.run import Run

MS = 1_000_000
TAKEN = RequestTaken(t=0, request=1, sampling=Sampling(), seed=1)


def random_tokens(count: int, seed: int) -> list[Token]:
    """With bursts, missing facts, times that go back, and probabilities from somewhere on."""
    chance = random.Random(seed)
    tokens, t = [], 100 * MS
    probable_from = chance.choice([0, count // 2, count + 1])
    for index in range(1, count + 1):
        slow = chance.random() < 0.05
        gap = round(MS * chance.uniform(6, 8) * (chance.uniform(1.4, 30) if slow else 1))
        t += -3 * MS if chance.random() < 0.002 else gap
        wait = gap - 7 * MS if slow and chance.random() < 0.5 else 1000
        known = chance.random() < 0.9
        tokens.append(
            Token(
                t=t,
                index=index,
                id=index % 7,
                piece=b"ab"[: chance.randrange(3)],
                decode_ns=6 * MS,
                sample_ns=gap // 2 if slow and chance.random() < 0.3 else MS // 10,
                control=chance.random() < 0.01,
                thinking=index < count // 3,
                parts=None if chance.random() < 0.9 else _parts(index, chance),
                scheduling=Scheduling(
                    involuntary_switches=chance.randrange(40) if slow else 0,
                    minor_faults=chance.choice([0, 2000]),
                    major_faults=chance.choice([None, 0, 1]),
                    wait_ns=wait,
                    longest_wait_ns=chance.choice([None, wait]),
                    suspended_ns=chance.choice([None, None, 80_000_000]),
                    read_bytes=4096 if chance.random() < 0.01 else None,
                    cpu_ns=12 * MS,
                )
                if known
                else None,
                probability=Probability(
                    logprob=-chance.random(),
                    rank=1,
                    entropy_nats=1.0,
                    top=tuple(Alternative(place, b"x", -1.0) for place in range(chance.randrange(6))),
                    cost_ns=1000,
                )
                if index >= probable_from and index % 5
                else None,
            )
        )
    return tokens


def one_by_one(tokens: list[Token]) -> Run:
    run = Run(TAKEN)
    for token in tokens:
        run.apply(token)
    return run


def _parts(index: int, chance: random.Random) -> tuple[Part, ...]:
    kinds: list[Kind] = ["answer", "reasoning", "channel", "control"]
    return tuple(Part(index, chance.choice(kinds), 1) for _ in range(chance.randrange(3)))


def assert_same(one: Run, other: Run) -> None:
    for name in (
        *("token_times", "token_ids", "decode_ns", "sample_ns", "reasoning", "control", "paces", "causes"),
        *("outliers", "itl_ns"),
    ):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name)
    np.testing.assert_array_equal(one.kinds.answer, other.kinds.answer)
    np.testing.assert_array_equal(one.kinds.reasoned, other.kinds.reasoned)
    for name in ("last_pace", "last_cause", "usual_ns", "disturbance", "running_median_ns", "percentiles", "ttfa_ns"):
        assert getattr(one, name) == getattr(other, name), name
    assert one.facts.bytes_from_disk == other.facts.bytes_from_disk
    assert one.likelihood.known == other.likelihood.known
    for position in range(0, one.token_count, 7):
        assert one.facts.at(position) == other.facts.at(position)
        assert one.likelihood.at(position) == other.likelihood.at(position)
        assert one.piece(position) == other.piece(position)
        assert one.explain(position) == other.explain(position)


@pytest.mark.parametrize("count", [0, 1, 2, 8, 9, 10, 128, 129, 130, 700])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_at_once(count: int, seed: int) -> None:
    tokens = random_tokens(count, seed)
    run = Run(TAKEN)
    run.apply_tokens(tokens)
    assert_same(run, one_by_one(tokens))
    further = random_tokens(count + 20, seed)[count:]
    both = one_by_one(tokens)
    for token in further:
        run.apply(token)
        both.apply(token)
    assert_same(run, both)


@pytest.mark.parametrize("count", [0, 1, 2, 8, 9, 10, 33, 128, 129, 200, 699, 700])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_beginning_of_another_and_on_from_there(count: int, seed: int) -> None:
    tokens = random_tokens(700, seed)
    whole = Run(TAKEN)
    whole.apply_tokens(tokens)
    run = Run(TAKEN)
    run.take_tokens(whole, count)
    assert_same(run, one_by_one(tokens[:count]))
    for token in tokens[count : count + 200]:
        run.apply(token)
    assert_same(run, one_by_one(tokens[: count + 200]))
    assert whole.token_count == 700
