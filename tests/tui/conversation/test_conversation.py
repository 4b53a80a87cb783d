"""The widget in a small app."""

import math
from collections.abc import Iterable

import numpy as np
import pytest
from rich.segment import Segment
from textual.app import App, ComposeResult
from textual.geometry import Offset
from textual.selection import Selection

from decodescope.backends.token_facts import Kind
from decodescope.tui.conversation import text_pages
from decodescope.tui.conversation.fragment import Fragment
from decodescope.tui.conversation.marks import pack
from decodescope.tui.conversation.view import Conversation
from decodescope.tui.lens import Lens

WIDTH, HEIGHT = 40, 12


class Host(App[None]):
    def __init__(self) -> None:
        super().__init__()
        self.asked: list[int | str] = []
        """Steps as numbers, picked tokens as text."""

    def on_conversation_stepped(self, message: Conversation.Stepped) -> None:
        self.asked.append(message.step)

    def on_conversation_picked(self, message: Conversation.Picked) -> None:
        self.asked.append(str(message.index))

    def compose(self) -> ComposeResult:
        yield Conversation()

    @property
    def view(self) -> Conversation:
        return self.query_one(Conversation)


def fragments(texts: Iterable[str], tint: int = 0, kind: Kind = "answer") -> list[Fragment]:
    return [Fragment(index, text, tint, kind) for index, text in enumerate(texts, start=1)]


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
        app.view.append([Fragment(5, "hm", 0, kind="reasoning"), Fragment(6, "mm", 3, kind="reasoning")])
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
        assert screen_rows(app)[2] == "┊ hmmm"


async def test_new_marks() -> None:
    app = Host()
    async with app.run_test(size=(WIDTH, HEIGHT)) as pilot:
        app.view.append(fragments(["one", "two"]))
        await pilot.pause()
        app.view.mark_again(np.array([0, 3], dtype=np.uint8))
        await pilot.pause()
        style = segment_of(app, "two").style
        assert style is not None
        assert style.reverse
        assert segment_of(app, "one").text == "  one"


async def test_a_note_above_a_token_that_is_there_already() -> None:
    app = Host()
    async with app.run_test(size=(WIDTH, HEIGHT)) as pilot:
        app.view.add_user("why?")
        app.view.append([*fragments(["hm", " mm"], kind="reasoning"), Fragment(3, "one", 0), Fragment(4, " two", 3)])
        app.view.end_answer("cancelled")
        assert app.view.interrupt(4, "── here ──")
        assert not app.view.interrupt(5, "── its text is still to come ──")
        await pilot.pause()
        told = [row.strip("▌┊ ") for row in screen_rows(app)]
        assert told[1:10] == ["", "hm mm", "", "one", "── here ──", "", "two", "cancelled", ""]
        style = segment_of(app, "two").style
        assert style is not None
        assert style.reverse
        app.view.mark_again(np.array([0, 0, 3, 0], dtype=np.uint8))
        await pilot.pause()
        style = segment_of(app, "one").style
        assert style is not None
        assert style.reverse


async def test_an_answer_goes_on_below_a_note() -> None:
    app = Host()
    async with app.run_test(size=(WIDTH, HEIGHT)) as pilot:
        app.view.append(fragments(["hm", " mm"], kind="reasoning"))
        assert app.view.interrupt(1, "── here ──")
        app.view.append([Fragment(3, " ok", 0, kind="reasoning"), Fragment(4, "\n\nyes", 0)])
        await pilot.pause()
        told = [row.strip("▌┊ ") for row in screen_rows(app)]
        assert told[:5] == ["── here ──", "", "hm mm ok", "", "yes"]


@pytest.mark.parametrize("token", [3, 45])
async def test_a_note_leaves_the_reader_where_they_are(token: int) -> None:
    app = Host()
    async with app.run_test(size=(WIDTH, HEIGHT)) as pilot:
        app.view.append(lines(1, 100))
        await pilot.pause()
        app.view.scroll_to(y=39, animate=False)
        await pilot.pause()
        assert top_line(app) == "line 40"
        assert app.view.interrupt(token, "── here ──")
        await pilot.pause()
        assert top_line(app) == "line 40"
        assert ("── here ──" in "\n".join(screen_rows(app))) is (token == 45)
        await pilot.resize_terminal(WIDTH + 10, HEIGHT)
        await pilot.pause()
        assert top_line(app) == "line 40"


@pytest.mark.parametrize("lens", list(Lens))
async def test_words_are_tinted_and_not_the_spaces_between_them(lens: Lens) -> None:
    app = Host()
    marks = [pack([degree], [0], [math.log(0.0001)], [4.0]).tolist()[0] for degree in (1, 2, 3)]
    async with app.run_test(size=(WIDTH, HEIGHT)) as pilot:
        app.view.lens = lens
        pieces = [" one", " two", "  and\u3000three ", "日本 ", " ", "x\ty", "\n    last "]
        app.view.append(Fragment(number, text, marks[number % 3]) for number, text in enumerate(pieces, 1))
        await pilot.pause()
        cells = [
            (character, style is not None and bool(style.underline or style.reverse))
            for strip in app.screen._compositor.render_strips()
            for text, style, _ in strip
            for character in text
        ]
        assert {character for character, tinted in cells if tinted} == set("onetwandhrxylast日本")
        assert all(tinted for character, tinted in cells if character in "onetwandhrxylast日本")


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


async def test_a_long_answer_is_wrapped_anew_in_slices(monkeypatch: pytest.MonkeyPatch) -> None:
    """A slice is laid out when the test says so: a slow machine would have done several before it is looked at."""
    monkeypatch.setattr(text_pages, "_SLICE_SECONDS", 3600)
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
        assert not app.view._document.settled
        while not app.view._document.settled:
            before = app.view.lines_laid_out
            app.view._lay_out_slice()
            assert 0 < app.view.lines_laid_out - before < 2500
        await pilot.pause()
        assert word in top_line(app).split()
        await pilot.press("home")
        await pilot.pause()
        assert top_line(app).startswith("word0 word1 ")
        await pilot.press("end")
        await pilot.pause()
        assert "word59999" in "".join(screen_rows(app))


async def test_going_far_before_the_slices_are_done(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_pages, "_SLICE_SECONDS", 3600)
    app = Host()
    async with app.run_test(size=(WIDTH, HEIGHT)) as pilot:
        view = app.view
        view.focus()
        view.append(fragments(f"word{number} " for number in range(60_000)))
        await pilot.pause()
        await pilot.resize_terminal(60, HEIGHT)
        view.scroll_to(y=view.max_scroll_y // 2, animate=False, immediate=True)
        await pilot.pause()
        expected = top_line(app).split()
        assert not view._document.settled
        while not view._document.settled:
            view._lay_out_slice()
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


async def test_a_disturbed_token_is_told_by_more_than_its_colour() -> None:
    app = Host()
    async with app.run_test(size=(WIDTH, HEIGHT)) as pilot:
        slow, disturbed = 1, 1 | int(pack([0], [True], [math.nan], [math.nan])[0])
        app.view.append([Fragment(1, "slow", slow), Fragment(2, "taken", disturbed)])
        await pilot.pause()
        styles = [segment_of(app, word).style for word in ("slow", "taken")]
        assert [(bool(style and style.underline), bool(style and style.italic)) for style in styles] == [
            (True, False),
            (True, True),
        ]
        app.view.lens = Lens.ENTROPY
        await pilot.pause()
        assert segment_of(app, "slow").text.startswith("  slowtaken ")


async def test_another_lens_repaints_what_is_in_view_and_lays_nothing_out() -> None:
    app = Host()
    async with app.run_test(size=(WIDTH, HEIGHT)) as pilot:
        view = app.view
        # Every third token is slow, every fifth unlikely.
        count = 100_000
        marks = pack(
            np.arange(count) % 3 == 0,
            np.zeros(count, dtype=bool),
            np.where(np.arange(count) % 5 == 0, np.log(0.1), np.log(0.9)),
            np.full(count, 0.1),
        ).tolist()
        view.append(Fragment(index, " word", mark) for index, mark in enumerate(marks, start=1))
        await pilot.pause()
        for lens in (Lens.PROBABILITY, Lens.ENTROPY, Lens.TIME, Lens.PROBABILITY):
            laid_out, painted = view.lines_laid_out, view.lines_painted
            view.lens = lens
            await pilot.pause()
            assert view.lines_laid_out == laid_out
            assert 0 < view.lines_painted - painted <= HEIGHT
        style = segment_of(app, "word").style
        assert style is not None
        assert not style.underline
        underlined = [segment for strip in app.screen._compositor.render_strips() for segment in strip]
        assert any(segment.style and segment.style.underline and segment.text == "word" for segment in underlined)


THOUGHT = [Fragment(index, piece, 0, kind="reasoning") for index, piece in enumerate(["\n", "hm", " well"], 1)]


async def test_reasoning_stands_apart() -> None:
    app = Host()
    async with app.run_test(size=(WIDTH, HEIGHT)) as pilot:
        app.view.add_user("why")
        app.view.begin_answer()
        app.view.append([*THOUGHT, Fragment(5, "\n\n", 0), Fragment(6, "Because", 0)])
        app.view.end_answer()
        await pilot.pause()
        assert screen_rows(app)[2:6] == ["┊ hm well", "", "  Because", ""]
        assert app.view.answer_text == "Because"


async def test_empty_reasoning_is_none() -> None:
    app = Host()
    async with app.run_test(size=(WIDTH, HEIGHT)) as pilot:
        app.view.append([Fragment(1, "\n\n", 0, kind="reasoning")])
        app.view.append([Fragment(3, "Because", 0)])
        await pilot.pause()
        assert [row for row in screen_rows(app) if row] == ["  Because"]


async def test_reasoning_folds_into_one_line_and_unfolds() -> None:
    app = Host()
    async with app.run_test(size=(50, HEIGHT)) as pilot:
        app.view.add_user("why")
        app.view.append(THOUGHT)
        app.view.tell_reasoning(lambda token: "reasoning for 0.1 s · 2 tokens")
        app.view.fold(True)
        await pilot.pause()
        assert screen_rows(app)[2] == "▸ reasoning for 0.1 s · 2 tokens · f9 unfolds"
        app.view.append([Fragment(5, "Because", 0)])
        app.view.tell_reasoning(lambda token: "reasoned for 2.3 s · 143 tokens")
        app.view.end_answer()
        await pilot.pause()
        assert screen_rows(app)[2:5] == ["▸ reasoned for 2.3 s · 143 tokens · f9 unfolds", "", "  Because"]
        app.view.add_user("again")
        app.view.append(THOUGHT)
        app.view.tell_reasoning(lambda token: "reasoned for 1.0 s · 2 tokens")
        await pilot.pause()
        # The next thought is folded too, and the first one keeps its words.
        assert [row for row in screen_rows(app) if row.startswith("▸")] == [
            "▸ reasoned for 2.3 s · 143 tokens · f9 unfolds",
            "▸ reasoned for 1.0 s · 2 tokens · f9 unfolds",
        ]
        app.view.fold(False)
        await pilot.pause()
        assert [row for row in screen_rows(app) if row.startswith("┊")] == ["┊ hm well"] * 2


async def test_a_folded_thought_shows_its_newest_text_while_it_lasts() -> None:
    app = Host()
    async with app.run_test(size=(80, HEIGHT)) as pilot:
        app.view.fold(True)
        app.view.append([Fragment(1, "x" * 99 + "\nnow \x1b[2J[b]你好", 0, kind="reasoning")])
        app.view.tell_reasoning(lambda token: "reasoning for 1.0 s · 1 token")
        await pilot.pause()
        assert screen_rows(app)[0] == "▸ reasoning for 1.0 s · 1 token · f9 unfolds  now ␛[2J[b]你好"
        app.view.append([Fragment(2, " and so on and so forth", 0, kind="reasoning")])
        app.view.tell_reasoning(lambda token: "reasoning for 1.5 s · 2 tokens")
        await pilot.pause()
        assert screen_rows(app)[0].endswith("f9 unfolds  …J[b]你好 and so on and so forth")
        assert app.view.lines_painted <= 4
        app.view.end_answer()
        app.view.tell_reasoning(lambda token: "reasoned for 1.5 s · 2 tokens")
        await pilot.pause()
        assert screen_rows(app)[0].endswith("f9 unfolds")


async def test_folding_keeps_what_the_reader_reads() -> None:
    app = Host()
    async with app.run_test(size=(WIDTH, HEIGHT)) as pilot:
        view = app.view
        view.focus()
        view.append(Fragment(index, f"hm{index} ", 0, kind="reasoning") for index in range(1, 3000))
        view.append(Fragment(index, f"word{index} ", 0) for index in range(3000, 6000))
        await pilot.pause()
        await pilot.press(*["pageup"] * 3)
        await pilot.pause()
        word = top_line(app).split()[0]
        assert not view.following
        view.fold(True)
        await pilot.pause()
        assert top_line(app).split()[0] == word
        view.fold(False)
        await pilot.pause()
        assert top_line(app).split()[0] == word
        await pilot.press("home", "pagedown")
        await pilot.pause()
        before = view.lines_laid_out
        view.fold(True)
        await pilot.pause()
        # What was read is in the folded line now.
        assert top_line(app).startswith("▸")
        assert view.lines_laid_out - before < 5 * HEIGHT
        view.append(Fragment(index, f"word{index} ", 0) for index in range(6000, 6400))
        await pilot.pause()
        assert top_line(app).startswith("▸")


async def test_a_folded_thought_that_grows_costs_nothing_to_lay_out() -> None:
    app = Host()
    async with app.run_test(size=(WIDTH, HEIGHT)) as pilot:
        view = app.view
        view.fold(True)
        for start in range(1, 20_000, 100):
            view.append(Fragment(index, " hm", 0, kind="reasoning") for index in range(start, start + 100))
        await pilot.pause()
        assert view.lines_laid_out < 10
        assert view.following
        view.append([Fragment(20_001, "So", 0)])
        await pilot.pause()
        assert "  So" in screen_rows(app)
        view.fold(False)
        await pilot.pause()
        assert "  So" in screen_rows(app)
        assert view.following


def marked(app: Host) -> list[str]:
    """What is drawn in reverse, and the rows that are marked in the margin."""
    reverse = [
        segment.text
        for strip in app.screen._compositor.render_strips()
        for segment in strip
        if segment.style and segment.style.reverse
    ]
    return [*reverse, *(row for row in screen_rows(app) if row.startswith("❯"))]


async def test_the_token_that_is_looked_at() -> None:
    app = Host()
    async with app.run_test(size=(WIDTH, HEIGHT)) as pilot:
        app.view.append(fragments(["The", " sky", "", "🦙", " blue"]))
        await pilot.pause()
        app.view.inspect(2, hold=True)
        await pilot.pause()
        assert marked(app) == [" sky", "❯ The sky🦙 blue"]
        # The third token held the first bytes of the fourth one's character.
        app.view.inspect(3, hold=True)
        await pilot.pause()
        assert marked(app)[0] == "🦙"
        app.view.inspect(6, hold=True)
        await pilot.pause()
        assert marked(app) == []
        app.view.inspect(None)
        await pilot.pause()
        assert marked(app) == []


async def test_the_token_that_is_looked_at_stays_in_view() -> None:
    app = Host()
    async with app.run_test(size=(WIDTH, HEIGHT)) as pilot:
        view = app.view
        view.append(fragments(f"word{number} " for number in range(1, 60_001)))
        await pilot.pause()
        await pilot.resize_terminal(WIDTH + 7, HEIGHT)
        newest = 60_000
        for index in (30_000, 29_990, 1, 60_000, 44_444):
            view.inspect(index, hold=True)
            await pilot.pause()
            assert marked(app)[0] == f"word{index} "
            view.append(Fragment(newest := newest + 1, "more ", 0) for _ in range(100))
            await pilot.pause()
            assert marked(app)[0] == f"word{index} "
        while not view._document.settled:
            await pilot.pause(0.01)
        await pilot.pause()
        assert marked(app)[0] == "word44444 "
        await pilot.resize_terminal(WIDTH, HEIGHT)
        await pilot.pause()


async def test_a_token_in_a_folded_thought_is_its_line() -> None:
    app = Host()
    async with app.run_test(size=(60, HEIGHT)) as pilot:
        app.view.append([*THOUGHT, Fragment(5, "Because", 0)])
        app.view.tell_reasoning(lambda token: "reasoned for 1.0 s · 4 tokens")
        app.view.fold(True)
        app.view.inspect(3, hold=True)
        await pilot.pause()
        assert marked(app) == ["reasoned for 1.0 s · 4 tokens · f9 unfolds"]
        app.view.fold(False)
        await pilot.pause()
        assert marked(app)[0] == " well"


async def test_walking_keys_and_clicks() -> None:
    app = Host()
    async with app.run_test(size=(WIDTH, HEIGHT)) as pilot:
        view = app.view
        view.focus()
        view.add_user("why")
        view.append(fragments(["The", " 你好", " sky\n\n", "is", " blue"]))
        view.end_answer("stopped")
        await pilot.pause()
        await pilot.press("left", "right", "up", "down", "home", "end")
        await pilot.click(Conversation, offset=(3, 2))
        assert app.asked == []
        view.walking = True
        await pilot.press("left", "right", "home", "end")
        await pilot.pause()
        assert app.asked == [-1, 1, "1", "None"]
        app.asked.clear()
        for offset in ((2, 2), (6, 2), (9, 2), (30, 2), (4, 4)):
            await pilot.click(Conversation, offset=offset)
        # Not the user's text, the empty row below it, the note or what is below that.
        for offset in ((3, 0), (3, 1), (3, 5), (3, 9)):
            await pilot.click(Conversation, offset=offset)
        await pilot.pause()
        assert app.asked == ["1", "2", "2", "3", "5"]
        app.asked.clear()
        view.inspect(5, hold=True)
        await pilot.press("up")
        view.inspect(2, hold=True)
        await pilot.press("down", "up")
        await pilot.pause()
        # The third token wrote the empty row between them; nothing of the answer stands above its first row.
        assert app.asked == ["3", "3"]


async def test_what_is_longer_than_the_view_fills_it() -> None:
    app = Host()
    async with app.run_test(size=(40, 12)) as pilot:
        app.view.append(fragments(["A" * 10_000, "[red]", "[red]"]))
        app.view.append(fragments(["[red]"]))
        await pilot.pause()
        rows = screen_rows(app)[: app.view.view_rows]
        assert all(row.strip() for row in rows)
        assert "[red]" in rows[-1]


async def test_no_row_stays_free_once_nothing_more_comes() -> None:
    app = Host()
    async with app.run_test(size=(40, 12)) as pilot:
        for number in range(30):
            app.view.append(lines(number, 1))
            await pilot.pause()
        for _ in range(2):
            app.view.fill()
            await pilot.pause()
            shown = [row.strip() for row in screen_rows(app)[: app.view.view_rows]]
            assert shown[-2].startswith("line 29")
            assert all(shown[:-1])


@pytest.mark.parametrize("answered", [False, True])
async def test_no_rows_stay_empty_below_a_prompt_that_is_being_read(answered: bool) -> None:
    app = Host()
    async with app.run_test(size=(WIDTH, HEIGHT)) as pilot:
        if answered:
            app.view.add_user("first")
            app.view.append(fragments([f"line {number}\n" for number in range(60)]))
            app.view.end_answer()
            app.view.fill()
        app.view.add_user("Why? " * 600 if not answered else "Why?")
        app.view.begin_answer()
        await pilot.pause()
        rows = screen_rows(app)
        # The prompt, an empty row and the answer's first one, which is empty as yet.
        assert "Why?" in rows[-3]
        app.view.append(fragments(["Be", "cause."]))
        await pilot.pause()
        assert screen_rows(app)[-1].strip() == "Because."
        app.view.append(fragments(["\nSo"]))
        await pilot.pause()
        # Now there is something to make room for.
        assert screen_rows(app)[-1].strip() == ""
        assert "Because." in [row.strip() for row in screen_rows(app)]
