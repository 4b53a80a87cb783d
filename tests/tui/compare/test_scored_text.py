"""The scored text by hand: two lanes, eleven tokens, the first of which follows nothing."""

import math
from collections.abc import Sequence

import numpy as np
import pytest
from msgspec.structs import replace

from decodescope.backends.events import Token
from decodescope.comparison.rounds import first_difference
from decodescope.metrics.run import Run
from decodescope.tui.compare.distributions import NOT_SCORED, distribution_rows
from decodescope.tui.compare.scored_columns import ScoredColumns
from decodescope.tui.compare.scored_text import ScoredText, known_pieces
from decodescope.tui.conversation.marks import DIVERGENCES, degree, is_disturbed
from decodescope.tui.lens import Lens
from decodescope.tui.widgets.cells import row_width

from .opened_lanes import HOSTILE, KLDS, PROMPT, SEA, SKY, TEXT, events_of, round_of, scored, two_lanes


def text() -> ScoredText:
    reference, other = two_lanes()
    assert other.scores is not None
    return ScoredText(other.scores, reference.scores, known_pieces((reference, other)))


def of_the_reference() -> ScoredText:
    reference, _ = two_lanes()
    assert reference.scores is not None
    return ScoredText(reference.scores, None, known_pieces((reference,)))


def test_divergence_has_few_classes() -> None:
    assert DIVERGENCES == (0.5, 1.0, 2.0)
    # Positions 5, 6 and 7 have 0.6, 1.2 and 2.5 nats.
    assert [degree(int(marks), Lens.DIVERGENCE) for marks in text().marks] == [0, 0, 0, 0, 0, 1, 2, 3, 0, 0, 0]
    # 10 % and 2 % at positions 6 and 7.
    assert [degree(int(marks), Lens.PROBABILITY) for marks in text().marks] == [0, 0, 0, 0, 0, 0, 1, 2, 0, 0, 0]
    assert [position for position, marks in enumerate(text().marks) if is_disturbed(int(marks))] == [6, 9]


def test_what_is_known_of_a_position() -> None:
    made = text()
    assert made.token_count == 11
    assert (made.divergence(0), made.same_top(0)) == (None, None)
    assert [made.divergence(position) for position in range(1, 11)] == list(KLDS)
    assert made.same_top(7) is True
    assert made.same_top(9) is False
    assert made.mean_kld == pytest.approx(sum(KLDS) / 10)
    assert made.share_of_same_top == 0.8
    assert made.begin == 3


def test_the_reference_diverges_from_nothing() -> None:
    made = of_the_reference()
    assert not made.compared
    assert made.mean_kld is None
    assert made.share_of_same_top is None
    assert np.isnan(made.kld).all()
    assert not made.marks[0]


def test_prompt_and_answer_are_told_apart() -> None:
    prompt, answer = text().fragments()
    assert "".join(fragment.text for fragment in prompt) == b"".join(PROMPT).decode()
    assert "".join(fragment.text for fragment in answer) == b"".join(SKY).decode()
    assert [fragment.index for fragment in (*prompt, *answer)] == list(range(1, 12))


def test_a_given_text_is_no_prompt() -> None:
    scores = scored(TEXT, [0.5] * 10, prompt_tokens=11)
    made = ScoredText(scores, None, scores.pieces)
    prompt, answer = made.fragments()
    assert made.given
    assert prompt == []
    assert "".join(fragment.text for fragment in answer) == b"".join(TEXT).decode()
    assert made.begin == 1


def test_characters_in_pieces_and_tokens_without_a_name() -> None:
    pieces = (b"a", b"\xf0\x9f", b"\xa6\x99", b"\xe4")
    scores = scored(pieces, [0.5] * 3, prompt_tokens=1)
    made = ScoredText(scores, None, scores.pieces)
    _, answer = made.fragments()
    assert [(fragment.index, fragment.text) for fragment in answer] == [(3, "🦙"), (4, "\ufffd")]
    unknown = ScoredText(scores, None, {})
    assert unknown.piece(0) == f"⟨{scores.tokens[0]}⟩".encode()


def test_where_the_own_answer_leaves_the_reference() -> None:
    answers: tuple[Sequence[bytes], ...] = (SEA, SKY, SKY[:3], ())
    sea, sky, short, none = (round_of(events_of(answer)).run for answer in answers)
    assert first_difference(sea, sky) == 5
    assert first_difference(sky, sky) is None
    assert first_difference(short, sky) is None
    assert first_difference(none, sky) is None


def test_tokens_of_one_id_differ_by_their_text() -> None:
    """As those of scripts, whose ids only count up."""

    def run_of(*pieces: bytes) -> Run:
        counted = [replace(one, id=one.index) if isinstance(one, Token) else one for one in events_of(pieces)]
        return round_of(counted).run

    one = run_of(b"a", b"bc", b"", b"d")
    assert first_difference(one, run_of(b"a", b"bc", b"", b"d")) is None
    assert first_difference(one, run_of(b"a", b"bc", b"")) is None
    assert first_difference(one, run_of(b"a", b"xc", b"", b"d")) == 2
    assert first_difference(one, run_of(b"a", b"b", b"c", b"d")) == 2
    assert first_difference(one, run_of(b"a", b"bc", b"", b"e")) == 4
    assert first_difference(one, run_of(b"e", b"bc", b"f", b"d")) == 1


def said(made: ScoredText, position: int, width: int, height: int = 30) -> list[str]:
    rows = distribution_rows(made, position, ("Q2_K", "Q8_0"), width, height)
    return ["".join(part for part, _ in row).rstrip() for row in rows]


def test_both_distributions_stand_beside_each_other() -> None:
    assert said(text(), 9, 78, 8) == [
        "#10 ·light                                         KLD 0.1000 nats · other top",
        "Q2_K                                    Q8_0, the reference",
        "40.0 % · rank 2 · entropy 1.5 bits      80.0 % · rank 1 · entropy 1.5 bits",
        f"  ·!             {10 * '█'}{2 * '░'}   80.0 %  ▸ ·light         {10 * '█'}{2 * '░'}   80.0 %",
        f"▸ ·light         {5 * '█'}{7 * '░'}   40.0 %    ·!             {1 * '█'}{11 * '░'}   10.0 %",
        f"  ·[/b]          {2 * '█'}{10 * '░'}   20.0 %    ·[/b]          {12 * '░'}    2.5 %",
        f"  ␛[2J           {1 * '█'}{11 * '░'}    5.0 %    ␛[2J           {12 * '░'}    0.6 %",
        f"  你             {12 * '░'}    1.2 %    你             {12 * '░'}    0.2 %",
    ]


def test_distributions_below_each_other_where_it_is_narrow() -> None:
    rows = said(text(), 7, 44)
    assert rows[0].endswith("KLD 2.5000 nats · same top")
    assert [row for row in rows if row.startswith("Q")] == ["Q2_K", "Q8_0, the reference"]
    assert len(rows) == 1 + 2 * 7


def test_what_is_not_scored_is_said() -> None:
    rows = said(text(), 0, 120)
    assert rows[0] == "#1 <|im_start|> prompt"
    assert NOT_SCORED in rows[2]
    assert distribution_rows(None, None, ("a", "b"), 80, 8) == [(("no token yet", "dim"),)]


def test_the_reference_alone_has_one_distribution() -> None:
    rows = said(of_the_reference(), 8, 78)
    assert rows[1] == "Q2_K, the reference"
    assert len(rows) == 8
    assert not any("KLD" in row for row in rows)


@pytest.mark.parametrize("position", range(11))
def test_every_size(position: int) -> None:
    pieces = (*TEXT[:10], HOSTILE)
    scores = scored(pieces, [0.5] * 10, [0.1] * 10, other=(HOSTILE, b"\n", "👩\u200d👧".encode(), b"\xff"))
    made = ScoredText(scores, scores, scores.pieces)
    for width in (1, 5, 20, 39, 40, 51, 52, 72, 78, 118, 200):
        for height in (1, 4, 8, 30):
            rows = distribution_rows(made, position, ("Q2_K", "Q8_0"), width, height)
            assert len(rows) <= height
            if width >= 20:
                assert max(row_width(row) for row in rows) <= width
            drawn = "".join(part for row in rows for part, _ in row)
            assert all(character.isprintable() or character == "\u200d" for character in drawn)


@pytest.mark.parametrize("width", [40, 60, 66, 73, 78, 118, 200])
def test_the_columns_of_the_table(width: int) -> None:
    columns = ScoredColumns.fitting(width)
    assert columns.used <= max(width, 53)
    for lens in (Lens.DIVERGENCE, Lens.PROBABILITY, Lens.ENTROPY):
        assert len(columns.header(lens)) == columns.used
        for row in range(11):
            cells = list(columns.cells(text(), row, lens, chosen=False))
            assert row_width(tuple(cells)) == columns.used


def test_marks_stand_beside_the_column_they_are_about() -> None:
    columns = ScoredColumns.fitting(78)
    for lens, about in ((Lens.DIVERGENCE, "KLD"), (Lens.PROBABILITY, "chance")):
        row = "".join(part for part, _ in columns.cells(text(), 7, lens, chosen=False))
        end = columns.header(lens).index(about) + len(about)
        assert row[end : end + 2] == " !"


def test_a_row_of_the_table() -> None:
    cells = list(ScoredColumns.fitting(78).cells(text(), 7, Lens.DIVERGENCE, chosen=True))
    row = "".join(part for part, _ in cells).split()
    assert row == ["▸", "8", "·because", *row[3:4], "2.5000", "!!!", "same", "2.0", "%", "60.0", "%", "1", "1.5"]
    assert [part.strip() for part, role in cells if role == "extreme"] == ["·because", "2.5000", "!!!"]
    first = "".join(part for part, _ in ScoredColumns.fitting(78).cells(text(), 0, Lens.DIVERGENCE, chosen=False))
    assert first.split()[3:] == ["–"] * 6
    assert math.isnan(text().kld[0])
