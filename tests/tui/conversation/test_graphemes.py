import pytest
from rich.cells import cell_len, get_character_cell_size

from decodescope.tui.conversation.graphemes import SIMPLE_RANGES, clusters, drawn, is_simple

FAMILY = "👩\u200d👩\u200d👧"


def split(text: str) -> list[tuple[str, int]]:
    return [(text[start:end], cells) for start, end, cells in clusters(text)]


@pytest.mark.parametrize(("first", "last"), SIMPLE_RANGES)
def test_simple_characters_take_one_cell(first: int, last: int) -> None:
    assert {get_character_cell_size(chr(code)) for code in range(first, last + 1)} == {1}


@pytest.mark.parametrize("text", ["你", "e\u0301", "\t", "\x1b", "\u200d", "🇩", "\xad", "\u009b", "\n"])
def test_other_characters_are_not_simple(text: str) -> None:
    assert not is_simple(text)


@pytest.mark.parametrize(
    ("cluster", "cells"),
    [
        ("a", 1),
        ("你", 2),
        ("e\u0301", 1),
        ("👍🏽", 2),
        (FAMILY, 2),
        ("🏳\ufe0f\u200d🌈", 2),
        ("❤\ufe0f", 2),
        ("❤\ufe0f\u200d🔥", 2),
        ("❤", 1),
        ("1\ufe0f\u20e3", 2),
        ("🇩🇪", 2),
        ("🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f", 2),
        ("\u1100\u1161\u11a8", 2),
        ("क्", 1),
    ],
)
def test_what_belongs_together_is_one_cluster(cluster: str, cells: int) -> None:
    assert split(f"x{cluster}y") == [("x", 1), (cluster, cells), ("y", 1)]


def test_flags_are_taken_in_pairs() -> None:
    assert split("🇩🇪🇫🇷🇯") == [("🇩🇪", 2), ("🇫🇷", 2), ("🇯", 1)]


def test_a_tab_takes_no_marks() -> None:
    assert [part for part, _ in split("a\t\ufe0f")] == ["a", "\t", "\ufe0f"]


def test_a_joiner_between_letters_joins_nothing() -> None:
    text = "a\u200db"
    assert split(text) == [("a\u200d", 1), ("b", 1)]
    assert "".join(drawn(text, start, end) for start, end, _ in clusters(text)) == "ab"


def test_endless_marks_are_cut() -> None:
    text = "a" + "\u0301" * 10_000
    assert split(text) == [(text, 1)]
    assert len(drawn(text, 0, len(text))) == 16


@pytest.mark.parametrize("text", [f"{FAMILY}a\u200db 你\ufe0f🇩🇪🇫 e\u0301\u200d!", "\u200d\u200dx", "\ufe0f\u0301x"])
def test_cells_add_up_to_what_rich_measures(text: str) -> None:
    parts = [(drawn(text, start, end), cells) for start, end, cells in clusters(text)]
    assert cell_len("".join(part for part, _ in parts)) == sum(cells for _, cells in parts)
