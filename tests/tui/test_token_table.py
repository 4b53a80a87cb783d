"""The token table in a small app."""

import math

import pytest
from rich.cells import cell_len
from textual.app import App, ComposeResult
from textual.strip import Strip

from decodescope.backends.events import RequestTaken, Token
from decodescope.backends.requests import Sampling
from decodescope.backends.token_facts import Probability, Scheduling
from decodescope.metrics.run import Run
from decodescope.tui.lens import OF_A_RUN, Lens
from decodescope.tui.token_columns import Columns, bar
from decodescope.tui.token_table import TokenTable
from decodescope.tui.token_text import fitted, hexadecimal, token_sign

MS = 1_000_000


class Host(App[None]):
    def __init__(self) -> None:
        super().__init__()
        self.highlighted: list[int | None] = []

    def compose(self) -> ComposeResult:
        yield TokenTable()

    @property
    def table(self) -> TokenTable:
        return self.query_one(TokenTable)

    def on_paged_table_highlighted(self, message: TokenTable.Highlighted) -> None:
        assert message.control is self.table
        self.highlighted.append(message.index)


class Story:
    """A run that is told token by token."""

    def __init__(self) -> None:
        self.run = Run(RequestTaken(t=0, request=1, sampling=Sampling(), seed=1))
        self._now = 182 * MS
        self._count = 0

    def token(
        self,
        piece: bytes = b" tok",
        gap_ms: float = 10,
        control: bool = False,
        *,
        involuntary: int | None = None,
        likely: tuple[float, int, float] | None = None,
    ) -> None:
        """``likely``: (probability, rank, entropy in bits)."""
        if self._count:
            self._now += int(gap_ms * MS)
        self._count += 1
        self.run.apply(
            Token(
                t=self._now,
                index=self._count,
                id=1000 + self._count,
                piece=piece,
                decode_ns=0,
                sample_ns=0,
                control=control,
                scheduling=None if involuntary is None else Scheduling(involuntary_switches=involuntary),
                probability=None
                if likely is None
                else Probability(
                    logprob=math.log(likely[0]),
                    rank=likely[1],
                    entropy_nats=likely[2] * math.log(2),
                    top=(),
                    cost_ns=MS // 5,
                ),
            )
        )

    def tokens(self, count: int) -> None:
        for _ in range(count):
            self.token()


def rows(app: Host) -> list[str]:
    width = app.table.view_width
    return [strip.crop(0, width).text.rstrip() for strip in app.screen._compositor.render_strips()]


def first_index(app: Host) -> int:
    return int(rows(app)[1][1:7])


@pytest.mark.parametrize(
    ("piece", "sign"),
    [
        (b" the", "·the"),
        (b"\n", "⏎"),
        (b"\r\n\t", "␍⏎⇥"),
        (b"\xf0\x9f", "\\xf0\\x9f"),
        ("é你".encode(), "é你"),
        ("\u0301".encode(), "◌\u0301"),
        (b"a\x1b[2J\x07", "a␛[2J␇"),
        ("\u009b".encode(), "\ufffd"),
        (b"[/b]", "[/b]"),
        (b"", ""),
    ],
)
def test_tokens_are_made_visible(piece: bytes, sign: str) -> None:
    assert token_sign(piece) == sign


@pytest.mark.parametrize(
    "text", ["", "abc", "abcdef", "你好世界", "a你好", "👩\u200d👧👩\u200d👧👩\u200d👧", "e\u0301" * 9, "x" * 999]
)
@pytest.mark.parametrize("cells", [1, 2, 3, 5, 6, 9])
def test_text_is_fitted_to_the_cell(text: str, cells: int) -> None:
    result = fitted(text, cells)
    assert cell_len(result) == cells
    assert result.rstrip() == text if cell_len(text) <= cells else "…" in result


def test_a_wide_character_is_not_cut() -> None:
    assert fitted("你好世界", 6) == "你好… "


def test_bars() -> None:
    # A full bar of 16 cells is 8 medians, so a median is 2 cells.
    assert bar(10, 10, 16).rstrip() == "━━"
    assert bar(2.5, 10, 16).rstrip() == "╸"
    assert bar(12.5, 10, 16).rstrip() == "━━╸"
    assert bar(80, 10, 16) == "━" * 16
    assert bar(81, 10, 16) == "━" * 16
    assert bar(85, 10, 16) == "━" * 15 + "+"
    assert bar(0, 10, 16) == " " * 16


def test_bytes_in_digits() -> None:
    assert hexadecimal(b" the", 20) == "20 74 68 65"
    assert hexadecimal(b" the", 11) == "20 74 68 65"
    assert hexadecimal(b" the", 10) == "20 74 68 …"
    assert hexadecimal(b"x" * 999, 8) == "78 78 …"
    assert hexadecimal(b"", 8) == ""


async def test_what_the_columns_say() -> None:
    story = Story()
    story.token(b" The")
    for _ in range(10):
        story.token(b"\n", involuntary=0)
    story.token(b" sky", gap_ms=15, involuntary=37)
    story.token(b"\xf0", gap_ms=30)
    story.token(b"\x9f", gap_ms=123.45)
    story.token(b"<|im_end|>", control=True)
    app = Host()
    async with app.run_test(size=(81, 20)) as pilot:
        app.table.show(story.run)
        await pilot.pause()
        shown = rows(app)
        assert shown[0].split() == ["#", "token", "id", "ITL", "ms", "×", "median", "at", "s", "why", "so", "slow"]
        assert shown[1].split() == ["1", "·The", "1001", "–", "TTFT", "0.182"]
        assert shown[2].split() == ["2", "⏎", "1002", "10.0", "1.0×", "0.192"]
        assert shown[12].split() == ["12", "·sky", "1012", "15.0", "1.5×", "!", "0.297", "pre-empted", "37×"]
        assert shown[13].split() == ["13", "\\xf0", "1013", "30.0", "3.0×", "!!", "0.327", "outside", "decode"]
        assert shown[14].split() == ["14", "\\x9f", "1014", "123", "12×", "!!!", "0.450", "outside", "decode"]
        assert shown[15].split()[:3] == ["15", "<|im_e…", "control"]
        # Numbers stand right-aligned under each other.
        assert len({row.index("10.0") for row in shown[2:12]}) == 1
        assert shown[14].index("123") + 3 == shown[2].index("10.0") + 4


async def test_what_another_lens_tells() -> None:
    story = Story()
    story.token(b" The")
    story.token(b" sky", likely=(0.5, 1, 1.04))
    story.token(b" sea", likely=(0.04, 3, 4.5))
    story.token(b" owl", likely=(0.00001, 40_000, 6.5), involuntary=50, gap_ms=100)
    app = Host()
    async with app.run_test(size=(81, 20)) as pilot:
        app.table.lens = Lens.PROBABILITY
        app.table.show(story.run)
        await pilot.pause()
        assert [row.split() for row in rows(app)[:5]] == [
            ["#", "token", "ITL", "ms", "chance", "rank", "bits", "why", "so", "slow"],
            ["1", "·The", "–", "–", "–", "–"],
            ["2", "·sky", "10.0", "50.0", "%", "1", "1.0"],
            ["3", "·sea", "10.0", "4.0", "%", "!!", "3", "4.5"],
            ["4", "·owl", "100", "<", "0.01", "%", "!!!", "40,000", "6.5"],
        ]
        app.table.lens = Lens.ENTROPY
        await pilot.pause()
        assert [row.split()[-1] for row in rows(app)[2:5]] == ["1.0", "!", "!!!"]
        app.table.lens = Lens.TIME
        await pilot.pause()
        assert rows(app)[4].split()[-3:] == ["10×", "!!!", "0.302"]


def test_what_is_told_of_a_lens_comes_before_what_is_known_of_a_token() -> None:
    for lens in OF_A_RUN:
        for width in range(20, 240):
            columns = Columns.fitting(lens, width)
            assert columns.token >= 1
            assert columns.used <= max(width, Columns.fitting(lens, 1).used)
            assert cell_len(columns.header) <= columns.used
    assert [Columns.fitting(Lens.TIME, width).why > 0 for width in (60, 66, 67, 79)] == [False, False, True, True]
    assert [Columns.fitting(Lens.TIME, width).bar > 0 for width in (79, 90, 118)] == [False, False, True]


@pytest.mark.parametrize("lens", OF_A_RUN)
@pytest.mark.parametrize("width", [*range(42, 80, 3), 80, 120, 200])
async def test_every_width(lens: Lens, width: int) -> None:
    story = Story()
    story.token("👩\u200d👧 你好你好你好你好你好你好你好你好".encode())
    story.token(b"x" * 300)
    story.token(b"\x1b[2J", gap_ms=500, likely=(0.1, 7, 3.3))
    app = Host()
    async with app.run_test(size=(width, 6)) as pilot:
        app.table.lens = lens
        app.table.show(story.run)
        await pilot.pause()
        assert all(strip.cell_length == width for strip in app.screen._compositor.render_strips())
        told = {Lens.TIME: ("TTFT", "0.192", "2.0×"), Lens.PROBABILITY: ("–", "–", "10.0 %"), Lens.ENTROPY: "––3"}
        for row, expected in zip(rows(app)[1:4], told[lens], strict=True):
            assert expected in row
            assert cell_len(row) <= width - 1


async def test_following_live_and_a_fixed_header() -> None:
    story = Story()
    app = Host()
    async with app.run_test(size=(80, 12)) as pilot:
        app.table.show(story.run)
        for count in (3, 1, 30, 500, 1):
            story.tokens(count)
            app.table.tokens_changed()
            while not any(row[1:7].strip() == str(story.run.token_count) for row in rows(app)):
                await pilot.pause(0.01)
            assert rows(app)[0].split()[:2] == ["#", "token"]
            assert app.table.following


async def test_fast_tokens_are_drawn_less_often_and_the_last_one_always() -> None:
    story = Story()
    app = Host()
    async with app.run_test(size=(80, 12)) as pilot:
        app.table.show(story.run)
        story.tokens(100)
        app.table.tokens_changed()
        drawn = app.table.content_rows()
        story.tokens(100)
        app.table.tokens_changed()
        assert app.table.content_rows() == drawn == 100
        while app.table.content_rows() != 200:
            await pilot.pause(0.01)
        await pilot.pause()
        assert any(row[1:7].strip() == "200" for row in rows(app))


async def test_a_reader_who_went_up_stays_there() -> None:
    story = Story()
    story.tokens(100)
    app = Host()
    async with app.run_test(size=(80, 12)) as pilot:
        app.table.show(story.run)
        app.table.focus()
        await pilot.pause()
        await pilot.press("pageup")
        await pilot.pause()
        before = rows(app)
        assert not app.table.following
        story.tokens(100)
        app.table.tokens_changed()
        await pilot.pause()
        assert rows(app)[1:] == before[1:]
        await pilot.press("end")
        await pilot.pause()
        assert app.table.following
        assert any(row[1:7].strip() == "200" for row in rows(app))


async def test_resizing_keeps_the_end_or_the_row_at_the_top() -> None:
    story = Story()
    story.tokens(100)
    app = Host()
    async with app.run_test(size=(80, 12)) as pilot:
        app.table.show(story.run)
        app.table.focus()
        await pilot.resize_terminal(60, 20)
        await pilot.pause()
        assert rows(app)[-1][1:7].strip() == "100"
        await pilot.press("home", "pagedown")
        await pilot.pause()
        top = first_index(app)
        await pilot.resize_terminal(100, 9)
        await pilot.pause()
        assert first_index(app) == top


async def test_the_cursor() -> None:
    story = Story()
    story.tokens(50)
    app = Host()
    async with app.run_test(size=(80, 12)) as pilot:
        app.table.show(story.run)
        app.table.focus()
        await pilot.pause()
        await pilot.press("up", "up")
        await pilot.pause()
        assert app.highlighted == [50, 49]
        assert app.table.cursor_index == 49
        assert not app.table.following
        assert [row[1:7].strip() for row in rows(app) if row.startswith("▸")] == ["49"]
        await pilot.press("pageup", "home")
        await pilot.pause()
        assert app.highlighted[2:] == [39, 1]
        assert rows(app)[1].startswith("▸")
        await pilot.press("end")
        await pilot.pause()
        assert app.table.cursor_index is None
        assert app.highlighted[-1] is None
        assert app.table.following
        await pilot.click(TokenTable, offset=(5, 3))
        await pilot.pause()
        assert app.table.cursor_index == first_index(app) + 2
        await pilot.press("up", "down", "down")
        assert app.table.cursor_index == first_index(app) + 3


async def test_no_run_and_an_empty_one() -> None:
    app = Host()
    async with app.run_test(size=(80, 12)) as pilot:
        app.table.focus()
        app.table.show(None)
        app.table.tokens_changed()
        await pilot.press("up", "down", "pageup", "home", "end")
        app.table.show(Story().run)
        await pilot.pause()
        assert not any(rows(app)[1:])


async def test_rows_cost_nothing_until_they_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    story = Story()
    story.tokens(100_000)
    app = Host()
    async with app.run_test(size=(80, 12)) as pilot:
        table = app.table
        drawn: list[int] = []
        draw = table._row

        def count(row: int, width: int) -> Strip:
            drawn.append(row)
            return draw(row, width)

        monkeypatch.setattr(table, "_row", count)
        table.show(story.run)
        await pilot.pause()
        assert max(drawn) == 99_999
        assert len(drawn) <= 3 * 12


async def test_tokens_that_came_while_hidden() -> None:
    story = Story()
    app = Host()
    async with app.run_test(size=(80, 12)) as pilot:
        app.table.show(story.run)
        await pilot.pause()
        app.table.display = False
        await pilot.pause()
        for _ in range(20):
            story.tokens(10)
            app.table.tokens_changed()
        app.table.display = True
        while not any(row[1:7].strip() == "200" for row in rows(app)):
            await pilot.pause(0.01)
        assert app.table.following


async def test_looking_at_a_token_from_elsewhere_tells_nobody() -> None:
    story = Story()
    story.tokens(500)
    app = Host()
    async with app.run_test(size=(80, 12)) as pilot:
        app.table.show(story.run)
        await pilot.pause()
        app.table.look_at(7)
        await pilot.pause()
        assert [row[1:7].strip() for row in rows(app) if row.startswith("▸")] == ["7"]
        app.table.look_at(None)
        await pilot.pause()
        assert app.table.cursor_index is None
        assert rows(app)[-1][1:7].strip() == "500"
        app.table.look_at(501)
        assert app.table.cursor_index is None
        assert app.highlighted == []
