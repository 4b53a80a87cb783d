"""What the conversation is given to draw."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Fragment:
    """Text that one token made readable."""

    index: int
    """The token's index, from 1."""
    text: str
    marks: int
    """What the lenses know of the token, as ``marks`` packs it; 0 ordinary."""
    thinking: bool = False
