"""Every token of a run with its timing, as a table."""

from collections.abc import Iterable

from ..metrics.run import Run
from .paged_table import PagedTable
from .token_columns import Columns, reasons, row_cells


class TokenTable(PagedTable):
    """Reads a run's arrays."""

    _run: Run | None = None

    def __init__(self, *, recorded: bool = False) -> None:
        """``recorded``: missing values stay unknown."""
        super().__init__()
        self._recorded = recorded

    def reasons(self) -> list[tuple[str, str]]:
        """See ``PagedTable``."""
        return list(reasons(recorded=self._recorded))

    def show(self, run: Run | None) -> None:
        """Show another run from its end, or nothing."""
        self._run = run
        self.show_content(run)

    def columns_used(self, width: int) -> int:
        """See ``PagedTable``."""
        return Columns.fitting(self._lens, width).used

    def header(self, width: int) -> str:
        """See ``PagedTable``."""
        return Columns.fitting(self._lens, width).header

    def row_cells(self, row: int, width: int, *, chosen: bool) -> Iterable[tuple[str, str]]:
        """See ``PagedTable``."""
        if self._run is None:
            return ()
        return row_cells(self._run, row, self._lens, Columns.fitting(self._lens, width), chosen=chosen)
