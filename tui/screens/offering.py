"""What a screen of the whole terminal tells the app about itself."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from textual.screen import Screen

from ..keys import Key

if TYPE_CHECKING:
    from textual.app import SystemCommand

    from ..terminal_app import TerminalApp

    class _Base(Screen[Any]):
        app: TerminalApp
else:
    _Base = object


LEAST_SIZE = (40, 10)
"""Columns and lines that suffice for most screens, and for dialogs over them."""


class Offering(_Base):
    """A part of such a screen."""

    def least_size(self) -> tuple[int, int]:
        """Return the columns and lines that the screen needs to show something of every part."""
        return LEAST_SIZE

    def offered_keys(self) -> Iterable[Key]:
        """Return the keys whose actions stand in the command palette."""
        raise NotImplementedError

    def further_commands(self) -> "Iterable[SystemCommand]":
        """Return what stands there besides."""
        return ()

    def interrupt(self) -> bool:
        """Stop what runs, as Ctrl+C asks; return whether something did."""
        raise NotImplementedError

    def frame_goes_out(self) -> None:
        """A frame is about to go to the terminal."""
