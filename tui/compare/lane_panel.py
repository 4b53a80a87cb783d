"""One lane on the screen: what it is, where it stands, its text, its figures and its own sparkline."""

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.events import Click, DescendantFocus

from ...backends.text import visible
from ...comparison.lane import Lane, LanePhase
from ..conversation.fragment import marked
from ..conversation.marks import marks_of
from ..conversation.view import Conversation
from ..plotting.axis import Axis
from ..widgets.cells import Cells
from ..widgets.kept import KeptDrawing
from .marks import role
from .moment import Moment, counted
from .race import Race
from .racing import LaneChosen
from .spark import spark_rows
from .transcript import Transcript
from .words import counter_rows, lane_phase, lane_title


class LaneText(Conversation):
    """A lane's text. In a narrow column a fast lane fills its view several times a second: the page is turned further
    than in the scope, and no scroll bar is drawn anew for it."""

    DEFAULT_CSS = """
    LaneText { scrollbar-size-vertical: 0; }
    """

    def rows_below_turn(self) -> int:
        """Return how many rows stay free below the newest one when the page turns."""
        return min(self.view_rows * 3 // 4, max(self.view_rows - 3, self.view_rows // 2))


class LanePanel(KeptDrawing, Vertical):
    """Draws what it is handed; text from outside is never markup."""

    DEFAULT_CSS = """
    LanePanel {
        border-left: vkey $foreground 20%;
        background: $background;
        & > .lane-head { height: 2; background: $surface; }
        & > LaneText { height: 1fr; min-height: 1; }
        &.-chosen { border-left: outer $primary; }
    }
    """

    def __init__(self, lane: Lane) -> None:
        super().__init__()
        self.lane = lane
        self._head = Cells(classes="lane-head")
        self.text = LaneText()
        self._counters = Cells()
        self._spark = Cells()
        self._axis = Axis()
        self._shown: Transcript | None = None
        self._pieces = 0
        self._judged = False
        self._absence = ""
        self._failure_told = False
        self._filled = False
        self.chosen = False

    def compose(self) -> ComposeResult:
        """Put the text between what names it and what measures it."""
        yield self._head
        yield self.text
        yield self._counters
        yield self._spark

    def share(self, height: int, width: int) -> None:
        """Share the panel's lines out."""
        one_line = width >= 62
        counters = 0 if height < 6 else 1 if height < 9 or one_line else 2
        spark = 0 if height < 7 else 1 if height < 16 else 2
        for widget, lines in ((self._counters, counters), (self._spark, spark)):
            widget.styles.height = lines
            widget.display = lines > 0

    def choose(self, chosen: bool) -> None:
        """Stand out, or no longer."""
        self.chosen = chosen
        self.set_class(chosen, "-chosen")

    # Drawing

    def draw(self, moment: Moment | None, race: Race | None, absence: str = "", *, stopping: bool) -> None:
        """Draw a moment: its text, its stage, its figures. ``absence``: shown if there is no text."""
        self._draw_text(moment, absence)
        self._draw_phase(moment, race, stopping=stopping)

    def _draw_text(self, moment: Moment | None, absence: str) -> None:
        # What is shown already is not drawn again.
        transcript = None if moment is None else moment.transcript
        count = 0 if moment is None else moment.transcript.readable(moment.at)
        if transcript is not self._shown or count < self._pieces or absence != self._absence:
            self._shown, self._pieces, self._judged, self._absence = transcript, 0, False, absence
            self._axis.reset()
            self.text.clear()
            self._failure_told = self._filled = False
            if absence:
                self.text.end_answer(absence)
        if moment is not None and count > self._pieces:
            self._append(moment, count)
        if self.lane.phase is LanePhase.FAILED and not self._failure_told:
            self._failure_told = True
            self.text.end_answer(_why(self.lane))
        ended = moment is not None and moment.ended
        if ended and not self._filled:
            self.text.fill()
        self._filled = ended

    def _append(self, moment: Moment, count: int) -> None:
        pieces = moment.transcript.pieces[self._pieces : count]
        self._pieces = count
        first = max(pieces[0].index - 1, 0)
        marks = marks_of(moment.run, first, max(piece.index for piece in pieces)).tolist()
        self.text.append(marked(pieces, marks, first))
        if not self._judged and moment.run.usual_ns is not None:
            # What disturbed the first tokens is known only now.
            self._judged = True
            self.text.mark_again(marks_of(moment.run))

    def _draw_phase(self, moment: Moment | None, race: Race | None, *, stopping: bool) -> None:
        width = self._head.content_size.width
        self._head.show_rows(
            [
                lane_title(self.lane, chosen=self.chosen, width=width),
                lane_phase(self.lane, moment, race, width, stopping=stopping),
            ]
        )
        width, height = self._counters.content_size
        if height:
            self._counters.show_rows(counter_rows(counted(moment), width, height))

    def draw_spark(self, moment: Moment | None) -> None:
        """Draw the sparkline."""
        width, height = self._spark.content_size
        if height:
            rows = []
            if moment is not None:
                times = moment.times
                rows = spark_rows(
                    times[1:] - times[:-1],
                    self._axis,
                    moment.run.median_ns,
                    role(self.lane.number),
                    width - 4,
                    height,
                    0 if moment.at is None else moment.run.token_count - 1,
                )
            self._spark.show_rows([(("  ", ""), *row) for row in rows])

    # The reader

    @on(DescendantFocus)
    def _entered(self) -> None:
        self.post_message(LaneChosen(self.lane.number))

    @on(Click)
    def _clicked(self) -> None:
        self.text.focus()


def _why(lane: Lane) -> str:
    if lane.failed is None:
        return ""
    parts = [lane.failed.what, lane.failed.reason, f"→ {lane.failed.remedy}" if lane.failed.remedy else ""]
    return visible("\n".join(part for part in parts if part), keep_lines=True)
