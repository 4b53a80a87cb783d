"""What the inspector says of a token, at any size."""

import math

import pytest
from msgspec.structs import replace

from decodescope.backends.token_facts import Alternative, Probability, Scheduling
from decodescope.metrics.run import Run
from decodescope.tui.inspection import Inspection, inspect_token
from decodescope.tui.widgets.cells import row_width
from decodescope.tui.widgets.inspector import NOT_COMPUTED, inspector_rows

from .fakes import MS, likely, taken, token

HOSTILE = b"[/b]\x1b[2J\xc2\x9b\xff"


def run() -> Run:
    """Token 20 took 92 ms, others 7 ms; its text is hostile; token 21 is likely."""
    made = Run(taken())
    now = 182 * MS
    for index in range(1, 20):
        made.apply(token(now := now + 7 * MS, index, b" tok"))
    facts = Scheduling(
        involuntary_switches=37, wait_ns=80 * MS, longest_wait_ns=80 * MS, minor_faults=0, major_faults=0, cpu_ns=8 * MS
    )
    made.apply(token(now := now + 92 * MS, 20, HOSTILE, scheduling=facts))
    top = (
        Alternative(900, b" sky", math.log(0.5)),
        Alternative(21, "你好".encode(), math.log(0.25)),
        Alternative(902, HOSTILE, math.log(0.125)),
        Alternative(903, "👩\u200d👧".encode(), math.log(0.0625)),
        Alternative(904, b"\n", math.log(0.00001)),
    )
    facts_of = Probability(logprob=math.log(0.25), rank=2, entropy_nats=1.5 * math.log(2), top=top, cost_ns=MS // 5)
    made.apply(token(now + 7 * MS, 21, "你好".encode(), probability=facts_of))
    return made


def said(index: int, width: int, height: int) -> list[str]:
    rows = inspector_rows(inspect_token(run(), index), width, height)
    return ["".join(text for text, _ in row).rstrip() for row in rows]


def test_everything_about_a_disturbed_token() -> None:
    assert said(20, 68, 30) == [
        "#20 [/b]␛[2J\ufffd\\xff",
        "time    92.0 ms · 13× median · 0.407 s in",
        "why     92.0 ms, 13× the usual 7.0 ms: pre-empted 37 times, a thread",
        "        waited 80.0 ms for a core, others had the cores",
        "split   decode 6.0 · sample 0.1 · rest 85.9 ms",
        "system  37 pre-emptions · waited 80.0 ms · no page faults · cpu 8.0",
        "        ms",
        "bytes   5b 2f 62 5d 1b 5b 32 4a c2 9b ff · id 20",
        "",
        "probability, rank, entropy: – not computed; f3 or an open inspector",
        "computes them from the next token on",
    ]


def test_alternatives_stand_below_each_other_with_their_share() -> None:
    rows = said(21, 60, 30)
    assert rows[-6:] == [
        "25.0 % · rank 2 · entropy 1.5 bits",
        f"  ·sky           {17 * '█'}{17 * '░'}   50.0 %",
        f"▸ 你好           {8 * '█'}{26 * '░'}   25.0 %",
        f"  [/b]␛[2J\ufffd\\xff  {4 * '█'}{30 * '░'}   12.5 %",
        f"  👩\u200d👧             {2 * '█'}{32 * '░'}    6.2 %",
        f"  ⏎              {34 * '░'} < 0.01 %",
    ]
    assert "split   decode 6.0 · sample 0.1 · chances 0.2 · rest 0.7 ms" in rows


def test_missing_facts_are_dashes_and_it_is_said_how_they_come() -> None:
    rows = said(1, 60, 30)
    assert rows[1] == "time    – · – median · 0.189 s in"
    assert "split   decode – · sample 0.1 · rest – ms" in rows
    assert "system  –" in rows
    assert NOT_COMPUTED in " ".join(rows)


def test_the_last_line_says_how_many_are_cut() -> None:
    assert said(20, 68, 4)[:3] == said(20, 68, 30)[:3]
    assert said(20, 68, 4)[3] == "        waited 80.0 ms for a core, others had the cores     … 7 more"
    assert said(20, 68, 11) == said(20, 68, 30)
    assert said(20, 12, 1) == ["#20 [/b]␛[ …"]
    beside = said(21, 78, 4)
    assert beside[3].index(" … 3 more") < 45
    assert beside[3].endswith("12.5 %")


def test_an_id_that_was_left_out_is_a_dash() -> None:
    made = Run(taken())
    made.apply(replace(token(MS, 1, b""), id=-1))
    rows = inspector_rows(inspect_token(made, 1), 60, 30)
    assert " · id –" in ["".join(text for text, _ in row).removeprefix("bytes   ") for row in rows]


def test_no_token() -> None:
    assert inspector_rows(None, 80, 8) == [(("no token yet", "dim"),)]


@pytest.mark.parametrize("index", [1, 20, 21])
def test_every_size(index: int) -> None:
    token_20: Inspection = inspect_token(run(), index)
    for width in (1, 5, 10, 20, 40, 60, 71, 72, 78, 118, 200):
        for height in (1, 3, 8, 30):
            rows = inspector_rows(token_20, width, height)
            assert len(rows) <= height
            if width >= 20:
                assert max(row_width(row) for row in rows) <= width
            text = "".join(part for row in rows for part, _ in row)
            assert all(character.isprintable() or character == "\u200d" for character in text)


def test_facts_and_alternatives_stand_side_by_side_at_80_columns() -> None:
    rows = said(21, 78, 8)
    assert rows[0].startswith("#21 你好")
    assert rows[0].endswith("25.0 % · rank 2 · 1.5 bits")
    assert rows[6].endswith("e4 bd a0 e5 a5 bd · id 21")
    assert likely(-1.0).rank == 1
