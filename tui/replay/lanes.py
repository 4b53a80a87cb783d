"""Several recordings beside each other, on the screen of a comparison and on its race's clock."""

import time
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding, BindingType

from ...comparison.plan import ComparisonPlan
from ...traces.memory import bandwidth_at
from ...traces.opened import Opened
from ..compare.contract import Compared
from ..compare.screen import CompareScreen
from ..compare.title import title_row
from ..keys import Key, bindings
from ..screens.help import HelpScreen
from ..screens.watching import Watching
from ..widgets.key_bar import KeyBar
from .keys import keys_now
from .lane_keys import COMPARISON_KEYS, LANE_KEYS, help_of
from .player import SPEEDS
from .recorded import RecordedComparison, RecordedFiles, plan_of

if TYPE_CHECKING:
    from ...comparison.lane import Lane, Round
    from ...metrics.run import Run
    from ..compare.race import Race
    from ..screens.recording import Memory

_REFUSED = "These are recordings: they can be looked at, not asked."
_KEPT = "This is a recording already."


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

    def since_asked(self, position: int) -> int:
        """See ``Scale``."""
        return position

    def at(self, since_asked: int) -> int:
        """See ``Scale``."""
        return min(max(since_asked, 0), self._length)


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
        opened: Sequence[Opened],
        watching: Watching,
        *,
        speed: float,
        loop: bool,
        paused: bool,
        clock: Callable[[], int] = time.perf_counter_ns,
    ) -> None:
        """``opened``: a comparison, or two to six files; ``clock`` is the real one, ns."""
        self._compared = opened[0].trace.comparison is not None

        def make(plan: ComparisonPlan) -> Compared:
            return RecordedComparison(plan, opened[0]) if self._compared else RecordedFiles(plan, opened)

        super().__init__(plan_of(opened), make, watching, lambda: None, clock)
        self._opened = opened
        self._works = COMPARISON_KEYS if self._compared else LANE_KEYS
        self._speed, self._looping, self._paused = speed, loop, paused
        self._keys = KeyBar(self._works)
        self._begun = False
        if not self._compared:
            self._told_first = "What is shown"

    async def _begin(self) -> None:
        await super()._begin()
        for one in self._opened:
            for note in one.notes:
                self._say(f"{one.name}: {note}", "warning")
            if not one.text:
                self._say(f"{one.name}: the text was left out, each ▯ is a token.")
        for note in self.comparison.notes if isinstance(self.comparison, RecordedComparison) else ():
            self._say(f"{self._opened[0].name}: {note}", "warning")

    def _moved_on(self) -> None:
        if self.board is not None and self.board.rounds and not self._begun:
            self._begun = True
            # The lanes above the table run anew, it does not.
            self.board.table.covers = "all rounds" if len(self.board.rounds) > 1 else "whole run"
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
        race.name, race.round_name = "replay", "round" if self._compared else "answer"
        race.speeds = SPEEDS
        race.speed = self._speed if before is None else before.speed
        race.looping = self._looping if before is None else before.looping
        if self._paused if before is None else not before.playing and not before.over:
            race.pause()

    def _draw_frame(self) -> None:
        super()._draw_frame()
        width = self._title.content_size.width or self.size.width - 2
        if self._compared:
            row = title_row("replay", self._plan.prompt, width, self._facts)
        else:
            row = title_row("replay", " · ".join(lane.label for lane in self._plan.lanes), width)
        self._title.show_rows([row])

    def _keys_now(self) -> tuple[Key, ...]:
        return keys_now(self._works, playing=self._race is not None and self._race.playing)

    def _memory_of(self, lane: "Lane", round: "Round") -> "Memory":
        trace = self._opened[0 if self._compared else lane.number].trace
        return lambda threads: bandwidth_at(trace.memory, threads, round.events[-1].t)

    # What the reader asks for

    def offered_keys(self) -> Iterable[Key]:
        """Return the keys that work."""
        return self._works

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

    def action_keep(self) -> None:
        """There is a file already."""
        self._say(_KEPT)

    def action_help(self) -> None:
        """Show the keys and what the figures mean."""
        results = self.board.results if self._compared and self.board is not None else None
        self.app.push_screen(HelpScreen(help_of(results)))
