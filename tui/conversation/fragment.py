"""What the conversation is given to draw."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ...backends.text import Piece
from ...backends.token_facts import Kind


@dataclass(frozen=True, slots=True)
class Fragment:
    """Text that one token made readable."""

    index: int
    """The token's index, from 1."""
    text: str
    marks: int
    """What the lenses know of the token, as ``marks`` packs it; 0 ordinary."""
    kind: Kind = "answer"
    name: str = ""
    """The name of a channel."""


def marked(pieces: Sequence[Piece], marks: Sequence[int], first: int = 0) -> list[Fragment]:
    """Return pieces to be drawn: ``marks[0]`` belongs to the token at ``first`` (from 0); others are ordinary."""
    fragments = []
    for one in pieces:
        at = one.index - 1 - first
        mark = marks[at] if 0 <= at < len(marks) else 0
        fragments.append(Fragment(one.index, one.text, mark, one.kind, one.name))
    return fragments


def without_leading_breaks(fragments: list[Fragment]) -> list[Fragment]:
    """Leave line breaks out up to the first text."""
    for place, fragment in enumerate(fragments):
        if text := fragment.text.lstrip("\r\n"):
            return [replace(fragment, text=text), *fragments[place + 1 :]]
    return []
