"""From a laid out line to the cells on the screen."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from ...backends.text import visible
from .graphemes import cluster_end, cluster_width, drawn, is_simple
from .layout import Line
from .turns import Speaker
from .wrap import TAB

BAR_CELLS = 2
"""Cells to the left of all text."""

_BARS = {Speaker.USER: "▌ ", Speaker.MODEL: "  ", Speaker.NOTE: "  "}
_THINKING_BAR = "┊ "
_USER_LABEL = "you"
_TOO_WIDE = "▯"
"""Stands for a wide character where there is one cell."""


@dataclass(frozen=True, slots=True)
class Palette:
    """The styles in use, looked up again whenever the theme changes."""

    speakers: Mapping[Speaker, Style]
    answer: Sequence[Style]
    """By style number: tint, plus ``THINKING``."""
    bars: Mapping[Speaker, Style]
    thinking_bar: Style
    label: Style
    selected: Style


def plain_text(line: Line) -> str:
    """Return the characters of a line as they are drawn, the hanging spaces at its end included."""
    return "".join(text for text, _, _ in _pieces(line.block.text[line.start : line.end], None))


def paint(line: Line, width: int, palette: Palette, selected: tuple[int, int] | None) -> Strip:
    """Return a line as ``BAR_CELLS`` of bar and ``width`` cells of text.

    ``selected``: the span of drawn characters that is selected; an end of -1 is the end of the line.
    """
    block, turn = line.block, line.block.turn
    text = block.text[line.start : line.end]
    ordinary = palette.speakers[turn.speaker]
    bar = Segment(_BARS[turn.speaker], palette.bars[turn.speaker])
    runs = [(len(text), ordinary)]
    if turn.speaker is Speaker.MODEL:
        start = block.offset + line.start
        runs = [(end - start, palette.answer[style]) for end, style in turn.runs(start, start + len(text))]
        if turn.is_thinking(start):
            bar = Segment(_THINKING_BAR, palette.thinking_bar)
    segments, cells = _segments(text, runs, width)
    if selected is not None:
        segments = list(_select(segments, selected, palette.selected))
    if line.first and turn.speaker is Speaker.USER and cells + len(_USER_LABEL) < width:
        segments.append(Segment(" " * (width - cells - len(_USER_LABEL)), ordinary))
        segments.append(Segment(_USER_LABEL, palette.label))
    elif cells < width:
        segments.append(Segment(" " * (width - cells), ordinary))
    return Strip(joined([bar, *segments]), BAR_CELLS + max(width, cells))


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
