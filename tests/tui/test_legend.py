"""What the legend says, and in how many cells."""

import math

import pytest

from decodescope.metrics.run import Run
from decodescope.tui.conversation.legend import Computed, legend
from decodescope.tui.lens import Lens

from .fakes import MS, likely, taken, token

NOTHING = Computed(tokens=100, known=0, first=None, cost_ns=None)
NEVER = Computed(tokens=100, known=0, first=None, cost_ns=None, recorded=True)
SOME = Computed(tokens=100, known=44, first=57, cost_ns=0.23 * MS)
ALL = Computed(tokens=100, known=100, first=1, cost_ns=0.23 * MS)
HOLES = Computed(tokens=1_000, known=44, first=57, cost_ns=0.23 * MS)


@pytest.mark.parametrize(
    ("lens", "computed", "room", "expected"),
    [
        (Lens.TIME, NOTHING, 99, "slow ≥ 1.5×  slower ≥ 3×  slowest ≥ 10× the median  disturbed"),
        (Lens.TIME, NOTHING, 60, "time ≥1.5× ≥3× ≥10× median"),
        (Lens.PROBABILITY, ALL, 99, "less likely < 20 %  unlikely < 5 %  surprising < 1 %  costs 0.2 ms a token"),
        (
            Lens.PROBABILITY,
            SOME,
            99,
            "less likely < 20 %  unlikely < 5 %  surprising < 1 %  from token 57 on  costs 0.2 ms a token",
        ),
        (Lens.PROBABILITY, SOME, 73, "less likely < 20 %  unlikely < 5 %  surprising < 1 %  from token 57 on"),
        (Lens.PROBABILITY, HOLES, 73, "less likely < 20 %  unlikely < 5 %  surprising < 1 %  44 of 1,000"),
        (Lens.PROBABILITY, NOTHING, 73, "less likely < 20 %  unlikely < 5 %  surprising < 1 %  not computed yet"),
        (Lens.PROBABILITY, NEVER, 73, "less likely < 20 %  unlikely < 5 %  surprising < 1 %  not recorded"),
        (Lens.PROBABILITY, NEVER, 30, "probability: not recorded"),
        (Lens.PROBABILITY, SOME, 30, "prob <20% <5% <1% from #57"),
        (Lens.PROBABILITY, ALL, 30, "prob <20% <5% <1% +0.2 ms"),
        (Lens.PROBABILITY, NOTHING, 30, "probability: not computed"),
        (Lens.ENTROPY, ALL, 99, "unsure ≥ 4  torn ≥ 5  guessing ≥ 6 bits  costs 0.2 ms a token"),
        (Lens.ENTROPY, ALL, 30, "entropy ≥4 ≥5 ≥6 bits +0.2 ms"),
        (Lens.ENTROPY, NOTHING, 30, "entropy: not computed"),
        (Lens.ENTROPY, NOTHING, 10, ""),
        (Lens.DIVERGENCE, NOTHING, 99, "shifted ≥ 0.5  different ≥ 1  contrary ≥ 2 nats  other top"),
        (Lens.DIVERGENCE, NOTHING, 30, "KLD ≥0.5 ≥1 ≥2 nats other top"),
    ],
)
def test_what_it_says(lens: Lens, computed: Computed, room: int, expected: str) -> None:
    assert legend(lens, room, computed).plain == expected


@pytest.mark.parametrize("lens", Lens)
@pytest.mark.parametrize("computed", [NOTHING, NEVER, SOME, ALL, HOLES])
def test_it_is_never_longer_than_its_room(lens: Lens, computed: Computed) -> None:
    for room in range(120):
        assert legend(lens, room, computed).cell_length <= room


def test_there_is_one_where_80_columns_leave_30_cells() -> None:
    for lens in Lens:
        for computed in (NOTHING, SOME, ALL):
            assert legend(lens, 30, computed).plain


def test_before_the_first_token_nothing_is_missing() -> None:
    assert legend(Lens.PROBABILITY, 99, Computed.of(None)).plain.endswith("< 1 %")


def test_what_is_known_of_a_run() -> None:
    run = Run(taken())
    for index in range(1, 11):
        facts = likely(-0.5, cost_ns=index * MS) if index >= 7 else None
        run.apply(token(index * MS, index, b"x", probability=facts))
    # The mean of 7, 8, 9 and 10 ms.
    assert Computed.of(run) == Computed(tokens=10, known=4, first=7, cost_ns=8.5 * MS)
    assert math.isnan(run.likelihood.logprobs[0])
