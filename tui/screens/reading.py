"""The part of the screen that needs numpy: conversation, tokens and inspector. Mounted after the first frame."""

from collections.abc import Sequence

from textual import on
from textual.app import ComposeResult
from textual.containers import Container, Vertical
from textual.content import Content

from ...metrics.run import Run
from ..conversation.fragment import Fragment
from ..conversation.legend import Computed, legend
from ..conversation.marks import marks_of
from ..conversation.view import Conversation
from ..lens import Lens
from ..session import Piece
from ..token_table import TokenTable
from ..widgets.inspector import Inspector
from ..widgets.kept import KeptDrawing
from .wording import thinking_words


class Reading(KeptDrawing, Container):
    """One run seen in several ways: all show it through the same lens and look at the same token."""

    def __init__(self) -> None:
        super().__init__()
        self.conversation = Conversation()
        self.tokens = TokenTable()
        self.inspector = Inspector()
        self.lens = Lens.TIME
        self.inspecting = False
        self._run: Run | None = None
        self._looked_at: int | None = None
        """Index of the token that the reader went to; ``None`` while the newest is followed."""
        self._judged = False

    def compose(self) -> ComposeResult:
        """Put the text first, and what explains it beside or below."""
        yield self.conversation
        with Vertical(id="details"):
            yield self.tokens
            yield self.inspector

    @property
    def follows(self) -> bool:
        """Whether new text is seen as it comes."""
        return self.conversation.display and self.conversation.following

    @property
    def lines_painted(self) -> int:
        """Lines of text painted so far."""
        return self.conversation.lines_painted

    @property
    def needs_facts(self) -> bool:
        """Whether something on the screen needs probability facts."""
        return self.inspecting or self.lens.needs_facts

    def append(self, pieces: Sequence[Piece], run: Run | None) -> None:
        """Show new text of a run."""
        if not pieces:
            return
        first = max(min(piece.index for piece in pieces) - 1, 0)
        marks = [] if run is None else marks_of(run, first).tolist()
        self.conversation.append(
            Fragment(piece.index, piece.text, _at(marks, piece.index - 1 - first), piece.thinking) for piece in pieces
        )

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
        if run.thinking_tokens:
            self.conversation.tell_thought(thinking_words(run))
        if self.inspecting:
            self._show_token()

    def legend(self, room: int) -> Content:
        """Return what the tints mean, in at most ``room`` cells."""
        return legend(self.lens, room, Computed.of(self._run))

    def look_through(self, lens: Lens) -> None:
        """Tint and tell the tokens by something else."""
        self.lens = self.conversation.lens = self.tokens.lens = lens

    def inspect(self, on: bool) -> None:
        """Show one token in full and let the arrow keys walk from token to token, or no longer."""
        self.inspecting = self.conversation.walking = on
        if on:
            self._looked_at = self.tokens.cursor_index
            self._show_token()
        else:
            self.conversation.inspect(None)

    def tokens_shown(self, run: Run | None) -> None:
        """The table has just come into view."""
        self.tokens.show(run)
        if self._looked_at is not None:
            self.tokens.look_at(self._looked_at)

    # One token for all of them

    @on(Conversation.Stepped)
    def _stepped(self, message: Conversation.Stepped) -> None:
        newest = 0 if self._run is None else self._run.token_count
        at = newest if self._looked_at is None else self._looked_at
        if newest:
            self._go_to(min(max(at + message.step, 1), newest))

    @on(Conversation.Picked)
    def _picked(self, message: Conversation.Picked) -> None:
        self._go_to(message.index)

    @on(TokenTable.Highlighted)
    def _highlighted(self, message: TokenTable.Highlighted) -> None:
        self._looked_at = message.index
        if self.inspecting:
            self._show_token()

    def _go_to(self, index: int | None) -> None:
        self._look_at(index)
        self.tokens.look_at(index)

    def _look_at(self, index: int | None) -> None:
        self._looked_at = index
        if self.inspecting:
            self._show_token()

    def _show_token(self) -> None:
        run = self._run
        newest = None if run is None else run.token_count or None
        index = newest if self._looked_at is None or newest is None else min(self._looked_at, newest)
        self.inspector.show(run, index)
        self.conversation.inspect(index, hold=self._looked_at is not None)


def _at(marks: Sequence[int], position: int) -> int:
    return marks[position] if 0 <= position < len(marks) else 0
