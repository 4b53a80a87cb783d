"""The scored text seen in several ways: tinted, as a table, and one token with both distributions."""

from collections.abc import Iterable

from textual import on
from textual.app import ComposeResult
from textual.content import Content

from ...backends.text import visible
from ...metrics import numbers
from ..conversation.legend import Computed, legend
from ..lens import Lens
from ..paged_table import PagedTable
from ..screens.tokens_view import TokensView
from ..session import Session
from ..widgets.cells import Cells, Row, clip
from .distributions import distribution_rows
from .scored_columns import ScoredColumns, reasons
from .scored_text import ScoredText


class ScoredTable(PagedTable):
    """Every token of the text with what was thought of it."""

    _text: ScoredText | None = None

    def show(self, text: ScoredText) -> None:
        """Show another text."""
        self._text = text
        self.show_content(text)

    def reasons(self) -> list[tuple[str, str]]:
        """See ``PagedTable``."""
        return list(reasons())

    def columns_used(self, width: int) -> int:
        """See ``PagedTable``."""
        return ScoredColumns.fitting(width).used

    def header(self, width: int) -> str:
        """See ``PagedTable``."""
        return ScoredColumns.fitting(width).header(self._lens)

    def row_cells(self, row: int, width: int, *, chosen: bool) -> Iterable[tuple[str, str]]:
        """See ``PagedTable``."""
        if self._text is None:
            return ()
        return ScoredColumns.fitting(width).cells(self._text, row, self._lens, chosen=chosen)


class Distributions(Cells):
    """One token under both models."""

    DEFAULT_CSS = """
    Distributions { padding: 0 1; background: $surface; }
    """

    def show(self, text: ScoredText | None, index: int | None, labels: tuple[str, str]) -> None:
        """Draw the token ``index`` (from 1); ``labels``: of the lane and of the reference, of unknown origin."""
        width, height = self.content_size
        position = None if text is None or index is None else index - 1
        self.show_rows(distribution_rows(text, position, labels, width, height))


class ScoredReading(TokensView):
    """One lane's view of the common text."""

    DEFAULT_CSS = """
    ScoredReading { & > #whose { dock: top; background: $surface; } }
    """

    tokens: ScoredTable
    inspector: Distributions

    def __init__(self, label: str, reference: str) -> None:
        """``label`` and ``reference`` name the lanes; both are of unknown origin."""
        super().__init__(ScoredTable(), Distributions(), Lens.DIVERGENCE)
        self._labels = (visible(label), visible(reference))
        self._whose = Cells(id="whose")
        self._text: ScoredText | None = None

    def compose(self) -> ComposeResult:
        """Say whose text it is, above everything else."""
        yield self._whose
        yield from super().compose()

    @property
    def token_count(self) -> int:
        """See ``TokensView``."""
        return 0 if self._text is None else self._text.token_count

    def show(self, text: ScoredText) -> None:
        """Show another text, or more of it scored."""
        self._text = text
        self.draw_headline()
        prompt, answer = text.fragments()
        self.conversation.clear()
        self.conversation.append_prompt(prompt)
        self.conversation.append(answer)
        self.conversation.end_answer()
        self.conversation.action_scroll_home()
        self.tokens.show(text)
        self._go_to(text.begin + 1 if self._looked_at is None else self._looked_at)

    def draw_headline(self) -> None:
        """Say whose text it is, in one line."""
        text, (label, reference) = self._text, self._labels
        if text is None:
            return
        whose = "the given text" if text.given else f"prompt and answer of {reference}"
        room = max(self.size.width - 2, 0)
        parts = [f" {whose}"]
        if text.compared:
            parts.append(f"scored by {label} against {reference}")
        else:
            parts.append(f"scored by {label}, the reference")
        parts.append(f"{text.count:,} of {text.token_count:,} tokens")
        while len(parts) > 1 and len(" · ".join(parts)) > room:
            parts.pop()
        self._whose.show_rows([((clip(" · ".join(parts), room), "strong"),)])

    @on(Cells.Resized)
    def _fit(self) -> None:
        """Lay out anew what is drawn once."""
        self.draw_headline()
        if self.inspecting:
            self._show_token()

    def legend(self, room: int) -> Content:
        """See ``TokensView``."""
        return legend(self.lens, room, Computed.without_notes())

    def newest_row(self, session: Session) -> Row:
        """Return the sum of it: what the lens tells of the whole text."""
        text = self._text
        if text is None or text.mean_kld is None:
            return ()
        mean, share = numbers.nats(text.mean_kld), numbers.percent(text.share_of_same_top)
        return (("", ""), ("Mean KLD ", "dim"), (mean, "strong"), ("  same top ", "dim"), (share, "strong"))

    def tokens_shown(self) -> None:
        """See ``TokensView``."""
        if self._text is not None:
            self.tokens.show(self._text)
        super().tokens_shown()

    def _inspect(self, index: int | None) -> None:
        self.inspector.show(self._text, index, self._labels)
