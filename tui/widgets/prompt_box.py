"""Where prompts are typed."""

from textual import events
from textual.document._document import Location
from textual.message import Message

from ...backends.text import visible
from ..history import History
from .area import Area

_NEW_LINE_KEYS = frozenset(
    {"ctrl+j", "newline", "shift+enter", "alt+enter", "ctrl+enter", "shift+\r", "alt+\r", "ctrl+\r"}
)
"""Under both names that Textual gives them, by kitty's protocol and by xterm's."""


class PromptBox(Area):
    """Several lines; Enter sends, up and down on the first and last line go through earlier prompts."""

    DEFAULT_CSS = """
    PromptBox {
        height: auto;
        max-height: 6;
        border: none;
        padding: 0;
        background: $background;
        & .text-area--cursor-line { background: $background; }
        & .text-area--placeholder { color: $text-muted; }
        &:focus { border: none; }
    }
    """

    class Sent(Message):
        """A prompt was sent. The box is empty for the next one; a prompt that is refused is put back."""

        def __init__(self, prompt: str, cursor: Location) -> None:
            super().__init__()
            self.prompt = prompt
            self.cursor = cursor
            """Where the cursor was in it."""

    def __init__(self, history: History, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._history = history
        self.placeholder = "Ask something: enter sends, ^j begins a new line"

    def fill(self, text: str) -> None:
        """Replace what is in the box; characters that could command the terminal are made visible."""
        self.text = visible(text.replace("\r\n", "\n").replace("\r", "\n"), keep_lines=True)
        self.move_cursor(self.document.end)

    def put_back(self, sent: Sent) -> None:
        """Put a prompt back before the text typed since."""
        typed_since = bool(self.text)
        self.insert(sent.prompt, (0, 0))
        if not typed_since:
            self.move_cursor(sent.cursor)

    async def _on_key(self, event: events.Key) -> None:
        if event.key == "enter":
            event.stop()
            event.prevent_default()
            if self.text.strip():
                sent = self.Sent(self.text, self.cursor_location)
                self.fill("")
                self.post_message(sent)
        elif event.key in _NEW_LINE_KEYS:
            event.stop()
            event.prevent_default()
            self.insert("\n", maintain_selection_offset=False)

    def action_cursor_up(self, select: bool = False) -> None:
        """Move up; on the first line to the earlier prompt."""
        if select or not self.cursor_at_first_line:
            super().action_cursor_up(select)
        elif (earlier := self._history.earlier(self.text)) is not None:
            self.fill(earlier)

    def action_cursor_down(self, select: bool = False) -> None:
        """Move down; on the last line to the later prompt."""
        if select or not self.cursor_at_last_line:
            super().action_cursor_down(select)
        elif (later := self._history.later()) is not None:
            self.fill(later)
