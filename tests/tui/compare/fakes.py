"""A comparison that does what a test says, and the compare screen on it."""

import contextlib
import os
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from textual.pilot import Pilot

from decodescope.backends.events import Event, Failed
from decodescope.backends.launch import ScriptFile
from decodescope.backends.requests import EngineSettings, Request, Sampling
from decodescope.comparison.lane import Lane, LanePhase, Round
from decodescope.comparison.plan import ComparisonPlan, LanePlan
from decodescope.comparison.results import Results, results
from decodescope.comparison.runner import Stage
from decodescope.metrics.run import Run
from decodescope.tui.compare.app import CompareApp
from decodescope.tui.compare.board import Board
from decodescope.tui.compare.screen import CompareScreen
from decodescope.tui.options import ScopeOptions

from ..fakes import MS, finished, progress, prompt, ready, taken, token, tokens
from ..scope_app import happened

LABELS = ("Q8_0", "Q4_K_M", "Q4_0", "Q2_K", "IQ3_M", "[b]x/[/q8]")
WORDS = [f"word{number} ".encode() for number in range(40)]


class Clock:
    """Stands still until it is moved."""

    def __init__(self) -> None:
        self.now = 0

    def __call__(self) -> int:
        return self.now


def plan_of(count: int, labels: Sequence[str] = LABELS, rounds: int = 1) -> ComparisonPlan:
    return ComparisonPlan(
        lanes=tuple(LanePlan(label, ScriptFile(Path("tiny.jsonl"))) for label in labels[:count]),
        settings=EngineSettings(),
        request=Request(prompt="Why is [i]the sky[/i] blue?", sampling=Sampling(seed=1)),
        rounds=rounds,
    )


def answer(gap: int, pieces: Sequence[bytes] = tuple(WORDS)) -> list[Event]:
    """The prompt read from 10 ms to 110 ms, the first token at 112 ms, the others ``gap`` ns after each other."""
    return [
        taken(),
        prompt(10 * MS, 100),
        progress(60 * MS, 50, 100),
        progress(110 * MS, 100, 100),
        *tokens(112 * MS, pieces, gap),
        finished(112 * MS + gap * max(len(pieces) - 1, 0)),
    ]


class FakeComparison:
    """Its lanes are changed by ``play``, which makes it readable."""

    def __init__(self, plan: ComparisonPlan) -> None:
        self.plan = plan
        self.lanes = tuple(Lane(number, lane) for number, lane in enumerate(plan.lanes))
        self.stage = Stage.PREPARING
        self.round = 1
        self.rounds_added = self.cancelled = 0
        self._read, self._write = os.pipe()
        os.set_blocking(self._read, False)
        self._waiting: list[Callable[[], None]] = []
        self._events: list[tuple[int, Event]] = []

    def play(self, change: Callable[[], None]) -> None:
        """Have something happen with the next look."""
        self._waiting.append(change)
        os.write(self._write, b".")

    def generated(self, number: int, events: Sequence[Event], *, round: int = 1) -> None:
        """A lane has written, or begun to."""
        lane = self.lanes[number]
        lane.model = lane.model or ready(lane.plan.label)
        lane.phase = LanePhase.RUNNING
        for event in events:
            if event is events[0]:
                lane.rounds.append(Round(round, Run(events[0]), []))  # type: ignore[arg-type]
            lane.rounds[-1].events.append(event)
            lane.rounds[-1].run.apply(event)

    def failed(self, number: int, what: str, reason: str = "") -> None:
        lane = self.lanes[number]
        lane.phase, lane.failed = LanePhase.FAILED, Failed(t=1, stage="load", what=what, reason=reason)
        self._events.append((number, lane.failed))

    def done(self) -> None:
        self.stage = Stage.DONE
        for lane in self.lanes:
            if lane.phase is not LanePhase.FAILED:
                lane.phase = LanePhase.DONE

    def all_written(self, gaps: Sequence[int] = (8, 6, 5, 4, 7, 9), pieces: Sequence[bytes] = tuple(WORDS)) -> None:
        """Every lane has written, and all is done."""
        for lane, gap in zip(self.lanes, gaps, strict=False):
            if lane.phase is not LanePhase.FAILED:
                self.generated(lane.number, answer(gap * MS, pieces))
        self.done()

    @property
    def results(self) -> Results:
        return results(self.lanes, together=False)

    def start(self) -> list[tuple[int, Event]]:
        self.stage = Stage.RUNNING
        return []

    def filenos(self) -> frozenset[int]:
        return frozenset([self._read]) if self._read >= 0 else frozenset()

    def receive(self) -> list[tuple[int, Event]]:
        with contextlib.suppress(BlockingIOError):
            os.read(self._read, 65536)
        waiting, self._waiting = self._waiting, []
        for change in waiting:
            change()
        events, self._events = self._events, []
        return events

    def add_round(self) -> None:
        self.rounds_added += 1
        self.round += 1
        self.stage = Stage.RUNNING

    def cancel(self) -> None:
        self.cancelled += 1
        self.stage = Stage.CANCELLED
        for lane in self.lanes:
            lane.phase = LanePhase.CANCELLED

    def close(self) -> None:
        if self._read >= 0:
            os.close(self._read)
            os.close(self._write)
            self._read = -1


class Comparing:
    """A running app."""

    def __init__(self, app: CompareApp, pilot: Pilot[None], comparison: FakeComparison, clock: Clock) -> None:
        self.app = app
        self.pilot = pilot
        self.comparison = comparison
        self.clock = clock

    @property
    def screen(self) -> CompareScreen:
        return self.app.compare

    @property
    def board(self) -> Board:
        assert self.screen.board is not None
        return self.screen.board

    def shown(self) -> str:
        """The screen as drawn."""
        return "\n".join(strip.text for strip in self.app.screen._compositor.render_strips())

    async def until(self, condition: Callable[[], bool]) -> None:
        await happened(condition)
        await self.pilot.pause()

    async def seen(self, text: str) -> None:
        await self.until(lambda: text in self.shown())

    async def play(self, change: Callable[[], None]) -> None:
        self.comparison.play(change)
        await self.until(lambda: not self.comparison._waiting)
        self.draw()
        await self.pilot.pause()

    async def raced(self, ms: int) -> None:
        """Let the race's clock go on."""
        self.clock.now += ms * MS
        self.draw()
        await self.pilot.pause()

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)
        await self.pilot.pause()

    def draw(self) -> None:
        self.screen._draw_all()


@asynccontextmanager
async def comparing(
    count: int = 4, *, size: tuple[int, int] = (120, 40), labels: Sequence[str] = LABELS, theme: str | None = None
) -> AsyncIterator[Comparing]:
    """Open the compare screen on a fake comparison and wait until it has begun."""
    made: list[FakeComparison] = []

    def make(plan: ComparisonPlan) -> FakeComparison:
        made.append(FakeComparison(plan))
        return made[-1]

    clock = Clock()
    app = CompareApp(plan_of(count, labels), make, ScopeOptions(theme=theme), clock=clock)
    try:
        async with app.run_test(size=size) as pilot:
            await happened(lambda: bool(made))
            running = Comparing(app, pilot, made[0], clock)
            await running.until(lambda: running.screen.board is not None and running.screen._feed is not None)
            running.draw()
            await pilot.pause()
            yield running
    finally:
        for one in made:
            one.close()


__all__ = ["MS", "Comparing", "FakeComparison", "answer", "comparing", "token"]
