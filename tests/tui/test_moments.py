"""What one frame shows was true at one moment: every frame that goes out is read, and everything that counts agrees."""

import re
from collections.abc import Callable
from functools import partial

import pytest
from textual.app import App

from decodescope.comparison.lane import LanePhase
from decodescope.tui.frame_pace import FramePace, Tempo
from decodescope.tui.session import Phase

from .compare.fakes import comparing
from .compare.fakes import token as lane_token
from .fakes import MS, answer, finished, tokens
from .replay.replay_app import opened, replay, whole
from .scope_app import Scope, asked, scope

PROMPT = 100
COUNT = 200


def words(first: int, last: int) -> list[bytes]:
    """Token ``n`` is the word ``wn``."""
    return [f" w{number:03d}".encode() for number in range(first, last + 1)]


def frames_of(app: App[None], read: Callable[[str], object], monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """Return a list that grows by what ``read`` makes of every frame that goes out."""
    seen: list[object] = []
    display = app._display

    def look(screen: object, renderable: object) -> None:
        if renderable is not None and not app._batch_count:
            seen.append(read("\n".join(strip.text for strip in app.screen._compositor.render_strips())))
        display(screen, renderable)  # type: ignore[arg-type]

    monkeypatch.setattr(app, "_display", look)
    return seen


def number(pattern: str, text: str) -> int | None:
    """Return the last number that matches; None without one."""
    found = re.findall(pattern, text)
    return int(found[-1].replace(",", "")) if found else None


def told(frame: str) -> tuple[int | None, ...]:
    """Return how many tokens text, legend, phase line, counters and gauge tell of."""
    gauge = number(r"([\d,]+) / 4,096", frame)
    return (
        number(r"w(\d{3})\b(?!\")", frame),
        number(r"#([\d,]+) ", frame),
        number(r"write +token ([\d,]+)", frame) or number(r"done +([\d,]+) tokens", frame),
        number(r"tokens +([\d,]+)", frame),
        None if gauge is None else gauge - PROMPT,
    )


def assert_agreed(seen: list[object], *, frames: int) -> None:
    told_of_tokens = [one for one in seen if isinstance(one, tuple) and one[0] is not None]
    assert len(told_of_tokens) >= frames
    assert [one for one in told_of_tokens if len(set(one)) > 1] == []


async def stream(running: Scope, first: int, last: int, *, step: int) -> None:
    """Have tokens come, some with every frame."""
    for start in range(first, last + 1, step):
        end = min(start + step - 1, last)
        running.engine.play(*tokens((112 + start * 7) * MS, words(start, end), first=start))
        await running.until(partial(written, running, end))


def written(running: Scope, count: int) -> bool:
    return running.session.run is not None and running.session.run.token_count >= count


async def test_every_frame_of_the_scope_counts_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    async with scope() as running:
        # Percentiles may be old: here they are never due.
        running.app._watching.pace.tempo = Tempo(frame=0.005, figures=3600)
        await asked(running)
        seen = frames_of(running.app, told, monkeypatch)
        running.engine.play(*answer(words(1, 1), total=PROMPT))
        await stream(running, 2, COUNT, step=5)
        running.engine.play(finished(2_000 * MS))
        await running.until(lambda: running.session.phase is Phase.DONE)
        await running.pilot.pause()
        assert_agreed(seen, frames=20)
        assert seen[-1] == (COUNT,) * 5


async def test_what_a_busy_terminal_holds_back_is_held_back_together(monkeypatch: pytest.MonkeyPatch) -> None:
    async with scope() as running:
        running.app._watching.pace.tempo = Tempo(frame=0.005)
        await asked(running)
        seen = frames_of(running.app, told, monkeypatch)
        running.engine.play(*answer(words(1, 10), total=PROMPT))
        await running.until(lambda: running.session.phase is Phase.DECODE)
        monkeypatch.setattr(FramePace, "congested", property(lambda self: True))
        await stream(running, 11, 40, step=10)
        assert told("\n".join(running.shown())) == (10,) * 5
        # What is last is not held back: nothing may come after it.
        running.engine.play(finished(2_000 * MS))
        await running.until(lambda: running.session.phase is Phase.DONE)
        await running.pilot.pause()
        assert_agreed(seen, frames=2)
        assert seen[-1] == (40,) * 5


async def test_every_frame_of_a_replay_counts_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    def with_state(frame: str) -> tuple[int | None, ...]:
        return (*told(frame), number(r"#([\d,]+) of [\d,]+", frame))

    async with replay(opened(whole(words(1, COUNT)))) as running:
        real = running.time.now
        ticking = iter(range(10**9))

        def runs_on() -> int:
            # Whoever asks for the time again is told another one, several tokens later.
            return real + next(ticking) * 23 * MS

        running.screen._watching.pace.tempo = Tempo(frame=0.005, figures=3600)
        seen = frames_of(running.app, with_state, monkeypatch)
        monkeypatch.setattr(type(running.time), "__call__", lambda self: runs_on())
        await running.sees("over")
        await running.pilot.pause()
        assert_agreed(seen, frames=5)
        assert seen[-1] == (COUNT,) * 6


def lanes_told(frame: str) -> tuple[tuple[int | None, int | None], ...]:
    """Return what phase and counters of each lane tell of, for lanes below each other."""
    phases = re.findall(r"(?:writing token ([\d,]+))|(reading)|(?:(?:1st|2nd|there) ([\d,]+) tokens)", frame)
    counted = re.findall(r"tokens +([\d,]+)\b", frame)
    return tuple(
        (int((writing or done or "0").replace(",", "")), int(count.replace(",", "")))
        for (writing, _, done), count in zip(phases, counted, strict=False)
    )


async def test_every_frame_of_a_race_counts_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    async with comparing(2, size=(80, 40)) as running:
        await running.play(lambda: running.comparison.all_written(pieces=words(1, 60)))
        assert running.board.race is not None
        running.screen._watching.pace.tempo = Tempo(frame=0.005, figures=3600, plot_at_least=3600)
        seen = frames_of(running.app, lanes_told, monkeypatch)
        for _ in range(40):
            running.clock.now += 13 * MS
            running.screen._draw()
            await running.pilot.pause()
        await running.press("a")
        running.clock.now += 200 * MS
        running.screen._draw()
        await running.pilot.pause()
        assert [one for one in seen if isinstance(one, tuple) and any(phase != count for phase, count in one)] == []
        assert len([one for one in seen if isinstance(one, tuple) and len(one) == 2]) >= 20
        # After the first token no lane reads.
        assert isinstance(seen[-1], tuple)
        assert all(phase for phase, _ in seen[-1])


async def test_every_frame_of_a_comparison_counts_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    async with comparing(2, size=(80, 40)) as running:
        running.screen._watching.pace.tempo = Tempo(frame=0.005, figures=3600, plot_at_least=3600)
        running.comparison.play(lambda: running.comparison.generated(0, answer(words(1, 1), total=PROMPT)))
        seen = frames_of(running.app, lanes_told, monkeypatch)
        lane = running.comparison.lanes[0]

        def write(index: int) -> Callable[[], None]:
            def add() -> None:
                event = lane_token((112 + index * 7) * MS, index, words(index, index)[0])
                lane.rounds[-1].events.append(event)
                lane.rounds[-1].run.apply(event)

            return add

        for index in range(2, 40):
            running.comparison.play(write(index))
            await running.until(lambda: not running.comparison._waiting)
        assert lane.phase is LanePhase.RUNNING
        assert [one for one in seen if isinstance(one, tuple) and any(phase != count for phase, count in one)] == []
        assert isinstance(seen[-1], tuple)
        assert seen[-1][0] == (39, 39)
