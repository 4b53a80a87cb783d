"""The conversation as a scrollable widget."""

from collections.abc import Callable, Iterable, Mapping
from itertools import groupby

from textual.events import Click
from textual.message import Message

from ...backends.token_facts import Kind
from .fragment import Fragment, without_leading_breaks
from .layout import Document
from .paint import BAR_CELLS, column_of, offset_at
from .text_pages import TextPages
from .turns import WRITTEN, Marks, Speaker, Turn

_SPEAKERS: Mapping[Kind, Speaker] = {
    "answer": Speaker.MODEL,
    "reasoning": Speaker.REASONING,
    "channel": Speaker.CHANNEL,
}


class Conversation(TextPages):
    """User turns and answers as readable text, each token tinted by its class; reasoning apart from the answer.

    Text is drawn as it stands, control characters as visible signs; nothing in it is markup.
    """

    class Stepped(Message):
        """While tokens are walked: the reader wants the next token (1), or the one before (-1)."""

        def __init__(self, step: int) -> None:
            super().__init__()
            self.step = step

    class Picked(Message):
        """While tokens are walked: the reader wants this token."""

        def __init__(self, index: int | None) -> None:
            super().__init__()
            self.index = index
            """From 1; ``None`` for the newest one, whichever that is."""

    def __init__(self, *, name: str | None = None, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(name=name, id=id, classes=classes)
        self._parts: list[Turn] = []
        """The turns of the last answer: reasoning, other channels, and the answer itself."""
        self._channel = ""
        """The channel that is being written to."""
        self.walking = False
        """Whether the arrow keys, home and end go from token to token instead of scrolling."""
        self.folded = False
        """Whether reasoning is shown in one row."""

    @property
    def answer_text(self) -> str:
        """The last answer's text as it is drawn, without reasoning; empty when there is none."""
        answers = [turn for turn in self._document.turns if turn.speaker is Speaker.MODEL]
        return self._document.text_of(answers[-1]) if answers else ""

    def add_user(self, text: str) -> None:
        """Add a user's turn; line breaks at its end are not shown."""
        self._end_parts()
        self._document.begin(Speaker.USER)
        self._document.extend(text.rstrip("\r\n"))
        self._changed()

    def add_answer(self, text: str) -> None:
        """Add an earlier answer, of whose tokens nothing is known."""
        self._end_parts()
        self._document.begin(Speaker.MODEL)
        self._document.extend(text)
        self._changed()

    def begin_answer(self) -> None:
        """Begin an answer, empty so far."""
        self._end_parts()
        self.inspect(None)
        self._parts = []
        self._begin_part(Speaker.MODEL)

    def append(self, fragments: Iterable[Fragment]) -> None:
        """Add to the answer, which is begun where that has not been done."""
        readable = [fragment for fragment in fragments if fragment.text]
        if readable and self._live is None:
            self.begin_answer()
        for (kind, name), group in groupby(readable, lambda fragment: (fragment.kind, fragment.name)):
            if kind == "channel" and (name != self._channel or self._live_speaker is not Speaker.CHANNEL):
                self._name_channel(name)
            self._write(_SPEAKERS[kind], list(group))

    def append_prompt(self, fragments: Iterable[Fragment]) -> None:
        """Add tokens that a model was given to read; what ``append`` adds follows them."""
        if self._live is None:
            self.begin_answer()
        self._write(Speaker.PROMPT, [fragment for fragment in fragments if fragment.text])

    def interrupt(self, token: int, note: str) -> bool:
        """Say something within the answer, above the text of a token; return whether that text is there already.

        What stands at the top of the view stays there once the reader has scrolled; no token is looked at any more.
        """
        part = self._part_of(token)
        offset = 0 if part is None else part.span_of(token)[0]
        if part is None or offset == part.length:
            return False
        top = None if self.following else self._document.place_at(self.scroll_offset.y)
        seen = None if top is None else self._document.character_of(top)
        rest = self._document.interrupt(part, offset, note)
        if rest is not part:
            self._parts.insert(self._parts.index(part) + 1, rest)
            self._live = rest if self._live is part else self._live
        self._strips.clear()
        self._inspected = self._place = None
        if seen is not None:
            turn, at = seen
            below = turn is part and at >= offset
            self._place = self._document.place_of(*((rest, at - offset) if below else seen))
        if self.is_mounted and self.scrollable_size:
            self._rows_changed(self._place)
        else:
            self._changed()
        return True

    def _write(self, speaker: Speaker, fragments: list[Fragment]) -> None:
        if speaker is not Speaker.PROMPT and self._begins(speaker):
            # Reasoning begins with its text, and an empty row between it and the answer is there already.
            fragments = without_leading_breaks(fragments)
        if not fragments:
            return
        if self._live is None or self._live.speaker is not speaker:
            self._begin_part(speaker)
        assert self._live is not None
        self._live.mark(fragments)
        self._extend("".join(fragment.text for fragment in fragments))

    def _begins(self, speaker: Speaker) -> bool:
        written = [part for part in self._parts if part.length]
        last = written[-1].speaker if written else None
        return last is not speaker and Speaker.REASONING in (last, speaker)

    @property
    def _live_speaker(self) -> Speaker | None:
        return None if self._live is None else self._live.speaker

    def _name_channel(self, name: str) -> None:
        """Begin a block with the name of its channel."""
        self._drop_empty_part()
        self._live, self._channel = None, name
        self._document.begin(Speaker.NOTE)
        self._document.extend(name or "another channel")
        self._begin_part(Speaker.CHANNEL)

    def _drop_empty_part(self) -> None:
        if self._live is not None and self._live.length == 0:
            self._document.drop_from(self._live)
            self._parts.remove(self._live)

    def _begin_part(self, speaker: Speaker) -> None:
        self._drop_empty_part()
        self._live = self._document.begin(speaker, folded=self.folded and speaker is Speaker.REASONING)
        self._parts.append(self._live)
        self._changed()

    def _end_parts(self) -> None:
        self._live = None

    def end_answer(self, note: str = "") -> None:
        """End the answer; ``note`` is shown quietly below it."""
        self._end_parts()
        if note:
            self._document.begin(Speaker.NOTE)
            self._document.extend(note)
        self._changed()

    def clear(self) -> None:
        """Forget everything."""
        self._document = Document(self._document.width)
        self._forget_places()
        self.following = True
        self._changed()

    def drop_last_turn(self) -> None:
        """Take away the last user turn and everything below it; everything, where no user spoke."""
        turns = self._document.turns
        spoken = [turn for turn in turns if turn.speaker is Speaker.USER] or turns
        if spoken:
            self._document.drop_from(spoken[-1] if spoken is not turns else turns[0])
            self._forget_places()
            self._changed()

    def _forget_places(self) -> None:
        self._live = self._place = self._inspected = None
        self._parts = []
        self._strips.clear()

    def mark_again(self, marks: Marks) -> None:
        """Give the tokens of the last answer new marks: ``marks[index - 1]``."""
        for part in self._parts:
            part.mark_again(marks)
        self._strips.clear()
        self.refresh()

    # Reasoning

    def fold(self, folded: bool) -> None:
        """Show all reasoning, also what is still to come, in one row each or in full."""
        self.folded = folded
        self._fold([turn for turn in self._document.turns if turn.speaker is Speaker.REASONING], folded)
        if self._inspected is not None and self.scrollable_size and not self.following:
            self._reveal(self._inspected[0], self._inspected[1])

    def tell_reasoning(self, told: Callable[[int], str]) -> None:
        """Set the text of the last answer's reasoning when it is folded.

        ``told`` returns the text for a block by the index of its first token.
        """
        for part in self._parts:
            if part.speaker is Speaker.REASONING and part.first_token is not None:
                words = told(part.first_token)
                changed = part.words != words or part is self._live
                part.words = words
                if changed and part.folded and self.scrollable_size:
                    self._refresh_turn(part, 0, 0)

    # Walking from token to token

    def inspect(self, token: int | None, *, hold: bool = False) -> None:
        """Show which token of the last answer is looked at; ``None``: no one.

        ``hold``: bring it into view and keep it there, whatever text may come.
        """
        before = self._inspected
        part = None if token is None else self._part_of(token)
        self._inspected = None if part is None or token is None else (part, *part.span_of(token))
        if self._inspected == before:
            return
        if not self.scrollable_size:
            return
        for place in (before, self._inspected):
            if place is not None:
                self._refresh_turn(*place)
        if self._inspected is not None and hold:
            self._reveal(self._inspected[0], self._inspected[1])

    def _part_of(self, token: int) -> Turn | None:
        written = [part for part in self._parts if part.first_token is not None]
        begun = [part for part in written if part.first_token is not None and part.first_token <= token]
        return begun[-1] if begun else written[0] if written else None

    def on_click(self, event: Click) -> None:
        """Look at the token that was clicked."""
        offset = event.get_content_offset(self)
        if self.walking and offset is not None and self.text_selection is None:
            self._pick(self.scroll_offset.y + offset.y, offset.x - BAR_CELLS)

    def _pick(self, row: int, column: int) -> bool:
        """Ask for the token that is drawn in a row of the document; whether there is one."""
        line = self._document.line(row)
        if line is None or line.block.turn not in self._parts or line.block.turn.speaker not in WRITTEN:
            return False
        offset = offset_at(line, column)
        token = line.block.turn.token_at(line.block.offset + line.end - 1 if offset is None else offset)
        if token is not None:
            self.post_message(self.Picked(token))
        return token is not None

    def _pick_line(self, step: int) -> None:
        if self._inspected is None:
            return
        turn, start, _ = self._inspected
        row = self._document.row_of(self._document.place_of(turn, start))
        line = self._document.line(row)
        column = 0 if line is None else column_of(line, start)
        # An empty row or another speaker's is passed over.
        while 0 <= (row := row + step) < self._document.height:
            if self._pick(row, column):
                return

    def action_scroll_left(self) -> None:
        """Look at the token before."""
        if self.walking:
            self.post_message(self.Stepped(-1))

    def action_scroll_right(self) -> None:
        """Look at the next token."""
        if self.walking:
            self.post_message(self.Stepped(1))

    def action_scroll_up(self) -> None:
        """Go up one row, or to a token in the row above."""
        if self.walking:
            self._pick_line(-1)
        else:
            super().action_scroll_up()

    def action_scroll_down(self) -> None:
        """Go down one row, or to a token in the row below."""
        if self.walking:
            self._pick_line(1)
        else:
            super().action_scroll_down()

    def action_scroll_home(self) -> None:
        """Go to the beginning, or to the first token."""
        if self.walking:
            self.post_message(self.Picked(1))
        else:
            super().action_scroll_home()

    def action_scroll_end(self) -> None:
        """Go to the end and follow it, to the newest token too."""
        if self.walking:
            self.post_message(self.Picked(None))
        super().action_scroll_end()
