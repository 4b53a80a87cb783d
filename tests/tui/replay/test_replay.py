"""A recording on the scope's screen."""

import pytest
from msgspec.structs import replace
from textual.widgets import Input

from decodescope.backends.events import Failed, Token
from decodescope.tui.conversation.view import Conversation
from decodescope.tui.replay.session import ReplaySession
from decodescope.tui.replay.track import Track
from decodescope.tui.session import Phase
from decodescope.tui.widgets.counters import Counters, figures

from ...traces.samples import session as two_answers
from ..fakes import MS, answer, finished, loading, taken, token
from ..scope_app import happened
from .replay_app import Replayed, opened, replay, whole

LONG = [b" w%04d" % number for number in range(1, 2001)]


def phase(running: Replayed) -> Phase:
    return running.screen.session.phase


def text_of(running: Replayed) -> str:
    return running.screen.query_one(Conversation).answer_text


async def test_everything_comes_at_its_time() -> None:
    async with replay(opened(whole())) as running:
        session = running.screen.session
        assert phase(running) is Phase.LOADING
        await running.passes(700)
        assert session.load_fraction == 0.5
        await running.passes(505)
        assert phase(running) is Phase.WAITING
        await running.passes(50)
        assert phase(running) is Phase.PREFILL
        await running.passes(57)
        assert phase(running) is Phase.DECODE
        assert text_of(running) == "The"
        await running.passes(7)
        assert text_of(running) == "The sky"
        await running.passes(60_000)
        assert phase(running) is Phase.DONE
        await running.sees("■ over")
        await running.sees("The sky is blue")


async def test_the_figures_are_those_of_the_recording_at_any_speed() -> None:
    async with replay(opened(whole()), speed=50) as running:
        await running.passes(60_000)
        shown = figures(running.screen.session, running.screen._face.clock())
        assert shown.ttft.strip() == "112 ms"
        assert shown.tpot.strip() == "7.0 ms"
        assert shown.elapsed.strip() == "0.1 s"
        assert "112 ms" in running.screen.query_one(Counters).plain


async def test_an_answer_lasts_until_its_last_token() -> None:
    # The last token comes after 133 ms, and the engine tells the end 5 s later.
    async with replay(opened([*whole()[:-1], finished(5133 * MS)]), paused=True) as running:
        await running.went("end")
        shown = figures(running.screen.session, running.screen._face.clock())
        assert shown.elapsed == "0.1 s"
        assert "0.1 s of 0.1 s" in running.shown()
        assert "4 tokens in 0.1 s" in running.shown()


async def test_between_events_the_recorded_clock_goes_on() -> None:
    async with replay(opened(whole()), speed=2) as running:
        await running.passes(620)
        assert running.screen._face.clock() == 40 * MS


async def test_seeking_back_shows_what_was_there_then() -> None:
    async with replay(opened(whole(LONG)), paused=True) as running:
        await running.went("end")
        assert running.tokens == 2000
        await running.went("g")
        await running.press(*"#7", "enter")
        await running.passes(0)
        assert text_of(running) == "".join(f" w{number:04d}" for number in range(1, 8))
        assert running.tokens == 7
        assert phase(running) is Phase.DECODE
        assert running.screen.session.answer_text == text_of(running)
        await running.went("home")
        assert text_of(running) == ""
        assert running.screen.session.model is None


async def test_a_place_that_was_sought_is_the_place_that_is_reached_by_playing() -> None:
    played = ReplaySession()
    sought = ReplaySession()
    async with replay(opened(whole(LONG)), paused=True) as running:
        film = running.screen._films[0]
    played.show(film, lambda threads: None)
    sought.show(film, lambda threads: None)
    for place in range(len(film.events) + 1):
        played.go_to(place)
        if place % 401 == 0 or place > len(film.events) - 3:
            sought.go_to(0)
            sought.go_to(place)
            assert sought.phase is played.phase
            assert sought.context_used == played.context_used
            assert figures(sought, 0) == figures(played, 0)
            assert sought.answer_text == played.answer_text


async def test_space_pauses_and_arrows_step() -> None:
    async with replay(opened(whole())) as running:
        await running.passes(1320)
        await running.went("space")
        assert not running.player.playing
        await running.sees("paused")
        await running.sees("space play")
        await running.went("right")
        assert running.tokens == 3
        await running.went("left", "left")
        assert running.tokens == 1
        await running.went("space")
        assert running.player.playing
        await running.sees("space pause")
        await running.passes(60_000)
        await running.sees("space play")


async def test_what_was_not_recorded_is_not_to_be_computed() -> None:
    async with replay(opened(whole()), paused=True) as running:
        await running.went("end")
        await running.press("f3", "f4")
        await running.sees("surprising < 1 %  not recorded")
        assert "computed" not in running.shown()


@pytest.mark.parametrize(("width", "height"), [(80, 24), (80, 40)])
async def test_what_finds_no_room_in_the_inspector_is_counted(width: int, height: int) -> None:
    hidden = [replace(event, id=-1) if isinstance(event, Token) else event for event in whole()]
    async with replay(opened(hidden), paused=True, size=(width, height)) as running:
        await running.went("end")
        await running.press("t", "i")
        await running.sees("#4")
        shown = running.shown()
        assert ("id –" in shown) is not (" more" in shown)
        assert " -1" not in shown
        print(shown)


async def test_speed_loop_and_their_words() -> None:
    async with replay(opened(whole()), paused=True) as running:
        await running.went("plus", "plus", "r")
        await running.sees("5×  #0 of 4  loop")
        await running.went("space")
        await running.passes(2 * 1341 / 5 + 1)
        assert running.player.position == 5 * MS
        assert running.tokens == 0
        assert running.player.playing


async def test_the_question_where_to_go_is_asked_again() -> None:
    async with replay(opened(whole()), paused=True) as running:
        await running.press("g", *"[b]x", "enter")
        await running.sees("That is no place.")
        running.app.screen.query_one(Input).value = "115ms"
        await running.press("enter")
        await running.passes(0)
        assert running.tokens == 1
        await running.press("g", "escape")
        assert running.app.screen is running.screen


async def test_the_mouse_scrubs() -> None:
    async with replay(opened(whole()), paused=True) as running:
        track = running.screen.query_one(Track)
        width = track.content_size.width
        await running.pilot.mouse_down(track, offset=(1 + width // 2, 0))
        await running.passes(0)
        assert running.player.position == pytest.approx(running.player.timeline.length / 2, rel=0.02)
        await running.pilot.hover(track, offset=(width, 0))
        await happened(lambda: running.player.position == running.player.timeline.length)
        await running.pilot.mouse_up(track, offset=(width, 0))
        await running.pilot.hover(track, offset=(1, 0))
        assert running.player.position == running.player.timeline.length


async def test_with_the_inspector_the_arrows_walk() -> None:
    async with replay(opened(whole()), paused=True) as running:
        await running.went("end", "i")
        at = running.player.position
        await running.press("left", "left")
        assert running.player.position == at
        await running.sees("#2")
        await running.went("i", "left")
        assert running.player.position < at


async def test_the_answers_of_a_recording_one_after_another() -> None:
    async with replay(opened(two_answers()), paused=True) as running:
        await running.went("end")
        assert phase(running) is Phase.DONE
        await running.sees("answer 1 of 2")
        await running.press("n")
        await happened(lambda: running.screen._shown == 1)
        await running.went("end")
        assert phase(running) is Phase.FAILED
        assert running.screen.session.model is not None
        await running.sees("It failed.")
        await running.press("N")
        await happened(lambda: running.screen._shown == 0)


async def test_without_text_each_token_has_a_sign() -> None:
    events = [replace(event, piece=b"", id=-1) if isinstance(event, Token) else event for event in whole()]
    async with replay(opened(events, text=False), paused=True) as running:
        await running.went("end")
        assert text_of(running) == "▯ ▯ ▯ ▯ "
        await running.sees("text left out")
        assert running.screen.session.answer_text == ""
        await running.press("y")
        assert running.toasts == ["There is no answer to copy yet."]
        await running.went("left")
        assert text_of(running) == "▯ ▯ ▯ "


async def test_what_looks_like_markup_or_commands_is_text() -> None:
    pieces = [b"[/b]", b"[red]x", b"\x1b[2J", b"\xc2\x9b", b"\xff"]
    async with replay(opened(whole(pieces), name="[b]\x1b[2J.jsonl", notes=("a [b] note",)), paused=True) as running:
        await running.went("end")
        await running.sees("[/b][red]x␛[2J")
        assert "\x1b" not in running.shown()
        assert running.toasts == ["a [b] note"]


async def test_what_was_cut_in_the_middle_stays_unfinished() -> None:
    events = whole()[:-2]
    async with replay(opened(events), paused=True) as running:
        await running.went("end")
        assert running.tokens == 3
        await running.sees("over")


async def test_one_token() -> None:
    async with replay(opened([taken(), token(5 * MS, 1, b"x"), finished(6 * MS)]), paused=True) as running:
        await running.went("right")
        assert running.tokens == 1
        await running.went("left")
        assert running.tokens == 0


async def test_nothing_but_a_load_that_failed() -> None:
    failed = Failed(t=300 * MS, stage="load", what="No such model.", reason="why", remedy="Do this.")
    async with replay(opened([replace(loading(0.1), t=0), failed]), paused=True) as running:
        await running.went("end")
        await running.sees("No such model.")
        await running.press("right", "left", "n", "i", "t", "l", "w")


async def test_no_event_at_all() -> None:
    async with replay(opened([]), loop=True) as running:
        await running.press("right", "left", "end", "space", "plus", "g", "escape")
        await running.sees("#0 of 0")


async def test_times_that_go_back() -> None:
    events = [*answer([b"a", b"b"]), token(50 * MS, 3, b"c"), token(60 * MS, 4, b"d"), finished(200 * MS)]
    async with replay(opened(events), paused=True) as running:
        for count in (1, 2, 3, 4):
            await running.went("right")
            assert running.tokens == count
        await running.went("end")
        assert text_of(running) == "abcd"


async def test_what_does_not_work_on_a_recording_says_so() -> None:
    async with replay(opened(whole()), paused=True) as running:
        for key in ("m", "ctrl+l"):
            running.app.clear_notifications()
            await running.press(key)
            assert ["recording" in toast for toast in running.toasts] == [True]


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 60), (40, 12), (20, 8)])
async def test_every_size(size: tuple[int, int]) -> None:
    async with replay(opened(whole(LONG)), size=size, paused=True) as running:
        await running.went("end")
        await running.pilot.resize_terminal(size[1] * 2, size[0] // 2)
        await running.went("home", "end", "left")
        assert running.tokens == 1999
        await running.pilot.resize_terminal(*size)
        await running.passes(0)
        track = running.screen.query_one(Track)
        await happened(lambda: len(track.plain.splitlines()[0]) == track.content_size.width)


async def test_the_help_and_the_palette_know_the_keys() -> None:
    async with replay(opened(whole()), paused=True, size=(120, 60)) as running:
        titles = [command.title for command in running.app.get_system_commands(running.screen)]
        assert "Go to (g)" in titles
        assert not any(title.startswith("Model") for title in titles)
        await running.press("f1")
        await running.sees("A twentieth forward")
