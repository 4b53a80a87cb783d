"""The scope on files: the same screen, on a clock that the reader moves."""

import asyncio
import gc
import time
from collections.abc import Callable, Sequence
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.timer import Timer

from ...backends.events import Failed, Finished
from ...traces.generations import Take
from ...traces.memory import bandwidth_at
from ...traces.opened import Opened
from ..engine_link import BackendLink
from ..keys import bindings
from ..plotting import curve
from ..screens.face import Face
from ..screens.scope_view import ScopeView
from ..screens.watching import Watching
from ..screens.wording import answer_note
from ..widgets.cells import Cells
from .earlier import earlier_than
from .film import Film
from .keys import REPLAY_KEYS, keys_now, replay_bindings
from .moving import Moving
from .player import Player
from .session import ReplaySession
from .track import Track
from .words import state_row

_REFUSED = "This is a recording: it can be looked at, not asked, changed or measured."
_WALKED = frozenset({"step", "step_back", "start", "finish", "forward", "backward"})
"""With the inspector these keys walk from token to token, as in the scope."""
_SOON_SECONDS = 0.001
_COLLECTION_THRESHOLDS = (10_000, 20, 20)


class ReplayScreen(Moving, ScopeView):
    """Plays one file."""

    AUTO_FOCUS = ""
    BINDINGS: ClassVar[list[BindingType]] = [*bindings(REPLAY_KEYS), *replay_bindings()]
    DEFAULT_CSS = """
    ReplayScreen {
        & #told { padding: 0 1; background: $surface; }
        & #track { height: 2; }
        &.-short #track { height: 1; }
    }
    """
    recorded = True

    def __init__(
        self,
        opened: Opened,
        watching: Watching,
        *,
        speed: float = 1.0,
        loop: bool = False,
        paused: bool = False,
        clock: Callable[[], int] = time.perf_counter_ns,
    ) -> None:
        """``clock`` is the real one, ns."""
        session = ReplaySession(text=opened.text)
        super().__init__(session, BackendLink(), watching)
        self._replayed = session
        self._opened = opened
        self._speed, self._looping, self._paused = speed, loop, paused
        self._clock = clock
        self._told, self._track = Cells(id="told"), Track()
        self._face = Face(session, opened.name, watching, self._draw_later, keys=REPLAY_KEYS)
        self._films: dict[int, Film] = {}
        self._shown = opened.first
        """Which of the takes, from 0."""
        self._at = 0
        """Position of the player in the last frame: everything in a frame belongs to one position."""
        self._written = 0
        """Fragments of text that are in the conversation."""
        self._began = self._ended = False
        """Of the conversation."""
        self._anew = False
        """Another take has come, of which nothing is drawn yet."""
        self._told_keys: tuple[bool, bool] | None = None
        """What the key bar says: whether it plays, and whether one token is looked at."""
        self._frames: Timer | None = None
        self.player: Player | None = None

    @property
    def _takes(self) -> Sequence[Take]:
        return self._opened.takes

    def compose_foot(self) -> ComposeResult:
        """Say where the replay stands."""
        yield self._told
        yield self._track

    async def _begin(self) -> None:
        from ..screens.reading import Reading

        reading = Reading(recorded=True)
        await self.query_one("#stage").mount(reading)
        self._face.reading = reading
        reading.take_focus()
        for note in self._opened.notes:
            self._say(note, "warning")
        await self._show_take(self._shown)
        self.run_worker(asyncio.to_thread(curve.preload))
        # What has been made so far stays: collections need not look at it again and again.
        gc.freeze()
        gc.set_threshold(*_COLLECTION_THRESHOLDS)
        gc.enable()

    # One of the recording's answers

    def _film(self, number: int) -> Film:
        return Film(self._takes[number], text=self._opened.text, earlier=earlier_than(self._takes, number))

    async def _show_take(self, number: int) -> None:
        self._shown = number
        if number not in self._films:
            self._films[number] = await asyncio.to_thread(self._film, number)
        film, player = self._films[number], self.player
        self.player = Player(
            film.timeline,
            speed=self._speed if player is None else player.speed,
            loop=self._looping if player is None else player.loop,
            paused=self._paused if player is None else not player.playing and not player.over,
            first=number == 0,
            last=number == len(self._takes) - 1,
            clock=self._clock,
        )
        self._at = self.player.position
        self._track.load(film.timeline, film.longest_disturbed, film.disturbed)
        ends = film.events[-1].t if film.events else 0
        self._replayed.show(film, lambda threads: bandwidth_at(self._opened.trace.memory, threads, ends))
        self._anew = True
        self._face.clock = lambda: film.timeline.recorded(self._at)
        self._moved()

    def _forget_text(self) -> None:
        self._written, self._began, self._ended = 0, False, False
        if self._face.reading is not None:
            self._face.reading.conversation.clear()

    # Frames

    def _moved(self) -> None:
        """The reader has moved the replay, or it goes on: show it as soon as the keys that came are done with."""
        if self._frames is not None:
            self._frames.stop()
        self._frames = self.set_timer(_SOON_SECONDS, self._frame)

    def _frame(self) -> None:
        self._frames = None
        if self.player is None:
            return
        with self.one_update():
            self._show()
        # Goes by what has been drawn: the clock goes on, and its end has to be shown too.
        if self._at >= self.player.timeline.length and self.player.goes_on:
            self._other_take(1)
        elif not self.player.paused and not self.player.over_at(self._at):
            self._frames = self.set_timer(self._watching.pace.seconds, self._frame)

    def _show(self) -> None:
        """Bring everything to where the replay stands."""
        player, reading = self.player, self._face.reading
        film = self._films[self._shown]
        if player is None or reading is None or self._face.held_back():
            return
        self._at = player.position
        place = film.timeline.place(self._at)
        was_busy = self.session.busy or self.session.starting
        anew = self._replayed.go_to(place) or self._anew
        self._anew = False
        if anew:
            self._forget_text()
        self._write(film, place)
        still = player.paused or player.over_at(self._at)
        if anew or still or was_busy != (self.session.busy or self.session.starting):
            # What was drawn before holds nothing back, nor may it stay where nothing more comes.
            self._face.at_once()
        else:
            self._face.frame()
        self._draw_state()

    def _draw_held_back(self) -> None:
        self._draws_later = False
        self._moved()

    def _write(self, film: Film, place: int) -> None:
        reading = self._face.reading
        if reading is None or not self.session.turns:
            return
        conversation = reading.conversation
        if not self._began:
            self._began = True
            endings = iter(film.earlier.endings)
            for turn in self.session.turns:
                conversation.add_user(turn.prompt)
                if turn.answer is not None:
                    conversation.add_answer(turn.answer)
                if ending := next(endings, ""):
                    conversation.end_answer(ending)
            conversation.begin_answer()
        readable = film.readable(place)
        if readable > self._written:
            conversation.append(film.fragments[self._written : readable])
            self._written = readable
        run = self.session.run
        ended = None if run is None else run.end
        if run is not None and isinstance(ended, Finished | Failed) and not self._ended:
            self._ended = True
            answered = run.ttfa_ns is not None
            conversation.end_answer(answer_note(ended, run.token_count, answered=answered, recorded=True))

    def _draw_state(self) -> None:
        if self.player is not None:
            takes = (self._shown + 1, len(self._takes))
            row = state_row(self.player, self._at, self._opened.told, takes, self._told.content_size.width)
            self._told.show_rows([row])
            self._track.show(self._at)
            playing = not self.player.paused and not self.player.over_at(self._at)
            told = playing, walking = playing, self.has_class("-inspects")
            if told != self._told_keys:
                self._told_keys = told
                several = len(self._takes) > 1
                self._face.key_bar.keys = keys_now(REPLAY_KEYS, playing=playing, walking=walking, several=several)
                self._face.keys()

    @on(Cells.Resized)
    def _lay_out_track(self) -> None:
        self._draw_state()

    def _became_ready(self) -> None:
        """Another machine's memory is not this one's."""

    # What the reader asks for

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Let the arrow keys walk from token to token while one is looked at."""
        return not (action in _WALKED and self.has_class("-inspects"))

    @on(Track.Moved)
    def _dragged(self, message: Track.Moved) -> None:
        self._with_player(lambda player: player.seek(message.position))

    def action_play(self) -> None:
        """Pause, or play on; from the start of the recording when it is over."""
        if self.player is not None and self.player.over and not self.player.first:
            self.call_next(self._show_take, 0)
        else:
            self._with_player(Player.toggle)

    def action_inspect(self) -> None:
        """See ``Looking``; the arrow keys then walk."""
        super().action_inspect()
        self._draw_state()

    def action_next_take(self) -> None:
        """Show the next answer of the recording."""
        self._other_take(1)

    def action_take_before(self) -> None:
        """Show the answer before."""
        self._other_take(-1)

    def _other_take(self, step: int) -> None:
        if len(self._takes) == 1:
            self._say("There is no other answer in this recording.")
        else:
            self.call_next(self._show_take, (self._shown + step) % len(self._takes))

    def action_refuse(self) -> None:
        """Say that a recording cannot be asked."""
        self._say(_REFUSED)
