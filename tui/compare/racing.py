"""The race and the choice of a lane: what the keys of the compare screen do about them."""

from typing import TYPE_CHECKING

from textual import on
from textual.message import Message

from ..screens.watching import Watching

if TYPE_CHECKING:
    from textual.screen import Screen
    from textual.timer import Timer

    from ...comparison.lane import Lane, Round
    from ...comparison.plan import ComparisonPlan
    from ..screens.recording import Memory
    from .board import Board
    from .race import Race

    _Base = Screen[None]
else:
    _Base = object

_FRAME_SECONDS = 1 / 5
"""All lanes write at once, faster than can be read."""


class LaneChosen(Message):
    """The reader went to a lane."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.number = number


class Racing(_Base):
    """A part of the compare screen."""

    board: "Board | None"
    _plan: "ComparisonPlan"
    _watching: Watching
    _race_timer: "Timer | None" = None

    def _draw(self) -> None:
        raise NotImplementedError

    def _draw_all(self) -> None:
        raise NotImplementedError

    def _lay_out(self) -> None:
        raise NotImplementedError

    def _say(self, text: str) -> None:
        raise NotImplementedError

    # The race

    def begin_race(self, number: int) -> None:
        """Replay a round, all lanes together."""
        if self.board is not None and (race := self.board.line_up(number)) is not None:
            self.board.race = race
            race.play()
            self._race_on()

    def end_race(self) -> None:
        """Show again what the lanes do now."""
        if self.board is not None:
            self.board.race = None

    @property
    def _race(self) -> "Race | None":
        return None if self.board is None else self.board.race

    def _race_on(self) -> None:
        if self._race_timer is None:
            seconds = max(self._watching.pace.seconds, _FRAME_SECONDS)
            self._race_timer = self.set_timer(seconds, self._race_frame)
        self._draw()

    def _race_frame(self) -> None:
        self._race_timer = None
        race = self._race
        if race is None:
            return
        if race.playing:
            self._race_on()
        else:
            self._draw_all()

    def _with_race(self) -> "Race | None":
        if self._race is None:
            self._say("The race begins when all rounds are done.")
        return self._race

    def _race_changed(self) -> None:
        race = self._race
        if race is not None and race.playing:
            self._race_on()
        self._draw_all()

    def action_pause(self) -> None:
        """Pause the race, or let it go on."""
        if (race := self._with_race()) is not None:
            if race.playing:
                race.pause()
            else:
                race.play()
            self._race_changed()

    def action_again(self) -> None:
        """Race from the start."""
        if (race := self._with_race()) is not None:
            race.again()
            self._race_changed()

    def action_slower(self) -> None:
        """Race at a lower speed."""
        self._change_speed(-1)

    def action_faster(self) -> None:
        """Race at a higher speed."""
        self._change_speed(1)

    def _change_speed(self, step: int) -> None:
        if (race := self._with_race()) is not None:
            race.change_speed(step)
            self._race_changed()

    def action_back(self) -> None:
        """Go back in the race."""
        self._seek(-1)

    def action_forward(self) -> None:
        """Go forward in the race."""
        self._seek(1)

    def _seek(self, steps: int) -> None:
        if (race := self._with_race()) is not None:
            race.seek(steps)
            self._race_changed()

    def action_next_round(self) -> None:
        """Race the next of the rounds that were run."""
        race = self._with_race()
        if race is None or self.board is None:
            return
        rounds = self.board.rounds
        later = [number for number in rounds if number > race.number]
        self.begin_race(later[0] if later else rounds[0])
        self._draw_all()

    # Lanes

    def _choose(self, number: int) -> None:
        if self.board is None or not 0 <= number < len(self.board.panels):
            return
        self.board.choose(number)
        self._lay_out()
        self.set_focus(self.board.panels[number].text)

    @on(LaneChosen)
    def _chosen(self, message: LaneChosen) -> None:
        if self.board is None or message.number == self.board.chosen:
            return
        # Another lane may have been chosen since.
        if self.focused is self.board.panels[message.number].text:
            self.board.choose(message.number)
            self._draw_all()

    def action_next_lane(self) -> None:
        """Go to the next lane."""
        self._walk(1)

    def action_lane_before(self) -> None:
        """Go to the lane before."""
        self._walk(-1)

    def _walk(self, step: int) -> None:
        if self.board is not None:
            self._choose((self.board.chosen + step) % len(self.board.panels))

    def action_go_to(self, number: int) -> None:
        """Go to a lane, from 0."""
        self._choose(number)

    def action_open(self) -> None:
        """Open the chosen lane as a scope."""
        if self.board is None:
            return
        lane = self.board.panels[self.board.chosen].lane
        if not lane.rounds:
            self._say("This lane has nothing to look at yet.")
            return
        race = self._race
        if race is not None and race.playing:
            race.pause()
        from .opened import open_lane, shown_round

        number = None if race is None else race.number
        shown = shown_round(lane, number)
        memory = None if shown is None else self._memory_of(lane, shown)
        reference = self.board.panels[0].lane
        self.app.push_screen(open_lane(lane, reference, number=number, scored=self._plan.quality, memory=memory))

    def _memory_of(self, lane: "Lane", round: "Round") -> "Memory | None":
        """Return how fast the memory was where a lane's round was written; ``None``: it was here."""
        return None
