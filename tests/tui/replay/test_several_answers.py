"""A session of several answers, played one after another."""

from collections.abc import Sequence

from msgspec.structs import replace

from decodescope.backends.events import Event, RequestTaken
from decodescope.backends.requests import Message
from decodescope.tui.replay.track import Track
from decodescope.tui.session import Phase
from decodescope.tui.widgets.plot import Plot

from ..fakes import MS, answer, finished, loading, ready
from ..scope_app import happened
from .replay_app import Replayed, opened, replay, whole

LOADED: list[Event] = [*(replace(loading(part / 2), t=(part - 3) * MS) for part in range(3)), ready()]


def answered(*messages: tuple[str, str], at: int, pieces: Sequence[bytes], reason: str = "stop") -> list[Event]:
    """A request with these messages at ``at`` ms, and its answer."""
    events = [*answer(pieces), finished((113 + 7 * len(pieces)) * MS, reason)]  # type: ignore[arg-type]
    told = tuple(Message(role, text) for role, text in messages)  # type: ignore[arg-type]
    return [
        replace(event, t=event.t + at * MS, **({"messages": told} if isinstance(event, RequestTaken) else {}))
        for event in events
    ]


FIRST = ("user", "one?")
SESSION = [
    *LOADED,
    *answered(FIRST, at=0, pieces=[b"un", b"o"], reason="length"),
    *answered(FIRST, ("assistant", "uno"), ("user", "two?"), at=1000, pieces=[b"due"]),
]


async def shows(running: Replayed, number: int) -> None:
    await happened(lambda: running.screen._shown == number and not running.screen._anew)
    await running.passes(0)


async def test_the_next_answer_follows_by_itself() -> None:
    async with replay(opened(SESSION)) as running:
        running.time.now += 10_000 * MS
        await shows(running, 1)
        assert running.player.playing
        assert "over" not in running.shown()
        await running.passes(10_000)
        await running.sees("■ over")
        assert running.screen._shown == 1
        await running.press("space")
        await shows(running, 0)
        assert running.player.playing


async def test_loop_repeats_the_whole_recording() -> None:
    async with replay(opened(SESSION), loop=True) as running:
        for number in (1, 0, 1):
            running.time.now += 10_000 * MS
            await shows(running, number)
            assert running.player.playing


async def test_the_end_is_that_of_this_answer() -> None:
    async with replay(opened(SESSION), size=(80, 24)) as running:
        await running.went("end")
        await running.sees("n: next answer")
        assert "n next" in running.shown().splitlines()[-1]
        assert running.screen._shown == 0
        assert not running.player.playing
        await running.press("space")
        await shows(running, 1)
        await running.went("end")
        await running.sees("over")
        assert "n: next answer" not in running.shown()


async def test_one_answer_has_no_next_one() -> None:
    async with replay(opened(whole()), paused=True, size=(200, 40)) as running:
        await running.went("end")
        assert "n next" not in running.shown()
        assert "next answer" not in running.shown()


async def test_what_came_before_an_answer_is_as_it_was() -> None:
    async with replay(opened(SESSION), paused=True) as running:
        await running.went("end")
        await running.sees("cut off at the limit of 2 tokens")
        used = running.screen.session.context_used
        await running.press("n")
        await shows(running, 1)
        await running.press("g", *"0s", "enter")
        await happened(lambda: running.screen.session.phase is Phase.WAITING)
        assert running.screen.session.context_used == used > 0
        await running.sees("cut off at the limit of 2 tokens")
        shown = running.shown()
        assert shown.index("uno") < shown.index("cut off") < shown.index("two?")


async def test_a_model_that_was_loaded_anew_has_an_empty_context() -> None:
    again = [replace(event, t=event.t + 900 * MS) for event in LOADED]
    async with replay(opened([*SESSION[:-6], *again, *SESSION[-6:]]), paused=True) as running:
        assert len(running.screen._takes) == 2
        await running.press("n")
        await shows(running, 1)
        await running.press("g", *"0s", "enter")
        await happened(lambda: running.screen.session.phase is Phase.WAITING)
        assert running.screen.session.context_used == 0


async def test_nothing_of_the_last_pass_stays() -> None:
    async with replay(opened(whole([b"x"] * 60)), loop=True, speed=10) as running:
        plot = running.screen.query_one(Plot)
        await running.passes(170)
        await running.sees("median")
        assert plot.plain.strip()
        running.time.now += 5 * MS
        await happened(lambda: running.tokens == 0)
        await running.went("space")
        assert running.tokens == 0
        assert plot.plain.strip() == ""


async def test_nothing_of_another_answer_stays() -> None:
    async with replay(opened([*whole([b"x"] * 60), *SESSION[-6:]]), paused=True) as running:
        await running.went("end")
        await running.sees("median")
        await running.press("n")
        await shows(running, 1)
        assert running.screen.query_one(Plot).plain.strip() == ""
        assert running.screen.query_one(Track)._timeline is running.player.timeline
