"""Styles as the parameters of SGR sequences."""

from functools import cache

import msgspec
from rich.console import Console
from rich.style import Style

INVISIBLE_ON_SPACES = frozenset({"", "1", "2", "3", "1;2", "1;3", "2;3", "1;2;3"})
"""Bold, dim and italic."""


class Pen(msgspec.Struct, frozen=True, eq=False):
    """A style as the parameters of SGR sequences. Pens that look the same are one object."""

    attributes: str
    foreground: str
    background: str

    @property
    def parameters(self) -> str:
        """All parameters."""
        return ";".join(part for part in (self.attributes, self.foreground, self.background) if part)


@cache
def pen(attributes: str, foreground: str, background: str) -> Pen:
    """Return the one pen of these parameters."""
    return Pen(attributes, foreground, background)


@cache
def blank(of: Pen) -> Pen:
    """Return the pen for spaces, without the parameters that do not show on them."""
    if of.attributes in INVISIBLE_ON_SPACES:
        return pen("", "", of.background)
    return of


def rendered(style: Style, console: Console) -> Pen:
    """Return the pen of a style, in as many colours as ``console`` has."""
    system = console._color_system
    if system is None:
        from rich.color import ColorSystem

        system = ColorSystem.TRUECOLOR
    plain = style.without_color.render("x", color_system=system)
    attributes = plain[2 : plain.index("m")] if plain.startswith("\x1b[") else ""
    foreground = "" if style.color is None else ";".join(style.color.downgrade(system).get_ansi_codes())
    background = (
        "" if style.bgcolor is None else ";".join(style.bgcolor.downgrade(system).get_ansi_codes(foreground=False))
    )
    return pen(attributes, foreground, background)
