"""How tokens that depart from the ordinary look: one definition for the text, the token table and the legend."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Tint:
    """A degree of departure; told by ``text_style`` as well as by ``color``."""

    name: str
    color: str
    """A theme variable."""
    text_style: str
    mark: str
    """The same in characters."""


TINTS = (
    Tint("mild", "$text-warning", "underline", "!"),
    Tint("strong", "$text-warning", "bold underline", "!!"),
    Tint("extreme", "$text-error", "bold reverse", "!!!"),
)
"""Degrees 1, 2 and 3; 0 is ordinary text."""

DISTURBED_STYLE = "italic"
"""Beside its tint, of a token whose time is known to have been lost."""


def tint_css(prefix: str) -> str:
    """Return CSS rules for the component classes ``prefix--mild`` and so on, to stand inside a widget's rule."""
    return "\n".join(
        f"& > .{prefix}--{tint.name} {{ color: {tint.color}; text-style: {tint.text_style}; }}" for tint in TINTS
    )
