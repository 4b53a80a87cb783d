"""Which rounds and lanes count, who wins, and what is said of it; sums by hand."""

import math

import pytest

from decodescope.backends.events import Failed, Quantized
from decodescope.backends.token_facts import Scheduling
from decodescope.comparison.figures import Results, Spread
from decodescope.comparison.lane import Lane, LanePhase
from decodescope.comparison.results import results
from decodescope.comparison.table import columns

from .lanes import MIB, MS, a_lane, a_round

SLOW = (10.0, 10.1, 9.9, 10.05, 9.95)
FAST = (8.0, 8.08, 7.92, 7.96, 8.04)
BROKEN = Failed(t=0, stage="load", what="The model could not be loaded.", reason="log\nout of memory")


def compared(*lanes: Lane, together: bool = False, so_far: bool = False) -> Results:
    return results(lanes, together=together, so_far=so_far)


def test_the_faster_of_two_is_named_with_its_interval() -> None:
    found = compared(a_lane(0, "Q8_0", *SLOW), a_lane(1, "Q4_0", *FAST))
    assert found.winner == 1
    assert found.verdict == "Q4_0 writes 1.25× as fast as Q8_0 (95 % interval 1.24 to 1.26)."
    ratio = found.rows[1].decode_ratio
    assert ratio is not None
    assert ratio.value == pytest.approx(math.prod(a / b for a, b in zip(SLOW, FAST, strict=True)) ** 0.2)
    assert found.rows[0].decode_ratio is None
    assert found.notes == ()


def test_a_row_has_the_median_and_the_spread_of_its_rounds() -> None:
    row = compared(a_lane(0, "Q8_0", 10, 12.5, 8)).rows[0]
    assert row.decode_rate == Spread(100.0, 80.0, 125.0, 3)
    assert row.itl_p50_ns == Spread(10 * MS, 8 * MS, 12.5 * MS, 3)
    assert row.ttft_ns == Spread(110 * MS, 110 * MS, 110 * MS, 3)  # 100 ms of prefill, 10 ms to the first token
    assert row.prefill_rate == Spread(1000.0, 1000.0, 1000.0, 3)  # 100 tokens in 0.1 s
    # 4 characters a token of 10 ms; those of the first token are left out as its time is.
    assert row.characters_rate == Spread(400.0, 320.0, 500.0, 3)
    assert (row.bytes, row.load_ns, row.rounds, row.unranked) == (100 * MIB, 200 * MS, 3, "")


def test_no_difference_is_shown_where_rounds_disagree() -> None:
    found = compared(a_lane(0, "Q8_0", *SLOW), a_lane(1, "Q4_0", 9.0, 10.9, 9.4, 10.3, 9.9))
    assert found.winner is None
    assert found.verdict.startswith("No difference shown: Q4_0 writes 1.01× as fast as Q8_0 (95 % interval 0.9")
    ratio = found.rows[1].decode_ratio
    assert ratio is not None
    assert not ratio.shown


def test_a_difference_too_small_to_be_written_makes_no_winner() -> None:
    found = compared(a_lane(0, "Q8_0", 10, 10, 10), a_lane(1, "Q4_0", 9.98, 9.98, 9.98))
    assert found.winner is None
    assert found.verdict == (
        "No difference to speak of: Q4_0 writes 1.00× as fast as Q8_0 (95 % interval 1.00 to 1.00)."
    )


def test_the_same_times_are_no_difference() -> None:
    found = compared(a_lane(0, "a", 10, 10, 10), a_lane(1, "b", 10, 10, 10))
    assert found.winner is None
    assert found.verdict == "No difference shown: b writes 1.00× as fast as a (95 % interval 1.00 to 1.00)."


def test_one_round_names_nobody() -> None:
    found = compared(a_lane(0, "Q8_0", 10), a_lane(1, "Q4_0", 8))
    assert found.winner is None
    assert found.verdict == (
        "One round: Q4_0 wrote 1.25× as fast as Q8_0, which may be chance; three rounds or more can show a difference."
    )
    ratio = found.rows[1].decode_ratio
    assert ratio is not None
    assert (ratio.low, ratio.high, ratio.shown) == (None, None, False)
    assert ratio.value == pytest.approx(1.25)


def test_one_round_is_not_the_last_while_more_come() -> None:
    lanes = a_lane(0, "Q8_0", 10), a_lane(1, "Q4_0", 8)
    assert compared(*lanes, so_far=True).verdict == (
        "One round so far: Q4_0 wrote 1.25× as fast as Q8_0, which may be chance."
    )


def test_of_several_rounds_only_one_counts() -> None:
    """As after a cancel in the second round."""
    found = compared(a_lane(0, "Q8_0", 10, a_round(10, number=2, end="cancelled")), a_lane(1, "Q4_0", 8))
    assert found.verdict.startswith("Only one round counts: Q4_0 wrote 1.25× as fast as Q8_0, ")


def test_one_round_is_told_as_the_table_has_it() -> None:
    found = compared(a_lane(0, "Q8_0", 8), a_lane(1, "Q4_0", 10))
    assert found.verdict.startswith("One round: Q4_0 wrote 0.80× as fast as Q8_0, ")
    assert found.rows[1].decode_ratio is not None
    assert found.rows[1].decode_ratio.value == pytest.approx(0.8)


def test_the_fastest_of_several_beats_each_of_them() -> None:
    faster = [ms * 0.5 for ms in SLOW]
    found = compared(a_lane(0, "Q8_0", *SLOW), a_lane(1, "Q4_0", *FAST), a_lane(2, "Q2_K", *faster))
    assert found.winner == 2
    assert found.verdict == (
        "Q2_K is the fastest of 3: it writes 1.60× as fast as Q4_0, the next (95 % interval 1.59 to 1.61),"
        " and 2.00× as fast as Q8_0, the reference (95 % interval 2.00 to 2.00)."
    )


def test_who_ties_with_the_fastest_is_named_and_who_is_slower_too() -> None:
    tied = (8.04, 7.96, 8.0, 8.08, 7.92)
    found = compared(a_lane(0, "Q8_0", *SLOW), a_lane(1, "Q4_0", *FAST), a_lane(2, "Q4_K", *tied))
    assert found.winner is None
    assert "No difference shown: Q4_" in found.verdict
    assert found.verdict.endswith("shown to be slower than Q4_0: Q8_0.") or found.verdict.endswith(
        "shown to be slower than Q4_K: Q8_0."
    )


def test_a_cold_round_is_marked_and_left_out() -> None:
    paged = Scheduling(major_faults=1500, read_bytes=6 * MIB)  # 6 % of the weights
    found = compared(a_lane(0, "Q8_0", a_round(20, facts=paged), 10, 10.1), a_lane(1, "Q4_0", 8, 8.1, 8))
    row = found.rows[0]
    assert [one.left_out for one in row.all_rounds] == ["cold", "", ""]
    assert row.rounds == 2
    assert row.decode_rate is not None
    assert row.decode_rate.least == pytest.approx(1000 / 10.1)
    assert found.notes == (
        "Q8_0: round 1 was cold (it waited for the disk, or for what only a first round waits for), and left out.",
    )
    ratio = found.rows[1].decode_ratio
    assert ratio is not None
    assert ratio.value == pytest.approx(math.sqrt(10 / 8.1 * 10.1 / 8))  # rounds 2 and 3


def test_a_little_from_the_disk_is_not_cold() -> None:
    paged = Scheduling(major_faults=100, read_bytes=4 * MIB)
    assert compared(a_lane(0, "Q8_0", a_round(facts=paged))).rows[0].unranked == ""


def test_faults_without_their_bytes_are_a_page_each() -> None:
    # 1,280 pages of 4 KiB are 5 MiB, 5 % of the weights.
    for faults, why in ((1279, ""), (1280, "cold")):
        lane = a_lane(0, "Q8_0", a_round(facts=Scheduling(major_faults=faults)))
        assert compared(lane).rows[0].unranked == why


def test_a_first_round_twice_as_slow_is_cold_even_without_facts() -> None:
    assert [one.left_out for one in compared(a_lane(0, "a", 20, 10, 10)).rows[0].all_rounds] == ["cold", "", ""]
    assert [one.left_out for one in compared(a_lane(0, "a", 14, 10, 10)).rows[0].all_rounds] == ["", "", ""]
    # Of two rounds nobody knows which is the ordinary one, and a later one is not cold.
    assert [one.left_out for one in compared(a_lane(0, "a", 20, 10)).rows[0].all_rounds] == ["", ""]
    assert [one.left_out for one in compared(a_lane(0, "a", 10, 20, 10)).rows[0].all_rounds] == ["", "", ""]
    slow_reading = a_lane(0, "a", a_round(prefill=160), 10, 10)
    assert [one.left_out for one in compared(slow_reading).rows[0].all_rounds] == ["cold", "", ""]
    # Nine tokens read say nothing.
    short = [a_round(prefill=prefill, prompt=tuple(range(9))) for prefill in (160, 100, 100)]
    assert [one.left_out for one in compared(a_lane(0, "a", *short)).rows[0].all_rounds] == ["", "", ""]


@pytest.mark.parametrize(
    ("lane", "why"),
    [
        (a_lane(1, "b", a_round(facts=Scheduling(major_faults=9, read_bytes=50 * MIB))), "cold"),
        (a_lane(1, "b", a_round(cached=90), a_round(cached=90)), "cached prompt"),
        (a_lane(1, "b", failed=BROKEN, phase=LanePhase.FAILED), "failed"),
        (a_lane(1, "b", 8, failed=BROKEN, phase=LanePhase.FAILED), "failed"),
        (a_lane(1, "b", a_round(end="failed")), "failed"),
        (a_lane(1, "b", a_round(end="cancelled")), "cancelled"),
        (a_lane(1, "b", phase=LanePhase.CANCELLED), "cancelled"),
        (a_lane(1, "b", phase=LanePhase.WAITING), "no figures yet"),
        (a_lane(1, "b", a_round(end=None)), "no figures yet"),
        (a_lane(1, "b", a_round(ids=(1,))), "too short"),
        (a_lane(1, "b", a_round(ids=())), "no token"),
    ],
)
def test_who_is_never_ranked(lane: Lane, why: str) -> None:
    found = compared(a_lane(0, "a", 10, 10, 10), lane, a_lane(2, "c", 8, 8, 8))
    assert found.rows[1].unranked == why
    assert found.rows[1].decode_ratio is None
    assert found.winner == 2
    assert "b" not in found.verdict.split()


def test_a_failed_reference_leaves_the_others_to_be_compared() -> None:
    found = compared(a_lane(0, "a", failed=BROKEN), a_lane(1, "b", *SLOW), a_lane(2, "c", *FAST))
    assert found.winner == 2
    assert found.verdict == "c writes 1.25× as fast as b (95 % interval 1.24 to 1.26)."
    assert [row.decode_ratio for row in found.rows] == [None, None, None]
    assert found.notes == (
        "a: The model could not be loaded. out of memory",
        "The reference, a, failed: there are no ratios to it.",
    )


def test_nobody_and_one_alone() -> None:
    assert compared(a_lane(0, "a"), a_lane(1, "b")).verdict == "No round of two lanes is over yet."
    assert compared(a_lane(0, "a", 10), a_lane(1, "b")).verdict == "No round of two lanes is over yet."
    failed = a_lane(1, "b", failed=BROKEN)
    assert compared(a_lane(0, "a", failed=BROKEN), failed).verdict == ("No lane can be ranked: a (failed), b (failed).")
    assert compared(a_lane(0, "a", 10), failed).verdict == (
        "Only a can be ranked, so there is nothing to compare. It writes 100 tok/s."
    )


def test_the_round_under_way_is_shown_only_where_there_is_no_other() -> None:
    under_way = a_round(5, end=None)
    alone = compared(a_lane(0, "a", under_way, phase=LanePhase.RUNNING)).rows[0]
    assert alone.decode_rate == Spread(200.0, 200.0, 200.0, 0)
    assert alone.rounds == 0
    after = compared(a_lane(0, "a", 10, a_round(5, end=None), phase=LanePhase.RUNNING)).rows[0]
    assert after.decode_rate == Spread(100.0, 100.0, 100.0, 1)


def test_tokenizers_that_differ_are_ranked_by_characters() -> None:
    # b takes 9 ms for a token of 4 characters, c 12 ms for one of 8.
    other = [a_round(ms, prompt=(7, 8), piece=b"abcdefgh") for ms in (12, 12.1, 11.9)]
    found = compared(a_lane(0, "b", 9, 9, 9), a_lane(1, "c", *other))
    assert not found.same_tokens
    assert not found.same_vocabulary
    assert found.winner == 1
    assert found.verdict.startswith("c writes 1.50× as many characters per second as b (95 % interval 1.4")
    assert found.rows[1].decode_ratio is not None
    assert found.rows[1].decode_ratio.value == pytest.approx(0.75, rel=0.01)
    assert "characters per second decide" in found.notes[0]
    assert (found.rows[1].diverged_at, found.rows[1].compared_tokens) == (None, 0)


def test_templates_that_differ_are_a_note_and_tokens_decide() -> None:
    other = a_lane(1, "c", *[a_round(ms, prompt=(7, 8), piece=b"abcdefgh") for ms in (12, 12.1, 11.9)])
    other.own_vocabulary = False
    found = compared(a_lane(0, "b", 9, 9, 9), other)
    assert (found.same_tokens, found.same_vocabulary) == (False, True)
    assert found.winner == 0
    assert found.verdict.startswith("b writes 1.33× as fast as c")
    assert "chat template" in found.notes[0]
    assert "characters" not in found.notes[0]
    assert "characters" not in {column.key for column in columns(found)}
    # The answers begin from different prompts, so that where they part says nothing.
    assert (found.rows[1].diverged_at, found.rows[1].compared_tokens) == (None, 0)


def test_characters_are_counted_and_not_bytes() -> None:
    # A sign of two bytes a token, 10 ms each.
    assert compared(a_lane(0, "a", a_round(10, piece="é".encode()))).rows[0].characters_rate == Spread(100, 100, 100, 1)


def test_where_answers_part() -> None:
    reference = a_lane(0, "a", a_round(ids=(1, 2, 3, 4)))

    def parted(*ids: int, end: str | None = "length") -> tuple[int | None, int]:
        row = compared(reference, a_lane(1, "b", a_round(ids=ids, end=end))).rows[1]
        return row.diverged_at, row.compared_tokens

    assert parted(1, 2, 3, 4) == (None, 4)
    assert parted(1, 9, 3, 4) == (2, 4)
    assert parted(1, 2, end=None) == (None, 2)
    assert parted(1, 2, end="cancelled") == (None, 2)
    assert parted(1, 2, end="stop") == (3, 2)
    assert parted(1, 2, 3, 4, 5) == (None, 4)


def test_disturbed_rounds_count_and_are_said() -> None:
    # 3 of 19 gaps take 100 ms instead of 10.
    row = (found := compared(a_lane(0, "a", 10, a_round(10, slow=3), 10), a_lane(1, "b", 9, 9, 9))).rows[0]
    assert (row.disturbed_rounds, row.rounds) == (1, 3)
    assert row.all_rounds[1].disturbed_tokens == 3
    assert row.all_rounds[1].lost_share == pytest.approx(270 / 460)
    assert found.notes == ("a: round 2 disturbed, more than 5 % of the time lost.",)
    # A first round whose median is like the others' was disturbed, and is not cold.
    assert compared(a_lane(0, "a", a_round(10, slow=3), 10, 10)).rows[0].rounds == 3


def test_what_has_to_be_known_with_the_figures() -> None:
    made = Quantized(
        t=0,
        path=b"x",
        quantization="Q4_K",
        source_quantization="Q4_1",
        bytes=1,
        reused=False,
        fallbacks=("12 tensors as Q5_0 instead of Q4_K",),
    )
    lanes = (
        a_lane(0, "a", 10),
        a_lane(1, "b\x1b[2J", 10, made=made, model={"context": 2048, "threads": 1}, note="Not the same vocabulary."),
    )
    found = compared(*lanes, together=True)
    assert found.rows[1].requantized_from == "Q4_1"
    assert found.notes == (
        "All lanes ran at once and disturbed each other: the figures are not those of a lane alone.",
        "The lanes differ in their context: a 4,096 tokens, b␛[2J 2,048 tokens.",
        "The lanes differ in their threads: a 2 and 2, b␛[2J 1 and 2.",
        "b␛[2J was requantized from Q4_1: its quality is not that of a quantization of the original weights.",
        "b␛[2J has 12 tensors as Q5_0 instead of Q4_K.",
        "b␛[2J: Not the same vocabulary.",
    )
    assert "\x1b" not in found.verdict


def test_a_quantization_of_the_original_is_not_requantized() -> None:
    made = Quantized(t=0, path=b"x", quantization="Q8_0", source_quantization="F16", bytes=1, reused=True)
    assert compared(a_lane(0, "a", 10, made=made)).rows[0].requantized_from == ""
