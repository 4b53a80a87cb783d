"""What the conversation is given to draw."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Fragment:
    """Text that one token made readable."""

    index: int
    """The token's index, from 1."""
    text: str
    tint: int
    """0 ordinary; 1, 2, 3 as ``metrics.pace.Pace``."""
    thinking: bool = False
