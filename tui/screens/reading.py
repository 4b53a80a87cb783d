"""The part of the screen that needs numpy: conversation and tokens. Mounted after the first frame."""

from collections.abc import Sequence

from textual.widget import Widget

from ...metrics.run import Run
from ..conversation.fragment import Fragment
from ..conversation.legend import legend
from ..conversation.view import Conversation
from ..session import Piece
from ..token_table import TokenTable


class Reading:
    """The two widgets, and what is done to them together."""

    def __init__(self) -> None:
        self.conversation = Conversation()
        self.tokens = TokenTable()
        self.legend = legend()
        self._run: Run | None = None

    @property
    def follows(self) -> bool:
        """Whether new text is seen as it comes."""
        return self.conversation.display and self.conversation.following

    @property
    def lines_painted(self) -> int:
        """Lines of text painted so far."""
        return self.conversation.lines_painted

    async def mount(self, stage: Widget) -> None:
        """Put the widgets in their place."""
        await stage.mount(self.conversation, self.tokens)

    def append(self, pieces: Sequence[Piece]) -> None:
        """Show new text."""
        self.conversation.append(Fragment(piece.index, piece.text, piece.pace, piece.thinking) for piece in pieces)

    def draw(self, run: Run | None) -> None:
        """Bring the tokens up to date."""
        if run is not self._run:
            self._run = run
            self.tokens.show(run)
        elif self.tokens.display:
            self.tokens.tokens_changed()
