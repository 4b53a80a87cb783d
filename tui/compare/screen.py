"""Several models side by side: rounds, scores, and then the race."""

import asyncio
import gc
import time
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, ClassVar, Literal

from textual import events, on
from textual.app import ComposeResult, SystemCommand
from textual.binding import Binding, BindingType
from textual.screen import Screen

from ...backends.events import Event, Failed, ModelReady
from ...backends.text import visible
from ..compositor import SparingScreen
from ..feed import Feed
from ..keys import Key, bindings
from ..plotting import curve
from ..screens.offering import Offering
from ..screens.watching import Watching
from ..widgets.cells import Cells
from ..widgets.kept import KeptHorizontal
from ..widgets.key_bar import KeyBar
from .contract import Compared
from .keeping import Keeping
from .keys import KEYS, keys_now
from .racing import Racing
from .room import least_size
from .taking_out import TakingOut
from .telling import Telling
from .title import sampling_facts, title_row

if TYPE_CHECKING:
    from ...comparison.plan import ComparisonPlan
    from .board import Board

_METER_SECONDS = 1.0
_LEISURE_SECONDS = 0.5
_RETRY_SECONDS = 0.25
_COLLECTION_THRESHOLDS = (10_000, 20, 20)
_TOLD_SECONDS, _WARNED_SECONDS = 3.0, 6.0

Make = Callable[["ComparisonPlan"], Compared]
"""Makes the comparison, once the first frame is there."""


class CompareScreen(SparingScreen, Racing, Telling, TakingOut, Offering, Screen[None]):
    """Owns the comparison; widgets draw it and answer with messages."""

    AUTO_FOCUS = ""
    BINDINGS: ClassVar[list[BindingType]] = [
        *bindings(KEYS),
        Binding("left,shift+tab", "lane_before", "The lane before.", show=False, priority=True),
        Binding("tab", "next_lane", "The next lane.", show=False, priority=True),
        # All keys alike: one that has to find its way through the focused widget is overtaken by the next one.
        *(
            Binding(str(number), f"go_to({number - 1})", f"Lane {number}.", show=False, priority=True)
            for number in range(1, 7)
        ),
    ]

    DEFAULT_CSS = """
    CompareScreen {
        layout: vertical;
        & > #title { height: 1; padding: 0 1; background: $panel; }
        & > #stage { height: 1fr; }
    }
    """

    def __init__(
        self,
        plan: "ComparisonPlan",
        make: Make,
        watching: Watching,
        when_ready: Callable[[], None],
        clock: Callable[[], int] = time.perf_counter_ns,
        keeping: Keeping | None = None,
    ) -> None:
        """``when_ready`` is called whenever a model has become ready; ``clock`` is the race's, ns; ``keeping``: what
        is received is kept there."""
        super().__init__()
        self._when_ready = when_ready
        self._plan = plan
        self._facts = sampling_facts(plan.request.sampling)
        self._make = make
        self._watching = watching
        self._clock = clock
        self._keeping = keeping
        self._title = Cells(id="title")
        self._keys = KeyBar(KEYS)
        self._feed: Feed | None = None
        self._draws_later = False
        self.comparison: Compared | None = None
        self.board: Board | None = None

    def compose(self) -> ComposeResult:
        """Lay out what needs no heavy import."""
        yield self._title
        yield KeptHorizontal(id="stage")
        yield self._watching.line
        yield self._keys

    def on_mount(self) -> None:
        """Show the first frame, then begin with what takes time."""
        self._leisure = self.set_interval(_LEISURE_SECONDS, self._draw_slow, pause=True)
        self._meter = self.set_interval(_METER_SECONDS, self._watching.draw, pause=True)
        self._draw_frame()
        self.call_after_refresh(self._begin_unless_left)

    async def _begin_unless_left(self) -> None:
        if self.is_attached:
            await self._begin()

    async def _begin(self) -> None:
        comparison = self._make(self._plan)
        from .board import Board

        self.comparison = comparison
        self.board = board = Board(comparison, self._watching, self._draw_later, self._clock)
        board.lay_out(self.size)
        await self.query_one("#stage").mount(board)
        self._choose(0)
        # The feed looks at descriptors, which there are only now.
        self._tell(comparison.start())
        self._feed = Feed(comparison.filenos, self._readable, lambda: self._watching.pace.seconds)
        self._leisure.resume()
        self._moved_on()
        self.run_worker(asyncio.to_thread(curve.preload))
        # What has been made so far stays: collections need not look at it again and again.
        gc.freeze()
        gc.set_threshold(*_COLLECTION_THRESHOLDS)
        gc.enable()

    def on_unmount(self) -> None:
        """Leave the event loop, which closes soon."""
        if self._feed is not None:
            self._feed.stop()

    def _say(self, text: str, severity: Literal["information", "warning", "error"] = "information") -> None:
        seconds = _TOLD_SECONDS if severity == "information" else _WARNED_SECONDS
        self.notify(visible(text, keep_lines=True), severity=severity, timeout=seconds, markup=False)

    # The comparison

    def _tell(self, events_of_lanes: Iterable[tuple[int, Event]]) -> None:
        for number, event in events_of_lanes:
            if isinstance(event, ModelReady):
                self._when_ready()
            if isinstance(event, Failed):
                self._say(f"{self._plan.lanes[number].label}: {event.what}", "error")

    def _readable(self) -> None:
        # In the screen's own message loop an exception ends the app; the event loop would only log it.
        self.call_next(self._read)

    def _read(self) -> None:
        if self.comparison is None or self._feed is None:
            return
        self._tell(self.comparison.receive())
        self._feed.rearm()
        self._tell_of_recording()
        if (news := self._watching.news()) is not None:
            self._say(news, "warning")
        self._moved_on()

    def _change(self, change: Callable[[], None]) -> None:
        """Change the comparison while nothing looks at its descriptors."""
        if self._feed is not None:
            self._feed.pause()
            change()
            self._feed.rearm()
            self._moved_on()

    def _moved_on(self) -> None:
        """Draw; once everything is done, race."""
        board = self.board
        if board is None:
            return
        if board.busy:
            self._leisure.resume()
        elif board.race is None and board.rounds:
            # Not before: while lanes run, drawing all of them would take their time.
            self.begin_race(board.rounds[-1])
        if board.busy:
            self._draw()
        elif self.is_current:
            # Nothing comes after this that would draw what is not due yet.
            self._draw_all()

    # Drawing

    def frame_goes_out(self) -> None:
        """Tell the meter."""
        if self._watching.meter.running and self.board is not None:
            self._watching.meter.frame(self.board.lines_painted)

    def _draw(self) -> None:
        if self.board is not None and self.is_current:
            with self.one_update():
                self.board.frame()

    def _draw_slow(self) -> None:
        if self.board is None or not self.board.busy:
            self._leisure.pause()
        if self.board is not None and self.is_current:
            with self.one_update():
                self.board.at_leisure()

    def _draw_all(self) -> None:
        if self.board is not None:
            self.board.all()
        self._draw_frame()

    def _draw_frame(self) -> None:
        """Draw what stands around the board."""
        width = self._title.content_size.width or self.size.width - 2
        self._title.show_rows([title_row("compare", self._plan.prompt, width, self._facts)])
        self._keys.keys = self._keys_now()
        self._keys.show(letters=False, editing=False)
        if self._watching.meter.running:
            self._watching.draw()

    def _keys_now(self) -> tuple[Key, ...]:
        return keys_now(busy=self.board is None or self.board.busy)

    def _draw_later(self) -> None:
        if not self._draws_later:
            self._draws_later = True
            self.set_timer(_RETRY_SECONDS, self._draw_held_back)

    def _draw_held_back(self) -> None:
        self._draws_later = False
        self._draw_all()

    def on_resize(self) -> None:
        """Share the screen out."""
        self._lay_out()

    def _lay_out(self) -> None:
        if self.board is not None:
            self.board.lay_out(self.size)
            self.call_after_refresh(self._share_panels)

    def _share_panels(self) -> None:
        if self.board is not None:
            self.board.share_panels()
            self.call_after_refresh(self._draw_all)

    @on(Cells.Resized)
    def _lay_out_again(self) -> None:
        if self.board is not None:
            self.board.share_panels()
        self._draw_all()

    def on_screen_resume(self, event: events.ScreenResume) -> None:
        """Catch up with what came while another screen was shown."""
        self._draw_all()

    # What the user asks for

    def offered_keys(self) -> Iterable[Key]:
        """Return the keys of the comparison."""
        return KEYS

    def further_commands(self) -> Iterable[SystemCommand]:
        """Return what has no key."""
        yield SystemCommand(
            "Low bandwidth", "Draw less often and send less, or as usual again.", self.action_low_bandwidth
        )

    def least_size(self) -> tuple[int, int]:
        """Return what the lanes and the table need."""
        return least_size(len(self._plan.lanes))

    def interrupt(self) -> bool:
        """End what runs."""
        if self.board is not None and self.board.busy:
            self.action_cancel()
            return True
        return False

    def action_cancel(self) -> None:
        """End what runs; pause the race."""
        if self.comparison is not None and self.board is not None and self.board.busy:
            # An engine may take its time to answer; that it was asked is to be seen at once.
            self.board.stopping = True
            self._change(self.comparison.cancel)
            self._draw_all()
        elif self.board is not None and self.board.race is not None and self.board.race.playing:
            self.action_pause()

    def action_round(self) -> None:
        """Run another round."""
        if self.comparison is None or self.board is None:
            return
        if self.board.busy:
            self._say("Another round can be added once this comparison is done.")
            return
        self.end_race()
        self.board.stopping = False
        self._change(self.comparison.add_round)
        self._draw_all()

    def action_meter(self) -> None:
        """Show or hide what watching costs."""
        if self._watching.switch_meter():
            self._meter.resume()
        else:
            self._meter.pause()
        self._draw_all()

    def action_low_bandwidth(self) -> None:
        """Draw less often and send less, or as usual again."""
        self._say(self._watching.switch_low_bandwidth())
        self._draw_all()
