"""The plot: the prompt being read, then the time of every token."""

from typing import TYPE_CHECKING

from textual.geometry import Size

from ..plotting.axis import Axis
from ..session import Phase, Session
from .cells import Cells, Row
from .latency_plot import latency_rows
from .prefill_plot import prefill_rows

if TYPE_CHECKING:
    from ...metrics.run import Run


class Plot(Cells):
    """As high as the screen gives it."""

    DEFAULT_CSS = """
    Plot { height: 1fr; padding: 0 1; }
    """

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._axis = Axis()
        self._shown: tuple[Run | None, bool] = (None, False)
        self._fitted = Size(0, 0)

    def is_of(self, session: Session) -> bool:
        """Whether it shows the session's run, in its present phase and in the present size of the plot."""
        return self._shown == _content(session) and self._fitted == self.content_size

    def show(self, session: Session) -> None:
        """Draw a session's run; nothing before there is something to see."""
        if self._shown != _content(session):
            self._axis.reset()
            self._shown = _content(session)
        self._fitted = self.content_size
        run, reading = self._shown
        self.show_rows([] if run is None else self._drawn(session, run, reading=reading))

    def _drawn(self, session: Session, run: "Run", *, reading: bool) -> list[Row]:
        width, height = self.content_size
        if reading:
            return prefill_rows(run, self._axis, width, height)
        from ...metrics.floor import MemoryFloor  # numpy comes after the first frame

        floor = session.floor
        return latency_rows(run, floor if isinstance(floor, MemoryFloor) else None, self._axis, width, height)


def _content(session: Session) -> tuple["Run | None", bool]:
    """Return the run that is to be drawn, and whether its prompt is being read."""
    return session.run, session.phase is Phase.PREFILL
