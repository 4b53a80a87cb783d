"""The timeline in cells."""

import pytest
from msgspec.structs import replace

from decodescope.tui.replay.timeline import Timeline
from decodescope.tui.replay.track import cell_of, legend_row, marked_cells, position_at, signs, track_row

from ..fakes import MS
from .replay_app import whole


def no(tokens: range) -> int:
    """There are more quiet tokens."""
    return 0


TIMELINE = Timeline(whole([b"x"] * 100))


@pytest.mark.parametrize("width", [1, 2, 3, 60, 78, 198])
def test_cells_and_positions_agree(width: int) -> None:
    length = TIMELINE.length
    assert cell_of(0, length, width) == 0
    assert cell_of(length, length, width) == width - 1
    assert position_at(width - 1, length, width) == length
    assert position_at(-3, length, width) in (0, length)
    for cell in range(width):
        assert cell_of(position_at(cell, length, width), length, width) in (cell, cell - 1)


def test_parts_in_order() -> None:
    text = "".join(signs(TIMELINE, 60))
    assert text.replace("░", "l").replace("▒", "r").replace("─", "w").strip("lrw") == ""
    assert text.index("░") < text.index("▒") < text.index("─")


def test_disturbed_tokens_are_marked_where_they_are() -> None:
    width = 60
    worst = 57
    marked = marked_cells(TIMELINE, lambda tokens: 9 if worst in tokens else 0, no, width)
    assert marked == {cell_of(TIMELINE.of_token(worst + 1), TIMELINE.length, width)}


def test_the_last_token_is_not_lost() -> None:
    assert marked_cells(TIMELINE, lambda tokens: 9 if 99 in tokens else 0, no, 60)


def test_where_few_tokens_of_many_cells_are_disturbed_the_worst_are_marked() -> None:
    marked = marked_cells(TIMELINE, lambda tokens: max(tokens, default=-1) + 1, no, 80)
    assert 0 < len(marked) <= 10
    assert 79 in marked


def test_a_cell_of_whose_tokens_half_are_disturbed_is_marked() -> None:
    timeline = Timeline(whole([b"x"] * 1000))
    written = {cell_of(timeline.of_token(index), timeline.length, 80) for index in range(1, 1001)}

    def marked(share: float) -> set[int]:
        return marked_cells(timeline, lambda tokens: 9 * len(tokens), lambda tokens: round(share * len(tokens)), 80)

    assert marked(1) == marked(0.6) == written
    assert 0 < len(marked(0.3)) <= 10


def test_what_has_passed_differs_from_what_comes_by_the_cursor() -> None:
    row = track_row(list("░▒▒──"), {3}, 1)
    assert "".join(text for text, _ in row) == "░┃▒▾─"
    assert row[0] == ("░", "accent")


@pytest.mark.parametrize("width", [5, 20, 40, 80])
def test_the_legend_fits(width: int) -> None:
    assert sum(len(text) for text, _ in legend_row(TIMELINE, width, marks=True)) <= width


def test_every_sign_has_its_word() -> None:
    # Loaded within 1.2 s; 300 ms later, of 60 s, the prompt comes.
    events = [*(replace(event, t=event.t - 60_000 * MS) for event in whole()[:6]), *whole()[6:]]
    timeline = Timeline(events)
    text = "".join(text for text, _ in legend_row(timeline, 80, marks=False))
    assert "·" in signs(timeline, 80)
    for word in ("░ load, warm-up", "· idle", "▒ read", "─ write"):
        assert word in text
