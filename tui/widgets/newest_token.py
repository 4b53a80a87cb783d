"""The newest token with its time, in the strip under the text."""

import math
from typing import TYPE_CHECKING

from ...backends.text import visible
from ...metrics import numbers
from ..lens import Lens
from ..session import Session
from .cells import Cells, Row, clip, row_width

if TYPE_CHECKING:
    from ...metrics.run import Run

_PIECE_CELLS = 24
NEWEST_CELLS = 46
"""What the widget needs, its padding included."""
_MARKS = (("   ", ""), ("▲  ", "warn"), ("▲▲ ", "warn"), ("▲▲▲", "bad"))


def quoted(piece: bytes) -> str:
    """Return a token's bytes in quotes, with everything that cannot be seen made visible."""
    return f'"{visible(piece.decode("utf-8", "backslashreplace"))}"'


def newest_row(session: Session, lens: Lens) -> Row:
    """Return number and text of the newest token, and what the lens tells of it; nothing before the first one."""
    run = session.run
    if run is None or run.token_count == 0:
        return ()
    number = run.token_count
    ended = run.finish_reason == "stop" and bool(run.control[-1])
    piece = "end of turn" if ended else quoted(run.piece(number - 1))
    told, degree = _told(run, lens)
    text = clip(piece, _PIECE_CELLS)
    mark, role = _MARKS[degree]
    pad = " " * (_PIECE_CELLS - row_width(((text, ""),)))
    return (
        (f"{pad}#{number:,} ", "dim"),
        (text, "strong"),
        (f" {told:>8} ", role),
        (mark, role),
    )


def _told(run: "Run", lens: Lens) -> tuple[str, int]:
    """Return what the lens shows of the newest token, and its degree; this runs for every frame, so it reads nothing
    else from the run."""
    if lens is Lens.TIME:
        times = run.token_times[-2:]
        gap = int(times[1] - times[0]) if len(times) > 1 else None
        return numbers.milliseconds(gap), int(run.last_pace)
    from ..conversation.marks import degree, marks_of  # numpy comes after the first frame
    from ..inspection import bits

    facts = run.likelihood.at(run.token_count - 1)
    if lens is Lens.PROBABILITY:
        told = numbers.percent(None if facts is None else math.exp(facts.logprob))
    else:
        told = numbers.entropy(None if facts is None else bits(facts.entropy_nats))
    return told, degree(int(marks_of(run, run.token_count - 1)[0]), lens)


class NewestToken(Cells):
    """One line, at the right edge."""

    DEFAULT_CSS = f"""
    NewestToken {{ width: {NEWEST_CELLS}; max-width: 100%; padding: 0 1; }}
    """

    def show(self, row: Row) -> None:
        """Draw a row such as ``newest_row``, as much of it as fits: the space before it is left out first, then its
        parts from the first one on."""
        width = self.content_size.width
        if row and row_width(row) > width:
            row = ((row[0][0].lstrip(" "), row[0][1]), *row[1:])
        while row and row_width(row) > width:
            row = row[1:]
        self.show_rows([((" " * (width - row_width(row)), ""), *row)])
