"""Draws a session on the widgets of the scope, and no more than the terminal takes."""

import math
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from textual.content import Content

from ...backends.text import Piece
from ..keys import KEYS, Key
from ..session import Phase, Session
from ..widgets.counters import Counters
from ..widgets.failure_panel import FailurePanel
from ..widgets.header import Header
from ..widgets.kept import KeptStatic
from ..widgets.key_bar import KeyBar
from ..widgets.newest_token import NEWEST_CELLS, NewestToken
from ..widgets.phase_line import PhaseLine
from ..widgets.plot import Plot
from ..widgets.prompt_box import PromptBox
from ..widgets.warning_line import WarningLine
from .watching import Watching
from .wording import failure_hint

if TYPE_CHECKING:
    from .reading import Reading
    from .tokens_view import TokensView

_PLOT_SHARE = 0.004
"""Of one core, while a generation is under way."""
_EARLY = 0.9
"""A margin, so that the timer never fires too early."""


class Face:
    """Draws one moment per frame: everything in a frame was true at the same time."""

    def __init__(
        self,
        session: Session,
        model_name: str,
        watching: Watching,
        retry: Callable[[], None],
        *,
        box: PromptBox | None = None,
        keys: Sequence[Key] = KEYS,
    ) -> None:
        """``retry`` is called when something has been held back since the terminal has yet to take earlier frames, to
        have ``all`` called a little later. ``box``: where there is something to ask; ``keys``: those that work."""
        self._session = session
        self.model_name = model_name
        """Shown until the engine tells the model's own."""
        self._watching = watching
        self._retry = retry
        self._pieces: list[Piece] = []
        self.clock: Callable[[], int] = time.perf_counter_ns
        """The engine's clock."""
        self._plot_due = 0.0
        self._figures_due = 0.0
        self._drawn_at = 0.0
        self._drawn_phase: Phase | None = None
        self._drawn_legend = Content("")
        self.editing = False
        """Whether the box holds the last prompt, to replace its turn."""
        self.header = Header()
        self.warning = WarningLine()
        self.failure = FailurePanel()
        self.legend = KeptStatic(id="legend", markup=False)
        self.newest = NewestToken()
        self.phase = PhaseLine()
        self.counters = Counters()
        self.plot = Plot()
        self.key_bar = KeyBar(keys)
        self._box = box
        self.reading: Reading | None = None
        """The conversation and the tokens, once they are there."""
        self.instead: TokensView | None = None
        """What is looked at in place of ``reading``, which goes on being fed."""

    @property
    def view(self) -> "TokensView | None":
        """The tokens that are looked at."""
        return self.reading if self.instead is None else self.instead

    def add(self, pieces: Sequence[Piece]) -> None:
        """Take text to be shown with the next frame."""
        self._pieces += pieces

    def flush_text(self) -> None:
        """Hand all text to the conversation now, as before its end is marked."""
        if self._pieces and self.reading is not None:
            self.reading.append(self._pieces, self._session.run)
            if self._watching.meter.running and self._session.run is not None and self.reading.follows:
                times = self._session.run.token_times[self._pieces[0].index - 1 : self._pieces[-1].index]
                self._watching.meter.text_handed(times, self.reading.lines_painted)
            self._pieces = []

    def frame(self) -> None:
        """Draw what has arrived."""
        self._watching.pace.next_frame()
        self._draw()

    def at_leisure(self) -> None:
        """Draw if time alone changes something and no frame has been drawn for a while."""
        if time.perf_counter() - self._drawn_at > self._watching.pace.tempo.figures * _EARLY:
            self._draw()

    def _draw(self, *, last: bool = False) -> None:
        """Draw the session at one moment: the text and everything that counts with it are drawn only here, so that they
        never show different moments. Percentiles and the plot may be older.

        ``last``: no later frame would draw it.
        """
        if not last and self.held_back():
            return
        self.flush_text()
        session, now, self._drawn_at = self._session, self.clock(), time.perf_counter()
        # A new phase brings new figures.
        due = self._drawn_at >= self._figures_due or session.phase is not self._drawn_phase
        self._drawn_phase = session.phase
        if due:
            self._figures_due = self._drawn_at + _EARLY * self._watching.pace.tempo.figures
        self.phase.show(session, now)
        self.counters.show(session, now, percentiles=due)
        name = self.model_name if session.model is None else session.model.name
        self.header.show(name, session.model, session.context_used, raw=session.raw, temp=session.sampling.temp)
        self.warning.show(session.warnings)
        if self.reading is not None:
            self.reading.draw(session.run)
            view = self.view or self.reading
            self.newest.show(view.newest_row(session))
            if due:
                self._draw_legend(view)
                self._draw_plot()

    def _draw_legend(self, view: "TokensView") -> None:
        legend = view.legend(self.legend.app.size.width - NEWEST_CELLS - 1)
        if legend != self._drawn_legend:
            self._drawn_legend = legend
            self.legend.update(legend, layout=False)

    def _draw_plot(self) -> None:
        # A picture takes milliseconds: the dearer it is, the longer the next one waits; the last one is always drawn.
        began = time.perf_counter()
        if self._session.busy and began < self._plot_due and self.plot.is_of(self._session):
            return
        self.plot.show(self._session)
        ended = time.perf_counter()
        tempo = self._watching.pace.tempo
        wait = min((ended - began) / _PLOT_SHARE, tempo.plot_at_most)
        self._plot_due = ended + max(wait, tempo.plot_at_least)

    def all(self, *, last: bool = False) -> None:
        """Draw everything; ``last``: do so even if the terminal still has to take earlier frames."""
        self._watching.pace.next_frame()
        if not last and self.held_back():
            return
        self._figures_due = 0.0
        self._draw(last=last)
        self.keys()
        if self._watching.meter.running:
            self._watching.draw()
        self.failure.show(self._session.failure, failure_hint(self._session) if self._box is not None else "")

    def at_once(self, *, plot: bool = True) -> None:
        """Draw everything, however short a time ago it was drawn; ``plot``: the plot, too, though more follows."""
        self._plot_due = 0.0 if plot else math.inf
        self.all()

    def keys(self) -> None:
        """Draw the keys; where there is nothing to ask, single letters work."""
        self.key_bar.show(letters=self._box is None, editing=self.editing)

    def held_back(self) -> bool:
        """Whether the terminal still has to take earlier frames; then everything is drawn a little later."""
        if not self._watching.pace.congested:
            return False
        self._retry()
        return True
