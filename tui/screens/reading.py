"""The part of the screen that needs numpy: conversation, tokens and inspector. Mounted after the first frame."""

from collections.abc import Sequence

from textual.content import Content

from ...backends.text import Piece
from ...metrics.run import Run
from ..conversation.fragment import marked
from ..conversation.legend import Computed, legend
from ..conversation.marks import marks_of
from ..lens import Lens
from ..session import Session
from ..token_table import TokenTable
from ..widgets.cells import Row
from ..widgets.inspector import NOT_COMPUTED, NOT_RECORDED, Inspector
from ..widgets.newest_token import newest_row
from .tokens_view import TokensView
from .wording import reasoning_words


class Reading(TokensView):
    """One run."""

    tokens: TokenTable
    inspector: Inspector

    def __init__(self, *, recorded: bool = False) -> None:
        """``recorded``: probability facts that are not there never come."""
        inspector = Inspector(NOT_RECORDED if recorded else NOT_COMPUTED)
        super().__init__(TokenTable(recorded=recorded), inspector, Lens.TIME)
        self._recorded = recorded
        self._run: Run | None = None
        self._judged = False
        self._interruption: tuple[int, str] | None = None
        """(index of a token, words): the words are to stand above the text of that token, once it is there."""

    @property
    def token_count(self) -> int:
        """See ``TokensView``."""
        return 0 if self._run is None else self._run.token_count

    @property
    def needs_facts(self) -> bool:
        """See ``TokensView``."""
        return self.inspecting or self.lens.needs_facts

    def append(self, pieces: Sequence[Piece], run: Run | None) -> None:
        """Show new text of a run."""
        if not pieces:
            return
        first = max(min(piece.index for piece in pieces) - 1, 0)
        marks = [] if run is None else marks_of(run, first).tolist()
        self.conversation.append(marked(pieces, marks, first))
        self._interrupt()

    def interrupt_at(self, token: int, words: str) -> None:
        """Have words stand above the text of a token, be it there already or still to come."""
        self._interruption = (token, words)
        self._interrupt()

    def _interrupt(self) -> None:
        if self._interruption is not None and self.conversation.interrupt(*self._interruption):
            self._interruption = None
            if self.inspecting:
                self._show_token()

    def draw(self, run: Run | None) -> None:
        """Bring everything up to date with the run."""
        if run is not self._run:
            self._run, self._judged = run, False
            self.tokens.show(run)
            self._look_at(None)
        elif self.tokens.display:
            self.tokens.tokens_changed()
        if run is None:
            return
        if not self._judged and run.usual_ns is not None:
            # What disturbed the first tokens is known only now.
            self._judged = True
            self.conversation.mark_again(marks_of(run))
        if run.reasoning_tokens:
            self.conversation.tell_reasoning(lambda token: reasoning_words(run, token))
        if self.inspecting:
            self._show_token()

    def fill(self) -> None:
        """Nothing more comes: leave no rows free for it."""
        self.conversation.fill()
        self.tokens.fill()

    def legend(self, room: int) -> Content:
        """See ``TokensView``."""
        return legend(self.lens, room, Computed.of(self._run, recorded=self._recorded))

    def newest_row(self, session: Session) -> Row:
        """Return number and text of the newest token, and what the lens tells of it."""
        return newest_row(session, self.lens)

    def tokens_shown(self) -> None:
        """See ``TokensView``."""
        self.tokens.show(self._run)
        super().tokens_shown()

    def _inspect(self, index: int | None) -> None:
        self.inspector.show(self._run, index)
