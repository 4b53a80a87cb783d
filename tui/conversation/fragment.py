"""What the conversation is given to draw."""

from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class Fragment:
    """Text that one token made readable."""

    index: int
    """The token's index, from 1."""
    text: str
    marks: int
    """What the lenses know of the token, as ``marks`` packs it; 0 ordinary."""
    thinking: bool = False


def without_leading_breaks(fragments: list[Fragment]) -> list[Fragment]:
    """Leave line breaks out up to the first text."""
    for place, fragment in enumerate(fragments):
        if text := fragment.text.lstrip("\r\n"):
            return [replace(fragment, text=text), *fragments[place + 1 :]]
    return []
