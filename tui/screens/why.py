"""Why the model is slower to write than to read, in this run's own figures."""

from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar, assert_never

from rich.table import Table
from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Static

from ...metrics import numbers
from ..session import Session

if TYPE_CHECKING:
    from ...metrics.why import Fact

_REFRESH_SECONDS = 1.0

_STORY = (
    "Reading, the tokens of a micro-batch go through the weights together: one pass over memory serves them all. "
    "Writing, each token needs the one before it, so every token takes a pass of its own."
)


def why_table(session: Session) -> Table:
    """Return the explanation for the session's run; a dash where the run does not tell."""
    table = Table.grid(padding=(0, 2))
    table.add_column(style="bold", no_wrap=True)
    table.add_column(justify="right", no_wrap=True)
    table.add_column(ratio=1)
    run = session.run
    if run is None or run.token_count < 2:
        return _remark(table, "There is nothing to explain before the second token.")
    from ...metrics.floor import MemoryFloor, bandwidth_use, verdict
    from ...metrics.why import explain, facts

    floor = session.floor
    known = floor if isinstance(floor, MemoryFloor) else None
    for fact in facts(explain(run, session.model, known)):
        table.add_row(fact.label, _value(fact), Text(fact.note))
    if session.lost_reuse is not None:
        table.add_row("", "", Text(session.lost_reuse.sentence))
    table.add_row()
    if known is not None:
        table.add_row(
            "memory",
            numbers.bandwidth(known.bytes_per_second),
            Text("measured on the machine of the recording" if session.recorded else "measured on this machine"),
        )
        use = bandwidth_use(run, known)
        said = verdict(use)
        disturbance = run.disturbance
        if disturbance is not None and not disturbance.quotable:
            said = "Others disturbed this run: what sets the pace of an undisturbed one cannot be told from it."
        if use is not None and said is not None:
            table.add_row("in use", numbers.whole_percent(use), Text(said))
    elif floor is not None and not isinstance(floor, MemoryFloor):
        table.add_row("floor", numbers.MISSING, Text(floor.value))
    return table


def _value(fact: "Fact") -> str:
    if fact.value is None:
        return numbers.MISSING
    match fact.unit:
        case "tokens/s":
            return numbers.rate(fact.value)
        case "times":
            return numbers.times(fact.value)
        case "bytes":
            return numbers.size(round(fact.value))
        case "ns":
            return numbers.milliseconds(fact.value)
        case _:
            assert_never(fact.unit)


def _remark(table: Table, text: str) -> Table:
    table.add_row("", "", Text(text))
    return table


class WhyScreen(ModalScreen[None]):
    """Follows the run while it is open; closes with the key that opened it, or escape."""

    DEFAULT_CSS = """
    WhyScreen {
        align: center middle;
        & > VerticalScroll {
            width: 90%;
            max-width: 100;
            height: auto;
            max-height: 90%;
            padding: 1 2;
            background: $surface;
            border: round $primary;
            border-title-style: bold;
        }
        & Static { height: auto; }
        & #story { margin-bottom: 1; color: $text-muted; }
    }
    """

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,f5,w,q", "dismiss", "Close", show=False)]

    def __init__(self, session: Callable[[], Session]) -> None:
        super().__init__()
        self._session = session

    def compose(self) -> ComposeResult:
        """Show the story, then the figures."""
        with VerticalScroll() as box:
            box.border_title = "Why is it slower to write than to read?"
            yield Static(_STORY, id="story", markup=False)
            yield Static(why_table(self._session()), id="figures", markup=False)

    def on_mount(self) -> None:
        """Follow the run."""
        self.set_interval(_REFRESH_SECONDS, self._follow)

    def _follow(self) -> None:
        self.query_one("#figures", Static).update(why_table(self._session()))
