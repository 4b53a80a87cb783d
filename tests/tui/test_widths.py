"""Whatever a terminal thinks of the width of a cluster, nothing of an older picture stays on it."""

import random
from collections.abc import Callable, Iterator

import pyte
import pytest
from rich.cells import set_cell_size
from rich.console import Console
from rich.segment import Segment
from rich.style import Style
from textual._compositor import ChopsUpdate, CompositorUpdate, LayoutUpdate
from textual.geometry import Region
from textual.strip import Strip

from decodescope.tui.conversation.graphemes import clusters, width_of
from decodescope.tui.frame_encoder import FrameEncoder

from .terminal.pty_process import visible_cell

WIDTH, HEIGHT, PANEL_AT = 44, 5, 24
CONSOLE = Console(color_system="truecolor", force_terminal=True, _environ={})
TEXT = Style(color="#e0e0e0", bgcolor="#121212")
TINTED = Style(color="#ffaa00", bgcolor="#121212", underline=True)
PANEL = Style(color="#e0e0e0", bgcolor="#242424")
WARNING, FAMILY, KEYCAP, FLAG, THUMB = "⚠️", "👨‍👩‍👧", "1️⃣", "🇩🇪", "👍🏽"
PIECES = [
    WARNING,
    FAMILY,
    KEYCAP,
    FLAG,
    THUMB,
    "สวัสดี",
    "น้ำ",
    "日本",
    "🦙",
    "☀",
    "e\u0301",
    "नमस्ते",
    "한글",
    "각",
    "ok",
    "a b",
    " ",
]

Policy = Callable[[str], Iterator[tuple[str, int]]]
"""Cuts text into what a terminal draws as one, with the cells that it takes; 0: added to the cell before."""


def by_character(text: str) -> Iterator[tuple[str, int]]:
    """As tmux up to 3.3, and many others: a presentation selector changes nothing, joined pictures stand in a row."""
    for character in text:
        yield character, width_of[character]


def by_cluster(text: str) -> Iterator[tuple[str, int]]:
    """As terminals in mode 2027."""
    for start, end, _ in clusters(text):
        yield text[start:end], min(sum(width_of[character] for character in text[start:end]), 2) or 1


def narrow(text: str) -> Iterator[tuple[str, int]]:
    """Of old tables: no picture is wide."""
    for start, end, width in clusters(text):
        yield text[start:end], width if width_of[text[start]] == 2 and ord(text[start]) < 0x1F000 else 1


def broad(text: str) -> Iterator[tuple[str, int]]:
    """Joined pictures are one, as wide as all of them."""
    for start, end, _ in clusters(text):
        cluster = text[start:end]
        yield cluster, sum(width_of[character] for character in cluster) + ("\ufe0f" in cluster)


def marks_apart(text: str) -> Iterator[tuple[str, int]]:
    """Every mark takes a cell."""
    for character in text:
        yield character, width_of[character] or 1


def am_joined(text: str) -> Iterator[tuple[str, int]]:
    """Vowels that stand alone elsewhere are drawn in the cell before."""
    for character in text:
        yield (
            character,
            0 if character in "\u0e33\u093e\u0947" or "\u1160" <= character <= "\u11ff" else width_of[character],
        )


class Terminal(pyte.Screen):
    """Measures by a policy. Of something that is overwritten in part the rest goes (``breaks``), or stays."""

    def __init__(self, policy: Policy, *, breaks: bool) -> None:
        super().__init__(WIDTH, HEIGHT)
        self._policy = policy
        self._breaks = breaks
        self.feed = pyte.Stream(self).feed

    def draw(self, data: str) -> None:
        for text, cells in self._policy(data):
            line = self.buffer[self.cursor.y]
            x = min(self.cursor.x, WIDTH - max(cells, 1))
            if not cells:
                if self.cursor.x:
                    before = line[self.cursor.x - 1]
                    line[self.cursor.x - 1] = before._replace(data=before.data + text)
                continue
            if self._breaks:
                self._break(x, x + cells)
            line[x] = self.cursor.attrs._replace(data=text)
            for place in range(x + 1, x + cells):
                line[place] = self.cursor.attrs._replace(data="")
            self.cursor.x = min(x + cells, WIDTH)

    def _break(self, first: int, last: int) -> None:
        line = self.buffer[self.cursor.y]
        begin, end = first, last
        while begin > 0 and line[begin].data == "":
            begin -= 1
        while end < WIDTH and line[end].data == "":
            end += 1
        if begin < first or end > last:
            for place in range(begin, end):
                line[place] = line[place]._replace(data=" ")

    def picture(self) -> list[tuple[str, object]]:
        return [visible_cell(self.buffer[y][x]) for y in range(HEIGHT) for x in range(WIDTH)]


Line = dict[int, Strip]
"""The parts of a line by the column where each begins."""


def some_text(random_: random.Random, width: int) -> Strip:
    segments, left = [], width
    while left > 0:
        piece = set_cell_size(random_.choice(PIECES) * random_.randint(1, 3), random_.randint(1, 6))
        segments.append(Segment(piece, random_.choice([TEXT, TEXT, TINTED])))
        left -= segments[-1].cell_length
    return Strip(segments).adjust_cell_length(width, TEXT)


def plain(text: str, width: int = WIDTH, style: Style = TEXT) -> Strip:
    return Strip([Segment(text, style)]).adjust_cell_length(width, style)


def some_line(random_: random.Random, *, panel: bool) -> Line:
    text = some_text(random_, PANEL_AT if panel else WIDTH)
    if random_.random() < 0.3:
        text = plain("plain text " * random_.randint(0, 3), text.cell_length)
    return {0: text, PANEL_AT: plain("panel", WIDTH - PANEL_AT, PANEL)} if panel else {0: text}


def whole(lines: list[Line]) -> LayoutUpdate:
    return LayoutUpdate([list(line.values()) for line in lines], Region(0, 0, WIDTH, HEIGHT))


def part(lines: list[Line], spans: list[tuple[int, int, int]]) -> ChopsUpdate:
    return ChopsUpdate(lines, spans, [[*list(line)[1:], WIDTH] for line in lines])


POLICIES = [by_character, by_cluster, narrow, broad, marks_apart, am_joined]


@pytest.mark.parametrize("breaks", [True, False])
@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("seed", range(3))
def test_frame_after_frame_is_as_drawn_afresh(policy: Policy, breaks: bool, seed: int) -> None:
    random_ = random.Random(seed)
    encoder = FrameEncoder(lambda: seed % 2 == 0)
    shown = Terminal(policy, breaks=breaks)
    panel = False
    lines = [some_line(random_, panel=panel) for _ in range(HEIGHT)]
    shown.feed(encoder.encode(whole(lines), CONSOLE))
    for _ in range(30):
        update: CompositorUpdate
        match random_.choice(["panel", "scroll", "page", "line", "line", "figure"]):
            case "panel":
                panel = not panel
                lines = [some_line(random_, panel=panel) for _ in range(HEIGHT)]
                update = part(lines, [(y, 0, WIDTH) for y in range(HEIGHT)])
            case "scroll":
                lines = [*lines[1:], some_line(random_, panel=panel)]
                update = part(lines, [(y, 0, WIDTH) for y in range(HEIGHT)])
            case "page":
                lines = [some_line(random_, panel=panel), *[{0: plain("")} for _ in range(HEIGHT - 1)]]
                lines = [{0: line[0], **({} if len(line) == 1 else {PANEL_AT: line[PANEL_AT]})} for line in lines]
                update = part(lines, [(y, 0, WIDTH) for y in range(HEIGHT)])
            case "figure":
                y = random_.randrange(HEIGHT)
                (last_x, last), *_ = [*lines[y].items()][::-1]
                figure = last.crop(0, last.cell_length - 3)
                lines[y] = {**lines[y], last_x: Strip.join([figure, plain(str(random_.random())[2:5], 3)])}
                update = part(lines, [(y, WIDTH - 3, WIDTH)])
            case _:
                y = random_.randrange(HEIGHT)
                lines[y] = some_line(random_, panel=len(lines[y]) > 1)
                update = part(lines, [(y, 0, WIDTH)])
        shown.feed(encoder.encode(update, CONSOLE))
        fresh = Terminal(policy, breaks=breaks)
        fresh.feed(FrameEncoder(lambda: seed % 2 == 0).encode(whole(lines), CONSOLE))
        assert shown.picture() == fresh.picture()


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("piece", PIECES)
def test_nothing_is_left_when_it_goes(policy: Policy, piece: str) -> None:
    encoder, shown, fresh = FrameEncoder(), Terminal(policy, breaks=False), Terminal(policy, breaks=False)
    rest = [{0: plain("")}] * (HEIGHT - 1)
    encoded = encoder.encode(whole([{0: plain("|".join([piece] * 9))}, *rest]), CONSOLE)
    shown.feed(encoded)
    shown.feed(encoder.encode(part([{0: plain("|done")}, *rest], [(0, 0, WIDTH)]), CONSOLE))
    fresh.feed(FrameEncoder().encode(whole([{0: plain("|done")}, *rest]), CONSOLE))
    assert shown.picture() == fresh.picture()


@pytest.mark.parametrize("policy", POLICIES)
def test_what_stands_beside_keeps_its_place(policy: Policy) -> None:
    """However wide an emoji is, the bars after it stand where they were laid out."""
    shown = Terminal(policy, breaks=True)
    line = plain("".join(f"{piece}|" for piece in [WARNING, FAMILY, KEYCAP, FLAG, THUMB, "สวัสดี"]))
    shown.feed(FrameEncoder().encode(whole([{0: line}, *[{0: plain("")}] * (HEIGHT - 1)]), CONSOLE))
    bars, column = [], 0
    for start, end, width in clusters(line.text):
        if line.text[start:end] == "|":
            bars.append(column)
        column += width
    assert [x for x in range(WIDTH) if shown.buffer[0][x].data[:1] == "|"] == bars


def test_a_figure_beside_emoji_costs_only_itself() -> None:
    encoder = FrameEncoder()
    emoji = plain(f"{FAMILY} {WARNING} words", PANEL_AT)
    first, then = (
        [{0: emoji, PANEL_AT: plain(text, WIDTH - PANEL_AT)}, *[{0: plain("")}] * (HEIGHT - 1)]
        for text in ("figure 12", "figure 13")
    )
    encoder.encode(whole(first), CONSOLE)
    written = encoder.encode(part(then, [(0, PANEL_AT, WIDTH)]), CONSOLE)
    assert "3" in written
    assert len(written) < len("\x1b[1;33H\x1b[38;2;224;224;224;48;2;18;18;18m3\x1b[0m") + 1
