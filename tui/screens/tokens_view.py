"""Tokens seen in several ways: as text, as a table, and one of them in full."""

from textual import on
from textual.app import ComposeResult
from textual.containers import Container, Vertical
from textual.content import Content

from ..conversation.view import Conversation
from ..lens import Lens
from ..paged_table import PagedTable
from ..session import Session
from ..widgets.cells import Cells, Row
from ..widgets.kept import KeptDrawing


class TokensView(KeptDrawing, Container):
    """All show the tokens through the same lens and look at the same one."""

    def __init__(self, tokens: PagedTable, inspector: Cells, lens: Lens) -> None:
        super().__init__()
        self.conversation = Conversation()
        self.tokens = tokens
        self.inspector = inspector
        inspector.add_class("inspector")
        self.inspecting = False
        self._looked_at: int | None = None
        """Index of the token that the reader went to; ``None`` while the newest is followed."""
        self.look_through(lens)

    def compose(self) -> ComposeResult:
        """Put the text first, and what explains it beside or below."""
        yield self.conversation
        with Vertical(classes="details"):
            yield self.tokens
            yield self.inspector

    # What a kind of tokens has of its own

    @property
    def token_count(self) -> int:
        """Tokens so far."""
        raise NotImplementedError

    @property
    def needs_facts(self) -> bool:
        """Whether something on the screen needs probability facts from the engine."""
        return False

    def legend(self, room: int) -> Content:
        """Return what the tints mean, in at most ``room`` cells."""
        raise NotImplementedError

    def newest_row(self, session: Session) -> Row:
        """Return what is told beside the legend."""
        raise NotImplementedError

    def tokens_shown(self) -> None:
        """The table has just come into view."""
        if self._looked_at is not None:
            self.tokens.look_at(self._looked_at)

    def _inspect(self, index: int | None) -> None:
        """Draw the token ``index`` (from 1) in the inspector."""
        raise NotImplementedError

    # The same for all

    @property
    def follows(self) -> bool:
        """Whether new text is seen as it comes."""
        return self.conversation.display and self.conversation.following

    @property
    def lines_painted(self) -> int:
        """Lines of text painted so far."""
        return self.conversation.lines_painted

    def take_focus(self) -> None:
        """Let the arrow keys act on the tokens."""
        (self.conversation if self.conversation.display else self.tokens).focus()

    def look_through(self, lens: Lens) -> None:
        """Tint and tell the tokens by something else."""
        self.lens = self.conversation.lens = self.tokens.lens = lens

    def inspect(self, on: bool) -> None:
        """Show one token in full and let the arrow keys walk from token to token, or no longer."""
        self.inspecting = self.conversation.walking = self.tokens.walking = on
        if on:
            self._looked_at = self.tokens.cursor_index
            self._show_token()
        else:
            self.conversation.inspect(None)

    # One token for all of them

    @on(Conversation.Stepped)
    def _stepped(self, message: Conversation.Stepped) -> None:
        newest = self.token_count
        at = newest if self._looked_at is None else self._looked_at
        if newest:
            self._go_to(min(max(at + message.step, 1), newest))

    @on(Conversation.Picked)
    def _picked(self, message: Conversation.Picked) -> None:
        self._go_to(message.index)

    @on(PagedTable.Highlighted)
    def _highlighted(self, message: PagedTable.Highlighted) -> None:
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
        newest = self.token_count or None
        index = newest if self._looked_at is None or newest is None else min(self._looked_at, newest)
        self._inspect(index)
        self.conversation.inspect(index, hold=self._looked_at is not None)
