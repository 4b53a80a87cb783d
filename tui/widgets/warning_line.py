"""The line that warns about the answers of the model in use, until the warnings have been read in full."""

from collections.abc import Sequence

from .cells import Cells, Row, clip, row_width

_LABEL = "warning "


def warning_row(warnings: Sequence[str], width: int) -> Row:
    """Return the first of ``warnings``, at least one, and how many more there are; texts of unknown origin."""
    more = f" · {len(warnings) - 1} more" if len(warnings) > 1 else ""
    rest: Row = ((more, ""), ("  f1 shows all of it", "dim"))
    return ((_LABEL, "warn"), (clip(warnings[0], width - len(_LABEL) - row_width(rest)), ""), *rest)


class WarningLine(Cells):
    """One line, or none."""

    DEFAULT_CSS = """
    WarningLine { padding: 0 1; background: $surface; }
    """

    def __init__(self) -> None:
        super().__init__()
        self.display = False
        self._warnings: list[str] = []
        self._read: set[str] = set()

    def show(self, warnings: Sequence[str]) -> None:
        """Draw the warnings that have not been read yet."""
        self._warnings = list(warnings)
        unread = [warning for warning in warnings if warning not in self._read]
        self.display = bool(unread)
        if unread:
            self.show_rows([warning_row(unread, self.content_size.width)])

    def read(self) -> None:
        """Take all warnings as read, and disappear."""
        self._read.update(self._warnings)
        self.show(self._warnings)
