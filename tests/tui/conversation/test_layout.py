"""The layout by hand, and its invariants over many random texts."""

import random

import pytest
from rich.cells import cell_len
from rich.style import Style

from decodescope.tui.conversation.layout import Document
from decodescope.tui.conversation.marks import LOOKS, looks
from decodescope.tui.conversation.paint import BAR_CELLS, Palette, paint, plain_text
from decodescope.tui.conversation.turns import WRITTEN, Speaker
from decodescope.tui.lens import Lens

PLAIN = Style()
PALETTE = Palette(
    speakers=dict.fromkeys(Speaker, PLAIN),
    written=dict.fromkeys(WRITTEN, [PLAIN] * LOOKS),
    looks=looks(Lens.TIME),
    bars=dict.fromkeys(Speaker, PLAIN),
    label=PLAIN,
    selected=PLAIN,
    inspected=PLAIN,
)
FAMILY = "👩\u200d👩\u200d👧"


def laid_out(text: str, width: int, pieces: list[str] | None = None) -> Document:
    document = Document(width)
    document.begin(Speaker.MODEL)
    for piece in [text] if pieces is None else pieces:
        document.extend(piece)
    return document


def rows(document: Document) -> list[str]:
    """What is drawn in each row, padding cut off."""
    result = []
    for row in range(document.height):
        line = document.line(row)
        if line is None:
            result.append("")
            continue
        strip = paint(line, document.width, PALETTE, None)
        assert strip.cell_length == cell_len(strip.text) == BAR_CELLS + document.width
        result.append(strip.text[BAR_CELLS:].rstrip(" "))
    return result


def wrapped(text: str, width: int) -> list[str]:
    return rows(laid_out(text, width))


@pytest.mark.parametrize(
    ("text", "width", "expected"),
    [
        ("", 5, [""]),
        ("one two", 7, ["one two"]),
        ("one two", 6, ["one", "two"]),
        ("one two", 3, ["one", "two"]),
        ("one   two", 4, ["one", "two"]),  # spaces hang over the edge
        ("one   ", 3, ["one"]),
        ("one two three", 9, ["one two", "three"]),
        ("abcdefgh", 3, ["abc", "def", "gh"]),
        ("a bcdefgh", 4, ["a", "bcde", "fgh"]),
        ("    indented", 20, ["    indented"]),
        ("    indented", 8, ["    inde", "nted"]),  # not after the indentation alone
        ("      x", 4, ["", "x"]),
        ("a\n\nb\n", 5, ["a", "", "b", ""]),
        ("a\r\nb\rc", 5, ["a", "b␍c"]),
        ("abc\r\nd", 3, ["abc", "d"]),
        ("a\tb", 9, ["a   b"]),
        ("abcd\te", 9, ["abcd    e"]),
        ("\tif x:\n\t\ty", 12, ["    if x:", "        y"]),
        ("你好世界", 4, ["你好", "世界"]),
        ("你好世界", 5, ["你好", "世界"]),  # a wide character is never cut in half
        ("a你好", 4, ["a你", "好"]),
        ("word你好", 5, ["word", "你好"]),
        ("你好，世", 4, ["你", "好，", "世"]),  # no line begins with closing punctuation
        ("天「好」", 6, ["天", "「好」"]),  # nor ends with opening punctuation
        ("你", 1, ["▯"]),
        ("a你b", 1, ["a", "▯", "b"]),
        ("🇩🇪🇫🇷", 3, ["🇩🇪", "🇫🇷"]),
        (f"ab{FAMILY}", 3, ["ab", FAMILY]),
        (f"ab{FAMILY}", 4, [f"ab{FAMILY}"]),
        ("👍🏽👍🏽", 3, ["👍🏽", "👍🏽"]),
        ("x❤\ufe0f", 2, ["x", "❤\ufe0f"]),
        ("e\u0301e\u0301e\u0301", 2, ["e\u0301e\u0301", "e\u0301"]),
        ("a\x1b[2Jb", 10, ["a␛[2Jb"]),
        ("[b]x[/b]", 10, ["[b]x[/b]"]),
        ("“quoted” — so…", 9, ["“quoted”", "— so…"]),
        ("a\xa0b c", 4, ["a\xa0b", "c"]),
    ],
)
def test_wrapping_by_hand(text: str, width: int, expected: list[str]) -> None:
    assert wrapped(text, width) == expected


ALPHABET = [
    *("a", "bc", "word", "long-word-without-end", " ", "  ", "    ", "\n", "\n\n", "\r\n", "\r", "\t", ".", "，", "。"),
    *("你", "好世界", "「", "」", "e\u0301", "\u0301", "\u200d", "\ufe0f", FAMILY, "👍", "🏽", "👩", "🇩", "🇪", "❤"),
    *("1", "\u20e3", "\x1b[2J", "\u009b", "\xad", "“", "—", "क्ष", "\u1100", "\u1161", "\u202e", "\xa0", "[/b]"),
]


def random_text(chance: random.Random, pieces: int) -> str:
    # A few favourites each time, so that runs of one kind come up too.
    favourites = chance.sample(ALPHABET, chance.randint(1, 8))
    return "".join(chance.choice(favourites if chance.random() < 0.8 else ALPHABET) for _ in range(pieces))


def split_anywhere(chance: random.Random, text: str, longest: int) -> list[str]:
    pieces = []
    while text:
        size = chance.randint(1, longest)
        pieces.append(text[:size])
        text = text[size:]
    return pieces


def shape(document: Document) -> list[tuple[str, int, int, bool, bool] | None]:
    lines = [document.line(row) for row in range(document.height)]
    return [
        None if line is None else (line.block.text, line.start, line.end, line.first, line.wrapped) for line in lines
    ]


@pytest.mark.parametrize("seed", range(300))
def test_how_the_text_came_makes_no_difference(seed: int) -> None:
    chance = random.Random(seed)
    text = random_text(chance, chance.randint(1, 200))
    width = chance.choice([1, 2, 3, 5, 8, 13, 40, 120, 300])
    whole = laid_out(text, width)
    grown = laid_out(text, width, split_anywhere(chance, text, chance.choice([1, 3, 20])))
    assert shape(grown) == shape(whole)
    assert rows(grown) == rows(whole)


@pytest.mark.parametrize("seed", range(12))
def test_neither_does_it_in_long_texts(seed: int) -> None:
    chance = random.Random(seed)
    text = random_text(chance, 12_000)
    width = chance.choice([1, 20, 79])
    whole = laid_out(text, width)
    grown = laid_out(text, width, split_anywhere(chance, text, 200))
    assert shape(grown) == shape(whole)
    rewrapped = laid_out(text, 33)
    rewrapped.set_width(width)
    rewrapped.lay_out_more(len(text) * 64)
    assert rewrapped.settled
    assert shape(rewrapped) == shape(whole)


@pytest.mark.parametrize("seed", range(100))
def test_no_character_is_lost_and_no_line_is_too_wide(seed: int) -> None:
    chance = random.Random(seed)
    text = random_text(chance, 100)
    document = laid_out(text, chance.randint(2, 60))
    found = []
    for row in range(document.height):
        line = document.line(row)
        assert line is not None
        found.append(line.block.text[line.start : line.end])
        assert cell_len(plain_text(line).rstrip(" ")) <= document.width
    assert "".join(found) == text.replace("\r\n", "").replace("\n", "").removesuffix("\r")
    assert document.text_of(document.turns[0]) == text


def test_the_simple_and_the_general_way_agree() -> None:
    for seed in range(200):
        chance = random.Random(seed)
        text = "".join(chance.choice(["a", "bcd", " ", "   ", "abcdefghijkl"]) for _ in range(40))
        width = chance.randint(1, 20)
        general = wrapped(text + "\n" + text + " 你", width)
        simple = wrapped(text, width)
        # The last row may differ, where the added character finds its place.
        assert general[: len(simple)] == simple
        assert general[len(simple) : 2 * len(simple) - 1] == simple[:-1]


def test_one_endless_line_is_kept_in_blocks() -> None:
    document = laid_out("x" * 100_000, 50)
    assert document.height == pytest.approx(2000, abs=10)
    assert document.text_of(document.turns[0]) == "x" * 100_000


def test_turns_stand_apart_and_notes_below() -> None:
    document = Document(20)
    document.begin(Speaker.USER)
    document.extend("hi")
    document.begin(Speaker.MODEL)
    document.extend("hello\nyou")
    document.begin(Speaker.NOTE)
    document.extend("stopped")
    assert [row.rstrip() for row in rows(document)] == [f"{'hi':17}you", "", "hello", "you", "stopped"]


def test_dropping_a_turn() -> None:
    document = Document(20)
    document.begin(Speaker.USER)
    document.extend("one")
    second = document.begin(Speaker.USER)
    document.extend("x" * 30_000)
    document.set_width(10)
    document.drop_from(second)
    assert document.height == 1
    document.lay_out_more(1000)
    assert document.settled
    document.begin(Speaker.MODEL)
    document.extend("two")
    assert document.height == 3


def test_places_survive_a_new_width() -> None:
    text = "".join(f"{number} " for number in range(20_000))
    document = laid_out(text, 60)
    place = document.place_at(1000)
    line = document.line(1000)
    assert place is not None
    assert line is not None
    word = line.block.text[line.start :].split()[0]
    for width in (31, 97, 60):
        document.set_width(width)
        document.lay_out_from(place, 20)
        moved = document.line(document.row_of(place))
        assert moved is not None
        assert word in moved.block.text[moved.start : moved.end].split()
    assert not document.settled


def test_appending_costs_what_is_new() -> None:
    document = laid_out("", 80)
    costs = []
    for _ in range(20_000):
        before = document.lines_laid_out
        document.extend(" token and some more")
        costs.append(document.lines_laid_out - before)
    # 20 characters touch the last line and at most one more, or one more where a block ends.
    assert max(costs) <= 3


def test_a_new_width_costs_what_is_looked_at() -> None:
    document = laid_out("some words and\n" * 30_000, 80)
    before = document.lines_laid_out
    document.set_width(40)
    document.lay_out_end(40)
    assert document.lines_laid_out - before < 1000
    assert not document.settled


def test_a_folded_turn_takes_one_row() -> None:
    document = Document(20)
    document.begin(Speaker.USER)
    document.extend("why")
    thought = document.begin(Speaker.REASONING)
    document.extend("one two three\n" * 2000)
    document.begin(Speaker.MODEL)
    document.extend("because")
    unfolded = rows(document)
    before = document.lines_laid_out
    document.fold(thought, True)
    thought.words = "reasoned for 2.3 s"
    assert document.settled
    assert [row.rstrip() for row in rows(document)] == [f"{'why':17}you", "", "reasoned for 2.3 s", "", "because"]
    document.set_width(30)
    document.lay_out_more(1_000_000)
    document.set_width(20)
    document.lay_out_more(1_000_000)
    # What is folded is never laid out: only the two other turns were, twice.
    assert document.lines_laid_out - before <= 4
    document.fold(thought, False)
    document.lay_out_more(1_000_000)
    assert document.settled
    assert rows(document) == unfolded


@pytest.mark.parametrize("at", [0, 5_000, 40_000])
def test_a_turn_that_grows_while_it_is_folded(at: int) -> None:
    text = "some words and more of them\n" * 2_000
    whole = laid_out(text, 33)
    document = laid_out(text[:at], 33)
    (turn,) = document.turns
    document.fold(turn, True)
    before = document.lines_laid_out
    for start in range(at, len(text), 999):
        assert document.extend(text[start : start + 999]) == 0
        assert document.height == 1
    assert document.lines_laid_out == before
    document.fold(turn, False)
    document.lay_out_more(len(text) * 64)
    assert document.settled
    assert shape(document) == shape(whole)


def test_places_in_a_folded_turn_are_its_row() -> None:
    document = Document(20)
    document.begin(Speaker.USER)
    document.extend("why")
    thought = document.begin(Speaker.REASONING)
    document.extend("word " * 10_000)
    place = document.place_at(1_000)
    assert place is not None
    character = document.place_of(thought, 30_000)
    assert document.row_of(place) == 1_000
    document.fold(thought, True)
    assert document.row_of(place) == document.row_of(character) == 2
    assert document.row_of(document.place_of(thought, 0)) == 2
    document.fold(thought, False)
    document.lay_out_more(1_000_000)
    assert document.row_of(place) == 1_000
    line = document.line(document.row_of(character))
    assert line is not None
    assert line.block.offset + line.start <= 30_000 < line.block.offset + line.end + 1


def test_dropping_a_folded_turn() -> None:
    document = Document(20)
    document.begin(Speaker.USER)
    document.extend("one")
    thought = document.begin(Speaker.REASONING, folded=True)
    document.extend("x" * 30_000)
    document.set_width(10)
    document.drop_from(thought)
    document.lay_out_more(1000)
    assert document.settled
    assert document.height == 1
