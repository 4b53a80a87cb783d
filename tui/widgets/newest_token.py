"""The newest token with its time, in the strip under the text."""

from ...backends.text import visible
from .. import numbers
from ..session import Session
from .cells import Cells, Row, clip, row_width

_PIECE_CELLS = 24
_MARKS = (("   ", ""), ("▲  ", "warn"), ("▲▲ ", "warn"), ("▲▲▲", "bad"))


def quoted(piece: bytes) -> str:
    """Return a token's bytes in quotes, with everything that cannot be seen made visible."""
    return f'"{visible(piece.decode("utf-8", "backslashreplace"))}"'


def newest_row(session: Session) -> Row:
    """Return number, text and time of the newest token; nothing before the first one."""
    run = session.run
    if run is None or run.token_count == 0:
        return ()
    number = run.token_count
    piece = quoted(run.piece(number - 1)) if not run.control[-1] else "end of turn"
    times = run.token_times
    taken = numbers.milliseconds(None if number < 2 else int(times[-1] - times[-2]))
    text = clip(piece, _PIECE_CELLS)
    mark, role = _MARKS[run.last_pace]
    pad = " " * (_PIECE_CELLS - row_width(((text, ""),)))
    return (
        (f"{pad}#{number:,} ", "dim"),
        (text, "strong"),
        (f" {taken:>8} ", role),
        (mark, role),
    )


class NewestToken(Cells):
    """One line, at the right edge."""

    DEFAULT_CSS = """
    NewestToken { padding: 0 1; }
    """

    def show(self, session: Session) -> None:
        """Draw the newest token."""
        width = self.content_size.width
        row = newest_row(session)
        fits = row_width(row) <= width
        self.show_rows([((" " * (width - row_width(row)), ""), *row) if fits else row[1:]])
