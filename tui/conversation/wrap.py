"""Where lines break.

Breaks depend only on the text from the last break on, so a line that is followed by another never changes when text is
appended: wrapping can go on from the start of the last line.
"""

from ...backends.text import visible
from .graphemes import cluster_end, cluster_width, has_clusters, is_simple, width_of

TAB = 4
"""Columns between tab stops."""

_NO_BREAK_BEFORE = frozenset(
    "!%),.:;?]}¢°·’”‰′″›℃、。〃〉》」』】〕〗〙〟！％），．：；？］｝～"
    "ぁぃぅぇぉっゃゅょゎァィゥェォッャュョヮヵヶ・ーヽヾゝゞ々"
)
_NO_BREAK_AFTER = frozenset("([{‘“‹〈《「『【〔〖〘〝（［｛")


def wrap(text: str, start: int, width: int) -> list[int]:
    """Return where each line of ``text`` from ``start`` on begins; ``start`` must be where a line begins.

    A line holds up to ``width`` cells. Spaces at its end hang over the edge; a word longer than a line breaks anywhere;
    wide characters are words of their own. A line break at the very end begins an empty line.
    """
    starts: list[int] = []
    while True:
        newline = text.find("\n", start)
        end = len(text) if newline < 0 else newline
        # The carriage return of CR LF; at the end of the text the line feed may still come.
        if end > start and text[end - 1] == "\r":
            end -= 1
        if is_simple(text, start, end):
            _wrap_simple(text, start, end, width, starts)
        else:
            first = len(starts)
            _wrap_clusters(visible(text[start:end], keep_lines=True), width, starts)
            starts[first:] = [position + start for position in starts[first:]]
        if newline < 0:
            return starts
        start = newline + 1


def _wrap_simple(text: str, start: int, end: int, width: int, starts: list[int]) -> None:
    """Wrap one hard line in which every character is a cell; breaks where ``_wrap_clusters`` would."""
    starts.append(start)
    while end - start > width:
        edge = start + width
        if text[edge] == " ":
            while edge < end and text[edge] == " ":
                edge += 1
            if edge == end:
                return
            start = edge
        else:
            space = text.rfind(" ", start, edge)
            start = edge if space < 0 or not text[start:space].strip(" ") else space + 1
        starts.append(start)


def _wrap_clusters(text: str, width: int, starts: list[int]) -> None:
    """Wrap one hard line of any text."""
    end = len(text)
    clustered = has_clusters(text)
    starts.append(0)
    position = column = 0
    chance = -1  # the last place in this line where it may break
    inked = False  # indentation alone is no place to break after
    before = ""
    while position < end:
        character = text[position]
        stop = cluster_end(text, position, end) if clustered else position + 1
        if character == "\t" or (character == " " and stop == position + 1):
            column += 1 if character == " " else TAB - column % TAB
            position, before = stop, character
            continue
        cells = cluster_width(text, position, stop) if clustered else width_of[character]
        if inked and (
            before in " \t"
            or (
                (width_of[character] == 2 or width_of[before] == 2)
                and character not in _NO_BREAK_BEFORE
                and before not in _NO_BREAK_AFTER
            )
        ):
            chance = position
        if column + cells > width and column:
            if chance > 0:
                position = chance
            starts.append(position)
            column, chance, inked, before = 0, -1, False, ""
            continue
        column += cells
        inked = True
        position, before = stop, character
