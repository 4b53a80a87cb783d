"""The widget in a small app."""

from collections.abc import Iterable

import numpy as np
import pytest
from rich.segment import Segment
from textual.app import App, ComposeResult
from textual.geometry import Offset
from textual.selection import Selection

from decodescope.tui.conversation.fragment import Fragment
from decodescope.tui.conversation.legend import legend
from decodescope.tui.conversation.view import Conversation

WIDTH, HEIGHT = 40, 12


class Host(App[None]):
    def compose(self) -> ComposeResult:
        yield Conversation()

    @property
    def view(self) -> Conversation:
        return self.query_one(Conversation)


def fragments(texts: Iterable[str], tint: int = 0, thinking: bool = False) -> list[Fragment]:
    return [Fragment(index, text, tint, thinking) for index, text in enumerate(texts, start=1)]


def lines(first: int, count: int) -> list[Fragment]:
    return fragments(f"line {number}\n" for number in range(first, first + count))


def screen_rows(app: Host) -> list[str]:
    """What the terminal gets, row by row, without the scroll bar."""
    width = app.view.view_width
    return [strip.crop(0, width).text.rstrip() for strip in app.screen._compositor.render_strips()]


def top_line(app: Host) -> str:
    return screen_rows(app)[0].strip()


def segment_of(app: Host, text: str) -> Segment:
    for strip in app.screen._compositor.render_strips():
        for segment in strip:
            if text in segment.text:
                return segment
    raise AssertionError(f"{text!r} is not on the screen")


async def test_turns_are_told_apart_without_colour() -> None:
    app = Host()
    async with app.run_test(size=(WIDTH, HEIGHT)) as pilot:
        app.view.add_user("Why?\nReally?\n")
        app.view.append(fragments(["Be", "cause.", "\nSo"]))
        app.view.end_answer("cancelled after 3 tokens")
        await pilot.pause()
        assert screen_rows(app)[:7] == [
            "▌ Why?" + " " * 30 + "you",
            "▌ Really?",
            "",
            "  Because.",
            "  So",
            "  cancelled after 3 tokens",
            "",
        ]
        assert app.view.answer_text == "Because.\nSo"


@pytest.mark.parametrize(
    ("pieces", "shown"),
    [
        (["[@click=app.quit]x[/]"], "[@click=app.quit]x[/]"),
        (["ok [", "/", "INST]"], "ok [/INST]"),
        (["x: list[int] a[/p/q.py]"], "x: list[int] a[/p/q.py]"),
        (["a\x1b[2J\x1b]0;t\x07b\u009b2J"], "a␛[2J␛]0;t␇b\ufffd2J"),
        (["a\x1b", "[2", "J\r", "b\x7f"], "a␛[2J␍b␡"),
        (["a\u202eb\u2028c"], "a\ufffdb\ufffdc"),
    ],
)
async def test_hostile_text_is_shown_as_it_stands(pieces: list[str], shown: str) -> None:
    app = Host()
    async with app.run_test(size=(WIDTH, HEIGHT)) as pilot:
        app.view.add_user("".join(pieces))
        app.view.append(fragments(pieces))
        app.view.end_answer("".join(pieces))
        await pilot.pause()
        rows = screen_rows(app)
        assert rows[0] == ("▌ " + shown).ljust(WIDTH - 4) + "you"
        assert [rows[2], rows[3]] == ["  " + shown] * 2
        assert app.view.answer_text == "".join(pieces)


async def test_a_character_completed_by_a_later_token() -> None:
    app = Host()
    async with app.run_test(size=(WIDTH, HEIGHT)) as pilot:
        for piece in ["👩", "\u200d", "👧", " e", "\u0301", "❤", "\ufe0f", "!"]:
            app.view.append(fragments([piece]))
            await pilot.pause()
        assert screen_rows(app)[0] == "  👩\u200d👧 e\u0301❤\ufe0f!"


async def test_tokens_are_tinted_and_told_apart_without_colour() -> None:
    app = Host()
    async with app.run_test(size=(WIDTH, HEIGHT)) as pilot:
        app.view.append(
            [Fragment(index, word, index - 1) for index, word in enumerate(["zero", "one", "two", "six"], 1)]
        )
        app.view.append([Fragment(5, "\nhm", 0, thinking=True), Fragment(6, "mm", 3, thinking=True)])
        await pilot.pause()
        told = {}
        for word in ("zero", "one", "two", "six", "mm"):
            style = segment_of(app, word).style
            assert style is not None
            told[word] = (bool(style.underline), bool(style.bold), bool(style.reverse))
        assert told == {
            "zero": (False, False, False),
            "one": (True, False, False),
            "two": (True, True, False),
            "six": (False, True, True),
            "mm": (False, True, True),
        }
        assert screen_rows(app)[1] == "┊ hmmm"


async def test_new_tints() -> None:
    app = Host()
    async with app.run_test(size=(WIDTH, HEIGHT)) as pilot:
        app.view.append(fragments(["one", "two"]))
        await pilot.pause()
        app.view.retint(np.array([0, 3], dtype=np.int8))
        await pilot.pause()
        style = segment_of(app, "two").style
        assert style is not None
        assert style.reverse
        assert segment_of(app, "one").text == "  one"


async def test_another_theme_restyles_what_is_there() -> None:
    app = Host()
    async with app.run_test(size=(WIDTH, HEIGHT)) as pilot:
        app.view.append(fragments(["plain "]) + fragments(["slow"], tint=1))
        await pilot.pause()
        dark = [segment_of(app, word).style for word in ("plain", "slow")]
        app.theme = "textual-light"
        await pilot.pause()
        light = [segment_of(app, word).style for word in ("plain", "slow")]
        for before, after in zip(dark, light, strict=True):
            assert before is not None
            assert after is not None
            assert before.color != after.color
            assert before.bgcolor != after.bgcolor


async def test_a_burst_ends_at_the_bottom() -> None:
    app = Host()
    async with app.run_test(size=(WIDTH, HEIGHT)) as pilot:
        app.view.append(lines(1, 50))
        await pilot.pause()
        assert "  line 50" in screen_rows(app)
        assert app.view.following


async def test_pages_are_turned_not_scrolled() -> None:
    app = Host()
    async with app.run_test(size=(WIDTH, HEIGHT)) as pilot:
        tops = []
        for number in range(1, 31):
            app.view.append(lines(number, 1))
            await pilot.pause()
            tops.append(app.view.scroll_offset.y)
            rows = screen_rows(app)
            assert f"  line {number}" in rows
            newest = rows.index(f"  line {number}")
            if len(tops) > 1 and tops[-1] != tops[-2]:
                # The cursor's empty line comes after the newest; half of the view is free.
                assert newest == HEIGHT // 2 - 1
        assert sorted(set(tops)) == [0, 6, 12, 18, 24][: len(set(tops))]
        assert len(set(tops)) == 5


@pytest.mark.parametrize("key", ["up", "pageup", "home"])
async def test_a_reader_who_went_up_stays_there(key: str) -> None:
    app = Host()
    async with app.run_test(size=(WIDTH, HEIGHT)) as pilot:
        app.view.focus()
        app.view.append(lines(1, 40))
        await pilot.pause()
        await pilot.press(key)
        await pilot.pause()
        assert not app.view.following
        before = screen_rows(app)
        app.view.append(lines(41, 50))
        await pilot.pause()
        assert before[0] == screen_rows(app)[0]
        await pilot.press("end")
        await pilot.pause()
        assert app.view.following
        assert "  line 50" not in before
        app.view.append(lines(91, 1))
        await pilot.pause()
        assert "  line 91" in screen_rows(app)


async def test_the_wheel_and_the_way_back() -> None:
    app = Host()
    async with app.run_test(size=(WIDTH, HEIGHT)) as pilot:
        app.view.focus()
        app.view.append(lines(1, 40))
        await pilot.pause()
        app.view._scroll_up_for_pointer(animate=False)
        assert not app.view.following
        app.view._scroll_down_for_pointer(animate=False)
        assert app.view.following
        await pilot.press("up", "down")
        await pilot.pause()
        assert app.view.following


async def test_nothing_to_scroll_is_nothing_to_leave() -> None:
    app = Host()
    async with app.run_test(size=(WIDTH, HEIGHT)) as pilot:
        app.view.focus()
        app.view.append(lines(1, 3))
        await pilot.press("up", "pageup", "home")
        assert app.view.following


async def test_resizing_while_following() -> None:
    app = Host()
    async with app.run_test(size=(WIDTH, HEIGHT)) as pilot:
        app.view.append(fragments(f"word{number} " for number in range(400)))
        for size in ((20, 8), (100, 30), (7, 5), (40, 12)):
            await pilot.resize_terminal(*size)
            await pilot.pause()
            assert "word399"[-3:] in "".join(screen_rows(app)).replace(" ", "")
            assert app.view.following


async def test_resizing_keeps_what_the_reader_reads() -> None:
    app = Host()
    async with app.run_test(size=(WIDTH, HEIGHT)) as pilot:
        app.view.focus()
        app.view.append(fragments(f"word{number} " for number in range(2000)))
        await pilot.pause()
        await pilot.press("home", *["pagedown"] * 3)
        await pilot.pause()
        word = top_line(app).split()[0]
        for size in ((33, 12), (57, 20), (25, 9), (40, 12)):
            await pilot.resize_terminal(*size)
            await pilot.pause()
            assert word in top_line(app).split()
            assert not app.view.following
        assert top_line(app).split()[0] == word


async def test_a_long_answer_is_wrapped_anew_in_slices() -> None:
    app = Host()
    async with app.run_test(size=(WIDTH, HEIGHT)) as pilot:
        app.view.focus()
        app.view.append(fragments(f"word{number} " for number in range(60_000)))
        await pilot.pause()
        await pilot.press("pageup")
        await pilot.pause()
        word = top_line(app).split()[0]
        before = app.view.lines_laid_out
        await pilot.resize_terminal(60, HEIGHT)
        assert app.view.lines_laid_out - before < 2500
        while not app.view._document.settled:
            await pilot.pause(0.01)
        await pilot.pause()
        assert word in top_line(app).split()
        await pilot.press("home")
        await pilot.pause()
        assert top_line(app).startswith("word0 word1 ")
        await pilot.press("end")
        await pilot.pause()
        assert "word59999" in "".join(screen_rows(app))


async def test_going_far_before_the_slices_are_done() -> None:
    app = Host()
    async with app.run_test(size=(WIDTH, HEIGHT)) as pilot:
        view = app.view
        view.focus()
        view.append(fragments(f"word{number} " for number in range(60_000)))
        await pilot.pause()
        await pilot.resize_terminal(60, HEIGHT)
        view.scroll_to(y=view.max_scroll_y // 2, animate=False)
        middle = view._document.line(view.scroll_offset.y)
        assert middle is not None
        expected = middle.block.text[middle.start : middle.end].split()
        while not view._document.settled:
            await pilot.pause(0.01)
        await pilot.pause()
        assert top_line(app).split() == expected


async def test_turns_can_be_taken_back() -> None:
    app = Host()
    async with app.run_test(size=(WIDTH, HEIGHT)) as pilot:
        view = app.view
        view.add_user("first")
        view.append(fragments(["one"]))
        view.end_answer()
        view.add_user("second")
        view.append(lines(1, 50))
        view.end_answer("stopped")
        view.drop_last_turn()
        await pilot.pause()
        assert [row for row in screen_rows(app) if row] == ["▌ first" + " " * 29 + "you", "  one"]
        assert view.answer_text == "one"
        view.drop_last_turn()
        view.drop_last_turn()
        assert view.answer_text == ""
        view.append(fragments(["two"]))
        await pilot.pause()
        assert [row for row in screen_rows(app) if row] == ["  two"]
        view.clear()
        await pilot.pause()
        assert not any(screen_rows(app))


async def test_selected_text_is_joined_where_it_was_only_wrapped() -> None:
    app = Host()
    async with app.run_test(size=(12, HEIGHT)) as pilot:
        app.view.append(fragments(["one two three\n\nfour"]))
        await pilot.pause()
        assert screen_rows(app)[:4] == ["  one two", "  three", "", "  four"]
        everything = app.view.get_selection(Selection(None, None))
        assert everything is not None
        assert everything[0] == "one two three\n\nfour"
        part = app.view.get_selection(Selection(Offset(4, 0), Offset(2, 3)))
        assert part is not None
        assert part[0] == "two three\n\nfo"


async def test_selecting_with_the_mouse() -> None:
    app = Host()
    async with app.run_test(size=(WIDTH, HEIGHT)) as pilot:
        app.view.append(fragments(["one 你好 three"]))
        await pilot.pause()
        await pilot.mouse_down(offset=(6, 0))
        await pilot.hover(offset=(8, 0))
        await pilot.mouse_up(offset=(8, 0))
        await pilot.pause()
        assert app.screen.get_selected_text() == "你好"


async def test_only_what_changed_is_painted() -> None:
    app = Host()
    async with app.run_test(size=(WIDTH, HEIGHT)) as pilot:
        view = app.view
        view.append(lines(1, 4))
        await pilot.pause()
        for token in ["a", " b", " c", "\n", "d"]:
            before = view.lines_painted
            view.append(fragments([token]))
            await pilot.pause()
            assert 1 <= view.lines_painted - before <= 2


async def test_a_frame_costs_the_same_after_many_tokens() -> None:
    app = Host()
    async with app.run_test(size=(WIDTH, HEIGHT)) as pilot:
        view = app.view

        async def frame() -> tuple[int, int]:
            laid_out, painted = view.lines_laid_out, view.lines_painted
            view.append(fragments([" some", " more", " words"]))
            await pilot.pause()
            return view.lines_laid_out - laid_out, view.lines_painted - painted

        early = [await frame() for _ in range(40)]
        view.append(fragments([" word"] * 100_000))
        await pilot.pause()
        late = [await frame() for _ in range(40)]
        assert max(late)[0] <= max(early)[0] + 1
        assert max(painted for _, painted in late) <= HEIGHT


async def test_text_that_came_while_hidden() -> None:
    app = Host()
    async with app.run_test(size=(WIDTH, HEIGHT)) as pilot:
        app.view.append(lines(1, 3))
        await pilot.pause()
        app.view.display = False
        await pilot.pause()
        for number in range(4, 60):
            app.view.append(lines(number, 1))
            await pilot.pause()
        app.view.display = True
        await pilot.pause()
        await pilot.pause()
        assert screen_rows(app)[-2:] == ["  line 59", ""]
        assert app.view.following


async def test_widths_from_one_cell() -> None:
    app = Host()
    async with app.run_test(size=(WIDTH, HEIGHT)) as pilot:
        app.view.add_user("你好 hello")
        app.view.append(fragments(["👩\u200d👧 ok\tx"]))
        for width in [*range(1, 30), 300]:
            await pilot.resize_terminal(width, HEIGHT)
            await pilot.pause()
            assert all(strip.cell_length == width for strip in app.screen._compositor.render_strips())


def test_the_legend_names_every_tint() -> None:
    assert legend().plain == "slow ≥ 1.5×  slower ≥ 3×  slowest ≥ 10×  the median time per token"
