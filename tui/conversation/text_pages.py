"""A document on the screen: wrapped to the width, painted line by line, turned page by page."""

from typing import ClassVar

from rich.style import Style
from textual.cache import LRUCache
from textual.events import Resize
from textual.geometry import Region
from textual.selection import Selection
from textual.strip import Strip
from textual.timer import Timer

from ..lens import Lens
from .blocks import Block, Line, Place
from .graphemes import is_simple
from .layout import Document
from .marks import DISTURBED_LOOK, LOOKS, looks
from .paging import PagedView
from .paint import BAR_CELLS, Palette, paint
from .selection import selected_text, span_in_text
from .tints import DISTURBED_STYLE, TINTS, tint_css
from .turns import Speaker, Turn

_SLICE_CHARACTERS = 32768
"""Laid out in one go after the width changed, some milliseconds of work."""
_SLICE_SECONDS = 0.03


class TextPages(PagedView, can_focus=True):
    """Draws a document through a lens, with one token marked as the one that is looked at."""

    ALLOW_SELECT = True

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "conversation--user",
        "conversation--user-bar",
        "conversation--note",
        "conversation--reasoning",
        "conversation--disturbed",
        "conversation--inspected",
        *(f"conversation--{tint.name}" for tint in TINTS),
    }

    DEFAULT_CSS = f"""
    TextPages {{
        background: $background;
        color: $foreground;
        & > .conversation--user {{ text-style: bold; }}
        & > .conversation--user-bar {{ color: $text-primary; }}
        & > .conversation--note {{ color: $text-muted; text-style: italic; }}
        & > .conversation--reasoning {{ color: $text-muted; }}
        & > .conversation--disturbed {{ text-style: {DISTURBED_STYLE}; }}
        & > .conversation--inspected {{ text-style: reverse; }}
        {tint_css("conversation")}
    }}
    """

    def __init__(self, *, name: str | None = None, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(name=name, id=id, classes=classes)
        self._document = Document(80)
        self._lens = Lens.TIME
        self._place: Place | None = None
        """What stands at the top of the view since the reader scrolled."""
        self._inspected: tuple[Turn, int, int] | None = None
        """(turn, start, end) of the token that is looked at."""
        self._live: Turn | None = None
        """The turn that is being written."""
        self._palette: Palette | None = None
        self._strips: LRUCache[tuple[Block, int, int, str], Strip] = LRUCache(512)
        self._slices: Timer | None = None
        self.lines_painted = 0
        """How many lines were painted anew so far, for measuring the cost."""

    @property
    def lines_laid_out(self) -> int:
        """How many rows were wrapped so far, for measuring the cost."""
        return self._document.lines_laid_out

    @property
    def lens(self) -> Lens:
        """What tints the text."""
        return self._lens

    @lens.setter
    def lens(self, lens: Lens) -> None:
        """Tint the text by something else; only what is in view is painted anew."""
        if lens is not self._lens:
            self._lens = lens
            self._repaint()

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

    def _repaint(self) -> None:
        self._palette = None
        self._strips.clear()
        self.refresh()

    def _changed(self) -> None:
        # A turn has begun or ended. Its text may take long to come: no rows stay free for it.
        if self.is_mounted:
            self._fit_page(more=False)
            self.refresh()

    def _extend(self, text: str) -> None:
        """Add text to the last turn, and draw what changes."""
        document = self._document
        before = document.line(document.height - 1)
        first = document.extend(text)
        if not self.is_mounted or (before is not None and before.folded):
            return
        page = self._page_top
        self._fit_page()
        if self._page_top != page:
            self.refresh()
            return
        top = self.scroll_offset.y
        view = self.scrollable_size
        regions = []
        for row in range(max(first, top), min(document.height, top + self._rows_in(view))):
            if (line := document.line(row)) is None:
                continue
            shrunk = before is not None and row == first and line.end < before.end
            regions.append(Region(0, row - top, view.width if shrunk else _cells_used(line, view.width), 1))
        if regions:
            self.refresh(*regions)

    def on_resize(self, event: Resize) -> None:
        """Wrap to the new width, keeping the end or what stands at the top in its place."""
        if not self.scrollable_size:
            return
        place = None if self.following else self._place
        self._document.set_width(self.view_width - BAR_CELLS)
        self._strips.clear()
        self._rows_changed(place)

    def _rows_changed(self, place: Place | None) -> None:
        """All rows may stand elsewhere now; ``place`` stays at the top, the end in view without one."""
        document, view = self._document, self.view_rows
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

    def _fold(self, turns: list[Turn], folded: bool) -> None:
        """Show turns in one row each, or in full again."""
        place = None if self.following else self._document.place_at(self.scroll_offset.y)
        for turn in turns:
            self._document.fold(turn, folded)
        if self.is_mounted and self.scrollable_size:
            self._rows_changed(place)

    def _reveal(self, turn: Turn, offset: int) -> None:
        """Bring a character into view; the view stays there."""
        document = self._document
        place = document.place_of(turn, offset)
        height = document.height
        document.lay_out_from(place, 1)
        self._heights_settled(height)
        row, top = document.row_of(place), self.scroll_offset.y
        if not top <= row < top + self.view_rows:
            # Some of what was read before stays above it.
            self._move_to(min(max(0, row - self.view_rows // 3), self._page_top))
        self.following = False
        self.reader_moved()

    def _refresh_turn(self, turn: Turn, start: int, end: int) -> None:
        """Draw the rows of some characters of a turn, as far as they are in view."""
        document, top = self._document, self.scroll_offset.y
        first, last = (document.row_of(document.place_of(turn, offset)) for offset in (start, max(start, end - 1)))
        for row in range(max(first, top), min(last + 1, top + self.view_rows)):
            line = document.line(row)
            if line is not None:
                self._strips.discard((line.block, line.start, line.end, ""))
        if first < top + self.view_rows and last >= top:
            self.refresh(Region(0, max(first - top, 0), self.view_width, last + 1 - max(first, top)))

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

        def by_look(*names: str) -> list[Style]:
            tints = [[], *([tint.name] for tint in TINTS)]
            return [
                style(*names, *tints[look % DISTURBED_LOOK], *(["disturbed"] if look & DISTURBED_LOOK else []))
                for look in range(LOOKS)
            ]

        plain, muted, bar = style(), style("reasoning"), style("user-bar")
        return Palette(
            speakers={
                Speaker.USER: style("user"),
                Speaker.REASONING: muted,
                Speaker.CHANNEL: muted,
                Speaker.MODEL: plain,
                Speaker.NOTE: style("note"),
                Speaker.PROMPT: muted,
            },
            written={
                Speaker.REASONING: by_look("reasoning"),
                Speaker.CHANNEL: by_look("reasoning"),
                Speaker.PROMPT: by_look("reasoning"),
                Speaker.MODEL: by_look(),
            },
            looks=looks(self._lens),
            bars={
                Speaker.USER: bar,
                Speaker.REASONING: muted,
                Speaker.CHANNEL: muted,
                Speaker.MODEL: plain,
                Speaker.NOTE: plain,
                Speaker.PROMPT: bar,
            },
            label=bar,
            selected=self.screen.get_component_rich_style("screen--selection"),
            inspected=style("inspected"),
        )

    def render_line(self, y: int) -> Strip:
        """Return one row of the view."""
        row = self.scroll_offset.y + y
        if self._palette is None:
            self._palette = self._look_up_palette()
        line = self._document.line(row)
        if line is None:
            return Strip.blank(self.view_width, self._palette.speakers[Speaker.MODEL])
        selection = self.text_selection
        span = None if selection is None else span_in_text(selection, row)
        inspected = self._inspected_in(line)
        kept = span is None and inspected is None
        turn = line.block.turn
        tail = self._document.newest_line(turn) if line.folded and turn is self._live else ""
        key = (line.block, line.start, line.end, turn.words + tail if line.folded else "")
        painted = self._strips.get(key) if kept else None
        if painted is None:
            self.lines_painted += 1
            painted = paint(line, self._document.width, self._palette, span, inspected, tail)
            if kept:
                self._strips[key] = painted
        return painted.apply_offsets(-BAR_CELLS, row)

    def _inspected_in(self, line: Line) -> tuple[int, int] | None:
        if self._inspected is None or self._inspected[0] is not line.block.turn:
            return None
        _, start, end = self._inspected
        if line.folded:
            return start, end
        first = line.block.offset + line.start
        return (start, end) if start < first + line.end - line.start and end > first else None

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """Return the selected text as it is drawn, lines joined where they were only wrapped."""
        return selected_text(self._document, selection), "\n"

    def selection_updated(self, selection: Selection | None) -> None:
        """Draw the new selection."""
        self.refresh()


def _cells_used(line: Line, width: int) -> int:
    """Return how far a line reaches, or the whole ``width`` where terminals may measure otherwise."""
    text = line.block.text[line.start : line.end]
    return min(BAR_CELLS + len(text) + 1, width) if is_simple(text) else width
