"""Frames as the encoder writes them leave the same picture as Textual's own, in fewer bytes."""

import random
from collections.abc import Callable

import pyte
import pytest
from rich.console import Console
from rich.segment import Segment
from rich.style import Style
from textual._compositor import ChopsUpdate, CompositorUpdate, LayoutUpdate
from textual.geometry import Region
from textual.strip import Strip

from decodescope.tui.frame_encoder import FrameEncoder

from .terminal.pty_process import visible_cell

WIDTH, HEIGHT = 40, 6
CONSOLE = Console(color_system="truecolor", force_terminal=True, _environ={})
DARK = Style(color="#e0e0e0", bgcolor="#121212")
PANEL = Style(color="#e0e0e0", bgcolor="#242424")


class Screen:
    """What a terminal makes of the bytes."""

    def __init__(self) -> None:
        self._screen = pyte.Screen(WIDTH, HEIGHT)
        self._screen.reset_mode(7, private=True)  # line wrap, which the driver switches off
        self._stream = pyte.Stream(self._screen)
        self.size = 0

    def feed(self, text: str) -> None:
        self.size += len(text.encode())
        self._stream.feed(text)

    @property
    def lines(self) -> list[str]:
        return list(self._screen.display)

    def picture(self) -> list[tuple[str, object]]:
        """Every cell with all that can be seen of it."""
        cells = (self._screen.buffer[y][x] for y in range(HEIGHT) for x in range(WIDTH))
        return [visible_cell(cell) for cell in cells]


def full(rows: list[list[Segment]]) -> LayoutUpdate:
    return LayoutUpdate([[Strip(row, WIDTH)] for row in rows], Region(0, 0, WIDTH, HEIGHT))


def partial(rows: list[list[Segment]], spans: list[tuple[int, int, int]]) -> ChopsUpdate:
    return ChopsUpdate([{0: Strip(row, WIDTH)} for row in rows], spans, [[WIDTH]] * HEIGHT)


def plain(*lines: str) -> list[list[Segment]]:
    return [[Segment(f"{line:<{WIDTH}}", DARK)] for line in [*lines, *[""] * (HEIGHT - len(lines))]]


@pytest.fixture
def encode() -> Callable[[CompositorUpdate], str]:
    encoder = FrameEncoder()
    return lambda update: encoder.encode(update, CONSOLE)


def test_only_cells_that_differ_are_written(encode: Callable[[CompositorUpdate], str]) -> None:
    encode(full(plain("one two", "same")))
    written = encode(partial(plain("one too", "same"), [(0, 0, WIDTH), (1, 0, WIDTH)]))
    assert written == "\x1b[1;6H\x1b[38;2;224;224;224;48;2;18;18;18mo\x1b[0m"


def test_nothing_is_written_where_nothing_differs(encode: Callable[[CompositorUpdate], str]) -> None:
    encode(full(plain("one")))
    assert encode(partial(plain("one"), [(y, 0, WIDTH) for y in range(HEIGHT)])) == ""


def test_a_whole_layout_is_always_written(encode: Callable[[CompositorUpdate], str]) -> None:
    first = encode(full(plain("one")))
    assert encode(full(plain("one"))) == first


def test_of_a_style_only_what_changes_is_written(encode: Callable[[CompositorUpdate], str]) -> None:
    encode(full(plain()))
    row = [Segment("a", DARK), Segment("b", DARK + Style(bold=True)), Segment("c", PANEL), Segment(" " * 37, DARK)]
    written = encode(partial([row, *plain()[1:]], [(0, 0, WIDTH)]))
    assert written == (
        "\x1b[1;1H\x1b[38;2;224;224;224;48;2;18;18;18ma"
        "\x1b[1mb"
        "\x1b[0;38;2;224;224;224;48;2;36;36;36mc\x1b[0m"
    )  # fmt: skip


def test_far_apart_changes_are_stepped_between(encode: Callable[[CompositorUpdate], str]) -> None:
    encode(full(plain("a" + " " * 20 + "b")))
    written = encode(partial(plain("c" + " " * 20 + "d"), [(0, 0, WIDTH)]))
    assert "c\x1b[20Cd" in written


@pytest.mark.parametrize("erases", [True, False])
def test_long_runs_of_spaces_are_erased_where_the_terminal_can(erases: bool) -> None:
    asked = 0

    def ask() -> bool:
        nonlocal asked
        asked += 1
        return erases

    encoder, screen = FrameEncoder(ask), Screen()
    screen.feed(encoder.encode(full(plain("x" * 30, "y" * 30)), CONSOLE))
    for _ in range(2):
        written = encoder.encode(partial(plain("", "y" * 30), [(0, 0, WIDTH), (1, 0, WIDTH)]), CONSOLE)
        screen.feed(written)
    assert asked == 1
    assert screen.lines[:2] == [" " * WIDTH, f"{'y' * 30:<{WIDTH}}"]
    encoder = FrameEncoder(ask)
    encoder.encode(full(plain("x" * 30)), CONSOLE)
    written = encoder.encode(partial(plain(""), [(0, 0, WIDTH)]), CONSOLE)
    assert ("\x1b[30X" in written) is erases


def test_wide_letters_are_cells_like_others(encode: Callable[[CompositorUpdate], str]) -> None:
    row = [Segment("日本", DARK), Segment(" " * 36, DARK)]
    rows = [row, *plain()[1:]]
    encode(full(rows))
    assert encode(partial(rows, [(0, 0, WIDTH)])) == ""
    screen = Screen()
    screen.feed(encode(full(rows)))
    screen.feed(encode(partial(plain("ab"), [(0, 0, WIDTH)])))
    assert screen.lines[0] == f"{'ab':<{WIDTH}}"


def test_without_colours_there_are_none() -> None:
    encoder = FrameEncoder()
    console = Console(color_system="256", force_terminal=True, _environ={})
    assert "38;5;" in encoder.encode(full(plain("x")), console)
    assert "38;2;" not in FrameEncoder().encode(full(plain("x")), console)


STYLES = [
    DARK,
    PANEL,
    Style(color="#ffaa00", bgcolor="#121212", underline=True),
    Style(color="#ff0000", bgcolor="#121212", bold=True, reverse=True),
    Style(color="#e0e0e0", bgcolor="#121212", bold=True, italic=True),
    Style(),
]


def some_row(random_: random.Random) -> list[Segment]:
    row: list[Segment] = []
    left = WIDTH
    while left:
        length = min(left, random_.randint(1, 14))
        text = random_.choice(["word and more w", " " * 15, "éß→█⣿ some text", "a b c d e f g h"])[:length]
        row.append(Segment(text, random_.choice(STYLES)))
        left -= length
    return row


@pytest.mark.parametrize("seed", range(12))
def test_the_picture_is_textuals(seed: int) -> None:
    random_ = random.Random(seed)
    encoder = FrameEncoder(lambda: seed % 2 == 0)
    theirs, ours = Screen(), Screen()
    rows = [some_row(random_) for _ in range(HEIGHT)]
    for number in range(40):
        update: CompositorUpdate
        if number % 20 == 0:
            rows = [some_row(random_) for _ in range(HEIGHT)]
            update = full(rows)
        else:
            spans = []
            for y in sorted(random_.sample(range(HEIGHT), random_.randint(1, HEIGHT))):
                rows[y] = random_.choice([rows[y], some_row(random_)])
                first = random_.randint(0, WIDTH - 1)
                spans.append((y, first, random_.randint(first + 1, WIDTH)))
            update = partial(rows, spans)
        theirs.feed(update.render_segments(CONSOLE))
        ours.feed(encoder.encode(update, CONSOLE))
        assert ours.picture() == theirs.picture()
    assert ours.size < theirs.size


def test_nothing_right_of_the_part_that_changed_is_written(encode: Callable[[CompositorUpdate], str]) -> None:
    encode(full(plain("abcdefghij")))
    written = encode(partial(plain("ABCDEFGHIJ"), [(0, 3, 6)]))
    assert "ABCDEF" in written
    assert "G" not in written
