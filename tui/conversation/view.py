"""The conversation as a scrollable widget."""

from collections.abc import Iterable, Sequence
from typing import ClassVar

import numpy as np
import numpy.typing as npt
from rich.style import Style
from textual.cache import LRUCache
from textual.events import Resize
from textual.geometry import Region
from textual.selection import Selection
from textual.strip import Strip
from textual.timer import Timer

from .fragment import Fragment
from .graphemes import is_simple
from .layout import Block, Document, Line, Place
from .paging import PagedView
from .paint import BAR_CELLS, Palette, paint, plain_text
from .tints import TINTS, tint_css
from .turns import THINKING, Speaker, Turn

_SLICE_CHARACTERS = 32768
"""Laid out in one go after the width changed, some milliseconds of work."""
_SLICE_SECONDS = 0.03


class Conversation(PagedView, can_focus=True):
    """User turns and answers as readable text, each token tinted by its class.

    Text is drawn as it stands, control characters as visible signs; nothing in it is markup.
    """

    ALLOW_SELECT = True

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "conversation--user",
        "conversation--user-bar",
        "conversation--note",
        "conversation--thinking",
        *(f"conversation--{tint.name}" for tint in TINTS),
    }

    DEFAULT_CSS = f"""
    Conversation {{
        background: $background;
        color: $foreground;
        & > .conversation--user {{ text-style: bold; }}
        & > .conversation--user-bar {{ color: $accent; }}
        & > .conversation--note {{ color: $text-muted; text-style: italic; }}
        & > .conversation--thinking {{ color: $text-muted; }}
        {tint_css("conversation")}
    }}
    """

    def __init__(self, *, name: str | None = None, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(name=name, id=id, classes=classes)
        self._document = Document(80)
        self._answer: Turn | None = None
        self._place: Place | None = None
        """What stands at the top of the view since the reader scrolled."""
        self._palette: Palette | None = None
        self._strips: LRUCache[tuple[Block, int, int], Strip] = LRUCache(512)
        self._slices: Timer | None = None
        self.lines_painted = 0
        """How many lines were painted anew so far, for measuring the cost."""

    @property
    def answer_text(self) -> str:
        """The last answer's text as it was generated; empty when there is none."""
        answers = [turn for turn in self._document.turns if turn.speaker is Speaker.MODEL]
        return self._document.text_of(answers[-1]) if answers else ""

    @property
    def lines_laid_out(self) -> int:
        """How many rows were wrapped so far, for measuring the cost."""
        return self._document.lines_laid_out

    def add_user(self, text: str) -> None:
        """Add a user's turn; line breaks at its end are not shown."""
        self._answer = None
        self._document.begin(Speaker.USER)
        self._document.extend(text.rstrip("\r\n"))
        self._changed()

    def begin_answer(self) -> None:
        """Begin an answer, empty so far."""
        self._answer = self._document.begin(Speaker.MODEL)
        self._changed()

    def append(self, fragments: Iterable[Fragment]) -> None:
        """Add to the answer, which is begun where that has not been done."""
        texts: list[str] = []
        for fragment in fragments:
            if fragment.text:
                if self._answer is None:
                    self.begin_answer()
                    assert self._answer is not None
                self._answer.mark(len(fragment.text), fragment.index, fragment.tint, fragment.thinking)
                texts.append(fragment.text)
        if texts:
            self._extend("".join(texts))

    def end_answer(self, note: str = "") -> None:
        """End the answer; ``note`` is shown quietly below it."""
        self._answer = None
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

    def retint(self, classes: npt.NDArray[np.int8] | Sequence[int]) -> None:
        """Give the tokens of the last answer new tints: ``classes[index - 1]``, 0 to 3."""
        answers = [turn for turn in self._document.turns if turn.speaker is Speaker.MODEL]
        if answers:
            answers[-1].retint(classes)
            self._strips.clear()
            self.refresh()

    def content_rows(self) -> int:
        """Return the rows of the whole conversation."""
        return self._document.height

    def reader_moved(self) -> None:
        """Lay out what came into view, and remember what stands at the top."""
        top = self.scroll_offset.y
        self._place = self._document.place_at(top)
        if self._document.settled or self._place is None:
            return
        height = self._document.height
        self._document.lay_out_from(self._place, self.view_rows)
        self._heights_settled(height)

    def _forget_places(self) -> None:
        self._answer = None
        self._place = None
        self._strips.clear()

    def _changed(self) -> None:
        if self.is_mounted:
            self._fit_page()
            self.refresh()

    def _extend(self, text: str) -> None:
        document = self._document
        before = document.line(document.height - 1)
        first = document.extend(text)
        if not self.is_mounted:
            return
        page = self._page_top
        self._fit_page()
        if self._page_top != page:
            self.refresh()
            return
        top = self.scroll_offset.y
        regions = []
        for row in range(max(first, top), min(document.height, top + self.view_rows)):
            line = document.line(row)
            if line is None:
                continue
            shrunk = before is not None and row == first and line.end < before.end
            regions.append(Region(0, row - top, self.view_width if shrunk else self._cells_used(line), 1))
        if regions:
            self.refresh(*regions)

    def _cells_used(self, line: Line) -> int:
        """Return how far a line reaches, or the whole width where terminals may measure otherwise."""
        text = line.block.text[line.start : line.end]
        return min(BAR_CELLS + len(text) + 1, self.view_width) if is_simple(text) else self.view_width

    def on_resize(self, event: Resize) -> None:
        """Wrap to the new width, keeping the end or what stands at the top in its place."""
        if not self.scrollable_size:
            return
        document, view = self._document, self.view_rows
        place = None if self.following else self._place
        document.set_width(self.view_width - BAR_CELLS)
        self._strips.clear()
        document.lay_out_end(view)
        if place is not None:
            document.lay_out_from(place, view)
        self._fit_page(fill=True)
        if place is not None:
            row = document.row_of(place)
            self.following = row >= self._page_top
            self._move_to(row)
        self.refresh()
        self._lay_out_rest()

    def _lay_out_rest(self) -> None:
        if self._slices is None and not self._document.settled:
            self._slices = self.set_timer(_SLICE_SECONDS, self._lay_out_slice)

    def _lay_out_slice(self) -> None:
        self._slices = None
        height = self._document.height
        self._document.lay_out_more(_SLICE_CHARACTERS)
        self._heights_settled(height)
        self._lay_out_rest()

    def _heights_settled(self, height_before: int) -> None:
        """Rows above the view turned out to be more or fewer than estimated: keep what is in view where it is."""
        self._shift_page(self._document.height - height_before)
        if not self.following and self._place is not None:
            self._move_to(self._document.row_of(self._place))

    def notify_style_update(self) -> None:
        """Look the styles up again, as after a change of theme."""
        super().notify_style_update()
        self._palette = None
        self._strips.clear()

    def _look_up_palette(self) -> Palette:
        def style(*names: str) -> Style:
            return self.component_style(*(f"conversation--{name}" for name in names))

        tints = [style(), *(style(tint.name) for tint in TINTS)]
        thinking = [style("thinking"), *(style("thinking", tint.name) for tint in TINTS)]
        assert len(tints) == THINKING
        user_bar = style("user-bar")
        return Palette(
            speakers={Speaker.USER: style("user"), Speaker.MODEL: tints[0], Speaker.NOTE: style("note")},
            answer=[*tints, *thinking],
            bars={Speaker.USER: user_bar, Speaker.MODEL: tints[0], Speaker.NOTE: tints[0]},
            thinking_bar=thinking[0],
            label=user_bar,
            selected=self.screen.get_component_rich_style("screen--selection"),
        )

    def render_line(self, y: int) -> Strip:
        """Return one row of the view."""
        row = self.scroll_offset.y + y
        if self._palette is None:
            self._palette = self._look_up_palette()
        line = self._document.line(row)
        if line is None:
            return Strip.blank(self.view_width, self._palette.answer[0])
        selection = self.text_selection
        span = None if selection is None else _span_in_text(selection, row)
        key = (line.block, line.start, line.end)
        painted = self._strips.get(key) if span is None else None
        if painted is None:
            self.lines_painted += 1
            painted = paint(line, self._document.width, self._palette, span)
            if span is None:
                self._strips[key] = painted
        return painted.apply_offsets(-BAR_CELLS, row)

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """Return the selected text as it is drawn, lines joined where they were only wrapped."""
        last = self._document.height - 1
        first = 0 if selection.start is None else selection.start.y
        if selection.end is not None:
            last = min(last, selection.end.y)
        parts: list[str] = []
        for row in range(first, last + 1):
            line = self._document.line(row)
            if line is None:
                parts.append("\n")
                continue
            start, end = _span_in_text(selection, row) or (0, 0)
            text = plain_text(line)
            parts.append(text[start:] if end < 0 else text[start:end])
            if row < last and not line.wrapped:
                parts.append("\n")
        return "".join(parts), "\n"

    def selection_updated(self, selection: Selection | None) -> None:
        """Draw the new selection."""
        self.refresh()


def _span_in_text(selection: Selection, row: int) -> tuple[int, int] | None:
    """Return the selected characters of a row; an end of -1 is the end of the row.

    Textual counts the bar as characters before the first one, and an end that is not given as -1.
    """
    span = selection.get_span(row)
    if span is None:
        return None
    start, end = span
    open_end = end == -1 and (selection.end is None or row != selection.end.y)
    return max(0, start), -1 if open_end else max(0, end)
