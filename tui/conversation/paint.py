"""From a laid out line to the cells on the screen."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from ...backends.text import visible
from .blocks import Line
from .graphemes import cluster_end, cluster_width, drawn, is_simple
from .marks import DISTURBED_LOOK
from .turns import WRITTEN, Speaker
from .wrap import TAB

BAR_CELLS = 2
"""Cells to the left of all text."""

_BARS = {
    Speaker.USER: "▌ ",
    Speaker.REASONING: "┊ ",
    Speaker.CHANNEL: "┊ ",
    Speaker.MODEL: "  ",
    Speaker.NOTE: "  ",
    Speaker.PROMPT: "▌ ",
}
_FOLDED_BAR = "▸ "
_INSPECTED_BAR = "❯ "
_USER_LABEL = "you"
_UNFOLDS = " · f9 unfolds"
_TAIL_CHARACTERS = 400
_SHORTEST_TAIL = 12
_TOO_WIDE = "▯"
"""Stands for a wide character where there is one cell."""
_SPACES = re.compile("[ \t\u00a0\u2000-\u200a\u202f\u205f\u3000]+")


@dataclass(frozen=True, slots=True)
class Palette:
    """The styles in use, looked up again whenever the theme or the lens changes."""

    speakers: Mapping[Speaker, Style]
    written: Mapping[Speaker, Sequence[Style]]
    """Of what consists of tokens, by look."""
    looks: Sequence[int]
    """The look of a token by its marks."""
    bars: Mapping[Speaker, Style]
    label: Style
    selected: Style
    inspected: Style


def plain_text(line: Line) -> str:
    """Return the characters of a line as they are drawn, the hanging spaces at its end included."""
    if line.folded:
        return line.block.turn.words
    return "".join(text for text, _, _ in _pieces(line.block.text[line.start : line.end], None))


def offset_at(line: Line, column: int) -> int | None:
    """Return the offset in the turn's text of what is drawn ``column`` cells from the start of a line's text.

    ``None`` where nothing is drawn.
    """
    if line.folded or column < 0:
        return None
    for _, cells, offset in _pieces(line.block.text[line.start : line.end], None):
        column -= cells
        if column < 0:
            return line.block.offset + line.start + offset
    return None


def column_of(line: Line, offset: int) -> int:
    """Return how many cells from the start of a line's text the character at ``offset`` of the turn's text is drawn."""
    if line.folded:
        return 0
    length = offset - line.block.offset - line.start
    return sum(cells for _, cells, _ in _pieces(line.block.text[line.start : line.start + max(length, 0)], None))


def paint(
    line: Line,
    width: int,
    palette: Palette,
    selected: tuple[int, int] | None,
    inspected: tuple[int, int] | None = None,
    tail: str = "",
) -> Strip:
    """Return a line as ``BAR_CELLS`` of bar and ``width`` cells of text.

    ``selected``: the span of drawn characters that is selected; an end of -1 is the end of the line. ``inspected``: the
    span of the turn's text that belongs to the token that is looked at. ``tail``: the newest text of a folded turn that
    is still being written.
    """
    turn = line.block.turn
    ordinary = palette.speakers[turn.speaker]
    bar = Segment(_BARS[turn.speaker], palette.bars[turn.speaker])
    if line.folded:
        bar = Segment(_FOLDED_BAR, palette.bars[turn.speaker])
        segments, cells = _folded(turn.words, tail, width, ordinary, None if inspected is None else palette.inspected)
    else:
        text = line.block.text[line.start : line.end]
        runs = [(len(text), ordinary)]
        if turn.speaker in WRITTEN:
            start = line.block.offset + line.start
            styles = palette.written[turn.speaker]
            looks = turn.runs(start, start + len(text), palette.looks)
            runs = list(_inked(text, [(end - start, look) for end, look in looks], styles))
            if inspected is not None:
                runs = _inspect(runs, (inspected[0] - start, inspected[1] - start), palette.inspected)
                bar = Segment(_INSPECTED_BAR, palette.label)
        segments, cells = _segments(text, runs, width)
    if selected is not None:
        segments = list(_select(segments, selected, palette.selected))
    if line.first and turn.speaker is Speaker.USER and cells + len(_USER_LABEL) < width:
        segments.append(Segment(" " * (width - cells - len(_USER_LABEL)), ordinary))
        segments.append(Segment(_USER_LABEL, palette.label))
    elif cells < width:
        segments.append(Segment(" " * (width - cells), ordinary))
    return Strip(joined([bar, *segments]), BAR_CELLS + max(width, cells))


def _folded(words: str, tail: str, width: int, style: Style, inspected: Style | None) -> tuple[list[Segment], int]:
    """Say in one row what a turn holds, and its newest text where there is room for it."""
    said = (words + _UNFOLDS if len(words) + len(_UNFOLDS) <= width else words)[:width]
    segments = [Segment(said, inspected or style)]
    cells = len(said)
    room = width - cells - 2
    if tail and room >= _SHORTEST_TAIL:
        newest, used = _end_of(tail, room)
        segments.append(Segment("  " + newest, style))
        cells += 2 + used
    return segments, cells


def _end_of(text: str, width: int) -> tuple[str, int]:
    """Return the end of a line that fits in ``width`` cells, and how many it takes; … stands for what is left out."""
    pieces = [(part, cells) for part, cells, _ in _pieces(text[-_TAIL_CHARACTERS:], None)]
    used = sum(cells for _, cells in pieces)
    if used <= width:
        return "".join(part for part, _ in pieces), used
    first = 0
    while used > width - 1:
        used -= pieces[first][1]
        first += 1
    return "…" + "".join(part for part, _ in pieces[first:]), used + 1


def _inked(text: str, looks: Iterable[tuple[int, int]], styles: Sequence[Style]) -> Iterator[tuple[int, Style]]:
    """Yield (end, style) along a line. Spaces are not tinted: a line under them would run from word to word."""
    start = 0
    for end, look in looks:
        if look % DISTURBED_LOOK:
            for spaces in _SPACES.finditer(text, start, end):
                if spaces.start() > start:
                    yield spaces.start(), styles[look]
                yield spaces.end(), styles[0]
                start = spaces.end()
        if end > start:
            yield end, styles[look]
        start = max(start, end)


def _inspect(runs: Sequence[tuple[int, Style]], span: tuple[int, int], style: Style) -> list[tuple[int, Style]]:
    """Restyle the characters ``span`` of a line."""
    result: list[tuple[int, Style]] = []
    start = 0
    for end, own in runs:
        first, last = (min(max(edge, start), end) for edge in span)
        for stop, look in ((first, own), (last, style), (end, own)):
            if stop > start:
                result.append((stop, look))
                start = stop
    return result


def joined(segments: Sequence[Segment]) -> list[Segment]:
    """Make one segment of neighbours in one style: each costs a style sequence."""
    result: list[Segment] = []
    for segment in segments:
        if result and result[-1].style == segment.style:
            result[-1] = Segment(result[-1].text + segment.text, segment.style)
        else:
            result.append(segment)
    return result


def _segments(text: str, runs: Sequence[tuple[int, Style]], width: int) -> tuple[list[Segment], int]:
    """Style the text by its runs; a cluster takes the style of its first character."""
    segments: list[Segment] = []
    if is_simple(text):
        text = text[:width]
        start = 0
        for end, style in runs:
            if start < len(text) and end > start:
                segments.append(Segment(text[start:end], style))
            start = end
        return segments, len(text)
    column = run = 0
    parts: list[str] = []
    for part, cells, offset in _pieces(text, width):
        while offset >= runs[run][0]:
            if parts:
                segments.append(Segment("".join(parts), runs[run][1]))
                parts.clear()
            run += 1
        parts.append(part)
        column += cells
    if parts:
        segments.append(Segment("".join(parts), runs[run][1]))
    return segments, column


def _pieces(text: str, width: int | None) -> Iterator[tuple[str, int, int]]:
    """Yield (what is drawn, cells, offset) of each cluster, as far as ``width`` cells go."""
    text = visible(text, keep_lines=True)
    column = position = 0
    end = len(text)
    while position < end:
        stop = cluster_end(text, position, end)
        if text[position] == "\t":
            cells = TAB - column % TAB
            if width is not None:
                cells = min(cells, width - column)
            part = " " * cells
        else:
            cells = cluster_width(text, position, stop)
            part = drawn(text, position, stop)
            if width is not None and cells > width:
                part, cells = _TOO_WIDE, 1
        if width is not None and column + cells > width:
            return
        if part:
            yield part, cells, position
        column += cells
        position = stop


def _select(segments: Sequence[Segment], span: tuple[int, int], style: Style) -> Iterator[Segment]:
    """Restyle the characters ``span`` of a line."""
    start, end = span
    position = 0
    for text, own, _ in segments:
        length = len(text)
        first = min(max(start - position, 0), length)
        last = length if end < 0 else min(max(end - position, first), length)
        for part, part_style in (
            (text[:first], own),
            (text[first:last], (own or Style()) + style),
            (text[last:], own),
        ):
            if part:
                yield Segment(part, part_style)
        position += length
