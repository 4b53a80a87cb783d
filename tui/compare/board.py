"""Lanes, shared plots and table together: what the compare screen shows once the heavy imports are done."""

import time
from collections.abc import Callable, Sequence

from textual.app import ComposeResult
from textual.containers import Container, Grid
from textual.geometry import Size

from ...comparison.lane import Lane, LanePhase
from ...comparison.results import Results
from ...comparison.runner import Stage
from ..plotting.axis import Axis
from ..screens.watching import Watching
from ..widgets.cells import Cells
from ..widgets.kept import KeptDrawing, KeptHorizontal
from .contract import Compared
from .curves import Curve, pace_rows, race_rows
from .lane_panel import LanePanel
from .moment import Moment, length_ns
from .race import Entry, Race
from .result_table import ResultTable, Sentences
from .room import in_view, share
from .transcript import Transcript
from .words import absence, race_row, stage_row, stopping_row, tabs

_PLOT_SHARE = 0.01
"""Of one core."""
_RESULTS_SECONDS = 2.0
_EARLY = 0.9
"""A margin, so that the timer never fires too early."""


class Board(KeptDrawing, Container):
    """Draws a comparison, one moment per frame."""

    DEFAULT_CSS = """
    Board {
        layout: vertical;
        height: 1fr;
        & > .stage, & > .tabs { height: 1; padding: 0 1; }
        & > .stage { background: $surface; }
        & > .lanes { height: 1fr; grid-gutter: 0; }
        & > .plots { height: 7; background: $surface; }
        & > .plots > Cells { height: 1fr; padding: 0 1; }
    }
    """

    def __init__(
        self,
        comparison: Compared,
        watching: Watching,
        retry: Callable[[], None],
        clock: Callable[[], int] = time.perf_counter_ns,
    ) -> None:
        """``retry`` is called when something has been held back since the terminal has yet to take earlier frames.
        ``clock`` is the race's, ns."""
        super().__init__()
        self._comparison = comparison
        self._watching = watching
        self._retry = retry
        self._clock = clock
        self.panels = [LanePanel(lane) for lane in comparison.lanes]
        self._stage = Cells(classes="stage")
        self._tabs = Cells(classes="tabs")
        self._lanes = Grid(*self.panels, classes="lanes")
        self._pace, self._tokens = Cells(), Cells()
        self._plots = KeptHorizontal(self._pace, self._tokens, classes="plots")
        self.table = ResultTable()
        self.sentences = Sentences()
        self._pace_axis, self._token_axis = Axis(), Axis()
        self._transcripts: dict[int, Transcript] = {}
        self._results: tuple[object, Results] | None = None
        self._figures_due = self._plots_due = self._drawn_at = 0.0
        self._sentence_lines = 1
        self.race: Race | None = None
        self.chosen = 0
        self.stopping = False
        """Whether the end was asked for."""

    def compose(self) -> ComposeResult:
        """Put the table below what it sums up."""
        yield self._stage
        yield self._tabs
        yield self._lanes
        yield self._plots
        yield self.table
        yield self.sentences

    # What is shown

    @property
    def results(self) -> Results:
        """The figures so far; asked for anew only when something has come that changes them."""
        lanes = tuple(
            (
                lane.phase,
                lane.model,
                len(lane.rounds),
                lane.rounds[-1].run.end is None if lane.rounds else None,
                None if lane.scores is None else lane.scores.count,
                lane.scores_note,
            )
            for lane in self._comparison.lanes
        )
        # A run that is under way changes all the time; once in a while is enough.
        state = (lanes, int(time.monotonic() / _RESULTS_SECONDS) if self.writing else 0)
        if self._results is None or self._results[0] != state:
            self._results = (state, self._comparison.results)
        return self._results[1]

    @property
    def judged(self) -> bool:
        """Whether there is a verdict: not before a round is over."""
        return not self.busy or any(row.rounds for row in self.results.rows)

    def _moment(self, lane: Lane, at: int | None) -> Moment | None:
        """Return the run to show of a lane: its run in the race at the time ``at``, or its newest."""
        if self.race is not None and at is not None and lane.phase is not LanePhase.FAILED:
            return self.race.moment(lane.number, at)
        if not lane.rounds:
            return None
        newest = lane.rounds[-1]
        return Moment(newest.run, self._transcript(lane, len(lane.rounds) - 1), None)

    def _transcript(self, lane: Lane, place: int) -> Transcript:
        one = lane.rounds[place]
        transcript = self._transcripts.get(id(one))
        if transcript is None:
            transcript = self._transcripts[id(one)] = Transcript(one.events, one.run.taken.t)
        transcript.read_on()
        return transcript

    @property
    def rounds(self) -> list[int]:
        """Numbers of the rounds that at least one lane has ended."""
        return sorted({one.number for lane in self._comparison.lanes for one in lane.rounds if one.run.token_count})

    def line_up(self, number: int) -> Race | None:
        """Make a race of one round; ``None`` where no lane has written a token in it."""
        entries = []
        for lane in self._comparison.lanes:
            row = self.results.rows[lane.number]
            for place, one in enumerate(lane.rounds):
                if one.number == number and one.run.token_count and lane.phase is not LanePhase.FAILED:
                    counts = any(round.number == number and not round.left_out for round in row.all_rounds)
                    ranked = counts and not row.unranked
                    entries.append(Entry(lane.number, one.run, self._transcript(lane, place), ranked))
        return Race(number, entries, self._clock) if entries else None

    # Room

    def lay_out(self, size: Size) -> None:
        """Share the screen out; ``size`` is the screen's."""
        lanes = self._comparison.lanes
        room = share(size.width, size.height, len(lanes))
        shown = in_view(len(lanes), self.chosen, room)
        self._lanes.styles.grid_size_columns = room.columns
        self._lanes.styles.grid_size_rows = room.rows
        self._tabs.display = len(shown) < len(lanes)
        self._plots.display = room.plots > 0
        self._plots.styles.height = room.plots
        self.table.styles.height = len(lanes) + 1
        self._sentence_lines = room.sentences
        for panel in self.panels:
            panel.display = panel.lane.number in shown

    def share_panels(self) -> None:
        """Share out what each lane has; after the lanes have got their size."""
        for panel in self.panels:
            if panel.display and panel.size:
                panel.share(panel.size.height, panel.size.width)

    def choose(self, number: int) -> None:
        """Go to another lane."""
        self.chosen = number
        for panel in self.panels:
            panel.choose(panel.lane.number == number)

    # Drawing

    def frame(self) -> None:
        """Draw what has arrived."""
        self._watching.pace.next_frame()
        self._draw()

    def at_leisure(self) -> None:
        """Draw if time alone changes something and no frame has been drawn for a while."""
        if time.perf_counter() - self._drawn_at > self._watching.pace.tempo.figures * _EARLY:
            self._draw()

    def _draw(self) -> None:
        """Draw one moment of all lanes, and of the race if there is one: texts, phases and everything that counts are
        drawn only here. Sparklines, plots and the table may be older."""
        if self._watching.pace.congested:
            self._retry()
            return
        self._drawn_at = time.perf_counter()
        at = None if self.race is None else self.race.at
        moments = [self._moment(lane, at) for lane in self._comparison.lanes]
        for panel, moment in zip(self.panels, moments, strict=True):
            if panel.display:
                panel.draw(moment, self.race, absence(panel.lane, self.race), stopping=self.stopping)
        self._draw_stage(at)
        if self._drawn_at >= self._figures_due:
            self._draw_figures(moments)
        if self._drawn_at >= self._plots_due:
            self._draw_plots(moments)

    def _draw_stage(self, at: int | None) -> None:
        width = self._stage.content_size.width
        comparison = self._comparison
        if self.race is not None and at is not None:
            row = race_row(self.race, at, len(self.rounds), width)
        else:
            rounds = max(comparison.plan.rounds, comparison.round)
            prompt = next((lane.rounds[-1].run for lane in comparison.lanes if lane.rounds), None)
            row = stage_row(
                comparison.stage, comparison.round, rounds, together=comparison.plan.together, run=prompt, width=width
            )
            if self.stopping and self.busy:
                row = stopping_row(width)
        self._stage.show_rows([row])

    def _draw_figures(self, moments: Sequence[Moment | None]) -> None:
        self._figures_due = self._drawn_at + _EARLY * self._watching.pace.tempo.figures
        for panel, moment in zip(self.panels, moments, strict=True):
            if panel.display:
                panel.draw_spark(moment)
        self._tabs.show_rows([tabs(self._comparison.lanes, self.chosen, self._tabs.content_size.width)])
        results = self.results
        self.table.show(results)
        self.sentences.show(results, self._sentence_lines, judged=self.judged)

    def _draw_plots(self, moments: Sequence[Moment | None]) -> None:
        # The longer they take, the longer the next ones wait.
        began = time.perf_counter()
        if self._plots.display:
            self._draw_curves(self._curves(moments))
        ended = time.perf_counter()
        tempo = self._watching.pace.tempo
        wait = min((ended - began) / _PLOT_SHARE, tempo.plot_at_most)
        self._plots_due = ended + max(wait, tempo.plot_at_least, tempo.figures)

    def _curves(self, moments: Sequence[Moment | None]) -> list[Curve]:
        curves = []
        for lane, moment in zip(self._comparison.lanes, moments, strict=True):
            if moment is not None and not (self.race is not None and moment.at is None):
                curves.append(Curve(lane.number, lane.plan.label, moment.times))
        return curves

    def _draw_curves(self, curves: Sequence[Curve]) -> None:
        runs = [] if self.race is None else [entry.run for entry in self.race.entries.values()]
        tokens = max((run.token_count for run in runs), default=0)
        until = max((length_ns(run) for run in runs), default=0)
        for cells, rows in (
            (self._pace, pace_rows(curves, self._pace_axis, tokens, *self._pace.content_size)),
            (self._tokens, race_rows(curves, self._token_axis, until, tokens, *self._tokens.content_size)),
        ):
            cells.show_rows(rows)

    def all(self) -> None:
        """Draw everything."""
        self._figures_due = self._plots_due = 0.0
        self.frame()

    @property
    def busy(self) -> bool:
        """Whether something is under way that has to be drawn now and then without an event."""
        return self._comparison.stage not in (Stage.DONE, Stage.CANCELLED)

    @property
    def writing(self) -> bool:
        """Whether a lane generates."""
        return any(lane.phase is LanePhase.RUNNING for lane in self._comparison.lanes)

    @property
    def lines_painted(self) -> int:
        """Lines of text painted so far."""
        return sum(panel.text.lines_painted for panel in self.panels)
