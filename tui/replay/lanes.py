"""Several recordings beside each other, on the screen of a comparison and on its race's clock."""

import dataclasses
import time
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, ClassVar

from msgspec.structs import replace
from textual.binding import Binding, BindingType

from ...backends.events import Event, Failed, Token
from ...backends.launch import ScriptFile
from ...backends.requests import EngineSettings, Request
from ...backends.text import visible
from ...comparison.plan import ComparisonPlan, LanePlan
from ...traces.opened import Opened
from ..compare.contract import Compared
from ..compare.screen import CompareScreen
from ..keys import Key, bindings
from ..screens.help import HelpScreen
from ..screens.watching import Watching
from ..widgets.cells import clip
from ..widgets.key_bar import KeyBar
from .keys import keys_now
from .lane_keys import LANE_HELP, LANE_KEYS
from .player import SPEEDS

if TYPE_CHECKING:
    from pathlib import Path

    from ...comparison.lane import Lane
    from ...comparison.results import Results
    from ...metrics.run import Run
    from ..compare.race import Race

_TOLD = "Recordings on one clock, each from its request on; the requests may differ."
_REFUSED = "These are recordings: they can be looked at, not asked."


class Recorded:
    """Recordings as a comparison that is done: each file a lane, each of its answers a round."""

    def __init__(self, plan: ComparisonPlan, opened: Sequence[Opened]) -> None:
        from ...comparison.runner import Stage

        self.plan = plan
        self.stage: Stage = Stage.DONE
        self.round = 1
        self.lanes: tuple[Lane, ...] = tuple(
            _lane(number, lane, one) for number, (lane, one) in enumerate(zip(plan.lanes, opened, strict=True))
        )

    @property
    def results(self) -> "Results":
        """See ``Compared``."""
        from ...comparison.results import results

        found = results(self.lanes, together=False)
        # Nobody has arranged for these to be compared: no remedy of a comparison helps.
        return dataclasses.replace(found, winner=None, verdict=_TOLD)

    def start(self) -> list[tuple[int, Event]]:
        """See ``Compared``."""
        return []

    def filenos(self) -> frozenset[int]:
        """See ``Compared``."""
        return frozenset()

    def receive(self) -> list[tuple[int, Event]]:
        """See ``Compared``."""
        return []

    def add_round(self) -> None:
        """See ``Compared``."""

    def cancel(self) -> None:
        """See ``Compared``."""

    def close(self) -> None:
        """See ``Compared``."""


def _lane(number: int, plan: LanePlan, opened: Opened) -> "Lane":
    from ...comparison.lane import Lane, LanePhase, Round
    from .film import placeholder

    lane = Lane(number, plan, LanePhase.DONE)
    for place, take in enumerate(opened.takes, 1):
        generation = take.generation
        if generation is None:
            continue
        events = list(generation.events)
        if not opened.text:
            events = [
                replace(event, piece=placeholder(event)) if isinstance(event, Token) else event for event in events
            ]
        # The figures are those of what was recorded.
        lane.rounds.append(Round(place, generation.run(), events))
        if lane.model is None:
            lane.model, lane.opening = generation.model, list(take.opening)
    if not lane.rounds:
        lane.phase = LanePhase.FAILED
        failures = (event for event in opened.trace.events if isinstance(event, Failed))
        lane.failed = next(failures, Failed(t=0, stage="generate", what="Nothing was asked in this recording."))
    return lane


class _RaceScale:
    """The race's clock, which begins with the request, and the tokens of one lane."""

    def __init__(self, length: int, run: "Run | None") -> None:
        self._length = length
        self._run = run

    @property
    def length(self) -> int:
        """See ``Scale``."""
        return self._length

    def of_token(self, index: int) -> int:
        """See ``Scale``."""
        run = self._run
        if run is None or index > run.token_count:
            return self._length
        return int(run.token_times[index - 1]) - run.taken.t if index > 0 else 0

    def at(self, since_asked: int) -> int:
        """See ``Scale``."""
        return min(max(since_asked, 0), self._length)


def labels(names: Sequence[str]) -> list[str]:
    """Return names that differ: a number behind those that are there more than once."""
    return [
        f"{name} ({names[: place + 1].count(name)})" if names.count(name) > 1 else name
        for place, name in enumerate(names)
    ]


def lanes_screen(
    opened: Sequence[Opened],
    watching: Watching,
    *,
    speed: float,
    loop: bool,
    paused: bool,
    clock: Callable[[], int] = time.perf_counter_ns,
) -> "ReplayedLanes":
    """Return the screen for two to six recordings; ``clock`` is the real one, ns."""
    paths: list[Path] = [one.path for one in opened]
    lanes = tuple(
        LanePlan(label, ScriptFile(path))
        for label, path in zip(labels([path.name for path in paths]), paths, strict=True)
    )
    plan = ComparisonPlan(lanes=lanes, settings=EngineSettings(), request=Request(), rounds=1)
    return ReplayedLanes(plan, opened, watching, speed=speed, loop=loop, paused=paused, clock=clock)


class ReplayedLanes(CompareScreen):
    """The screen of a comparison on which nothing runs."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *bindings(LANE_KEYS),
        Binding("left", "step_back", "The token before.", show=False, priority=True),
        Binding("pageup", "back", "A twentieth back.", show=False, priority=True),
        Binding("equals_sign", "faster", "Faster.", show=False),
        Binding("N", "round_before", "The answers before.", show=False),
        Binding("shift+tab", "lane_before", "The lane before.", show=False, priority=True),
    ]

    def __init__(
        self,
        plan: ComparisonPlan,
        opened: Sequence[Opened],
        watching: Watching,
        *,
        speed: float,
        loop: bool,
        paused: bool,
        clock: Callable[[], int],
    ) -> None:
        def make(plan: ComparisonPlan) -> Compared:
            return Recorded(plan, opened)

        super().__init__(plan, make, watching, lambda: None, clock)
        self._opened = opened
        self._speed, self._looping, self._paused = speed, loop, paused
        self._keys = KeyBar(LANE_KEYS)
        self._begun = False

    async def _begin(self) -> None:
        await super()._begin()
        for one in self._opened:
            for note in one.notes:
                self._say(f"{one.name}: {note}", "warning")
            if not one.text:
                self._say(f"{one.name}: the text was left out, each ▯ is a token.")

    def _moved_on(self) -> None:
        if self.board is not None and self.board.rounds and not self._begun:
            self._begun = True
            wanted = max(one.first for one in self._opened) + 1
            self.begin_race(wanted if wanted in self.board.rounds else self.board.rounds[0])
            self._draw_all()
        else:
            self._draw()

    def begin_race(self, number: int) -> None:
        """Replay the answers of this number together, at the speed that was chosen."""
        before = self._race
        super().begin_race(number)
        race = self._race
        if race is None:
            return
        race.name, race.round_name = "replay", "answer"
        race.speeds = SPEEDS
        race.speed = self._speed if before is None else before.speed
        race.looping = self._looping if before is None else before.looping
        if self._paused if before is None else not before.playing and not before.over:
            race.pause()

    def _draw_frame(self) -> None:
        super()._draw_frame()
        names = visible(" · ".join(lane.label for lane in self._plan.lanes))
        width = (self._title.content_size.width or self.size.width - 2) - 8
        self._title.show_rows([(("replay  ", "accent"), (clip(names, width), ""))])

    def _keys_now(self) -> tuple[Key, ...]:
        return keys_now(LANE_KEYS, playing=self._race is not None and self._race.playing)

    # What the reader asks for

    def offered_keys(self) -> Iterable[Key]:
        """Return the keys that work."""
        return LANE_KEYS

    def _change_race(self, change: "Callable[[Race], None]") -> None:
        if (race := self._with_race()) is not None:
            change(race)
            self._race_changed()

    def action_step(self) -> None:
        """Go to the chosen lane's next token."""
        self._step(1)

    def action_step_back(self) -> None:
        """Go to the chosen lane's token before."""
        self._step(-1)

    def _step(self, step: int) -> None:
        race = self._with_race()
        entry = None if race is None or self.board is None else race.entries.get(self.board.chosen)
        if race is None or entry is None:
            return
        race.pause()
        times = entry.run.token_times - entry.run.taken.t
        written = int((times <= race.at).sum())
        if step > 0:
            race.go_to(int(times[written]) if written < len(times) else race.length)
        else:
            race.go_to(int(times[written - 2]) if written > 1 else 0)
        self._race_changed()

    def action_start(self) -> None:
        """Go to the start."""
        self._change_race(lambda race: race.go_to(0))

    def action_finish(self) -> None:
        """Go to the end."""
        self._change_race(lambda race: race.go_to(race.length))

    def action_loop(self) -> None:
        """Begin anew at the end, or no longer."""

        def switch(race: "Race") -> None:
            race.looping = not race.looping
            self._say("It begins anew at the end." if race.looping else "It stops at the end.")

        self._change_race(switch)

    def action_find(self) -> None:
        """Ask where to go."""
        from .go_to import GoToScreen

        race = self._with_race()
        entry = None if race is None or self.board is None else race.entries.get(self.board.chosen)
        if race is not None:
            self.app.push_screen(
                GoToScreen(_RaceScale(race.length, None if entry is None else entry.run)), self._go_to_time
            )

    def _go_to_time(self, at: int | None) -> None:
        if at is not None:
            self._change_race(lambda race: race.go_to(at))

    def action_round_before(self) -> None:
        """Replay the answers before."""
        race = self._with_race()
        if race is not None and self.board is not None:
            earlier = [number for number in self.board.rounds if number < race.number]
            self.begin_race(earlier[-1] if earlier else self.board.rounds[-1])
            self._draw_all()

    def action_round(self) -> None:
        """Nothing runs here."""
        self._say(_REFUSED)

    def action_help(self) -> None:
        """Show the keys and what the figures mean."""
        self.app.push_screen(HelpScreen(LANE_HELP))
