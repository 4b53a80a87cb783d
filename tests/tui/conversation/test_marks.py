"""The classes of every lens, by hand."""

import math

import numpy as np
import pytest

from decodescope.metrics.disturbance import Cause
from decodescope.metrics.run import Run
from decodescope.tui.conversation.marks import (
    DISTURBED_LOOK,
    degree,
    is_computed,
    is_disturbed,
    looks,
    marks_of,
    pack,
)
from decodescope.tui.lens import OF_A_RUN, Lens

from ..fakes import MS, answer, taken, token

NAN = math.nan


def one(pace: int = 0, disturbed: bool = False, chance: float = NAN, bits: float = NAN) -> int:
    return int(pack([pace], [disturbed], [math.log(chance)], [bits * math.log(2)])[0])


@pytest.mark.parametrize(
    ("chance", "expected"),
    [(1.0, 0), (0.21, 0), (0.19, 1), (0.051, 1), (0.049, 2), (0.0101, 2), (0.0099, 3), (1e-9, 3)],
)
def test_unlikely_tokens_depart(chance: float, expected: int) -> None:
    assert degree(one(chance=chance, bits=1), Lens.PROBABILITY) == expected


@pytest.mark.parametrize(("bits", "expected"), [(0, 0), (3.99, 0), (4.01, 1), (4.99, 1), (5.01, 2), (6.01, 3), (15, 3)])
def test_an_unsure_model_departs(bits: float, expected: int) -> None:
    assert degree(one(chance=0.9, bits=bits), Lens.ENTROPY) == expected


def test_what_was_not_computed_is_ordinary_and_known_to_be_missing() -> None:
    missing, likely = one(pace=3), one(chance=0.9, bits=0.1)
    assert [degree(missing, lens) for lens in OF_A_RUN] == [3, 0, 0]
    assert not is_computed(missing)
    assert is_computed(likely)


def test_every_lens_keeps_its_own_class() -> None:
    for pace in range(4):
        for disturbed in (False, True):
            for unlikely, chance in enumerate((0.9, 0.1, 0.02, 0.001)):
                for unsure, bits in enumerate((1, 4.5, 5.5, 7)):
                    marks = one(pace, disturbed, chance, bits)
                    assert [degree(marks, lens) for lens in OF_A_RUN] == [pace, unlikely, unsure]
                    assert is_disturbed(marks) == disturbed
                    disturbed_look = DISTURBED_LOOK if disturbed else 0
                    assert [looks(lens)[marks] for lens in OF_A_RUN] == [pace | disturbed_look, unlikely, unsure]


def test_many_tokens_at_once() -> None:
    packed = pack(
        np.array([0, 1, 2]), np.array([False, True, False]), np.array([-0.1, NAN, -5.0]), np.array([0.1, NAN, 9.0])
    )
    assert packed.dtype == np.uint8
    assert packed.shape == (3,)
    assert [degree(int(marks), Lens.PROBABILITY) for marks in packed] == [0, 0, 3]
    assert pack([], [], [], []).shape == (0,)


def test_the_lenses_go_round() -> None:
    order = [Lens.TIME]
    while len(order) < 4:
        order.append(order[-1].following())
    assert order == [Lens.TIME, Lens.PROBABILITY, Lens.ENTROPY, Lens.TIME]
    assert [lens.needs_facts for lens in Lens] == [False, True, True, False]


def test_a_run_without_probabilities_has_the_marks_of_one_in_which_none_was_computed() -> None:
    run = Run(taken())
    for event in answer([b"a"] * 100)[1:]:
        run.apply(event)
    run.apply(token(2_000 * MS, 101, b"slow"))
    causes = run.causes
    disturbed = (causes != Cause.NONE) & (causes != Cause.UNKNOWN)
    nothing = np.full(run.token_count, np.nan)
    assert marks_of(run).tolist() == pack(run.paces, disturbed, nothing, nothing).tolist()
    assert marks_of(run, 90, 95).tolist() == marks_of(run).tolist()[90:95]
    assert degree(int(marks_of(run)[-1]), Lens.TIME) == 3
