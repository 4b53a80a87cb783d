"""How the paces of ``metrics.pace`` look: one definition for the text, the token table and the legend."""

from dataclasses import dataclass

from ...metrics.pace import THRESHOLDS


@dataclass(frozen=True, slots=True)
class Tint:
    """A class of tokens; told by ``text_style`` as well as by ``color``."""

    name: str
    color: str
    """A theme variable."""
    text_style: str
    mark: str
    """The same in characters."""
    threshold: float
    """At least so many medians."""


TINTS = (
    Tint("slow", "$text-warning", "underline", "!", THRESHOLDS[0]),
    Tint("slower", "$text-warning", "bold underline", "!!", THRESHOLDS[1]),
    Tint("slowest", "$text-error", "bold reverse", "!!!", THRESHOLDS[2]),
)
"""Tints 1, 2 and 3; 0 is ordinary text."""


def tint_css(prefix: str) -> str:
    """Return CSS rules for the component classes ``prefix--slow`` and so on, to stand inside a widget's rule."""
    return "\n".join(
        f"& > .{prefix}--{tint.name} {{ color: {tint.color}; text-style: {tint.text_style}; }}" for tint in TINTS
    )
