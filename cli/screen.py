"""What the commands with a screen share: its flags, and whether there can be one."""

import os
import sys
from collections.abc import Callable
from typing import Any, TypeVar

import click

from ..models.suggestions import did_you_mean, nearest
from .flag_types import WholeRange
from .settings import refused, setting
from .streams import is_terminal

_Command = TypeVar("_Command", bound=Callable[..., Any])

_theme = setting("--theme", metavar="NAME", help="Colours of the screen: one of Textual's themes.")
_fps = setting(
    "--fps",
    type=WholeRange(1, 30),
    metavar="N",
    help="Draw new text N times a second at most, 1 to 30; default: about 9.",
)
_low_bandwidth = setting(
    "--low-bandwidth/--no-low-bandwidth",
    show_default=False,
    help="Draw less often and send less to the terminal, with all the figures. Over SSH the screen changes to it by "
    "itself when the first frames are taken slowly, unless --fps is given.",
)


def screen_options(command: _Command) -> _Command:
    """Add the flags ``theme``, ``fps`` and ``low_bandwidth`` to a command."""
    return _theme(_fps(_low_bandwidth(command)))


def obstacle() -> str | None:
    """Return why there can be no screen, if so."""
    from ..tui.in_browser import in_browser

    if in_browser():
        return None
    if not is_terminal(sys.stdout):
        return "standard output is not a terminal"
    if os.environ.get("TERM", "dumb") in ("", "dumb", "unknown"):
        return "this terminal cannot be drawn on (TERM)"
    return None


def check_theme(theme: str | None) -> None:
    """Raise click.BadParameter for a theme that there is not; of the command that runs.

    Not a type of the flag: only a command that may have a screen loads Textual.
    """
    if theme is None:
        return
    from textual.theme import BUILTIN_THEMES

    if theme not in BUILTIN_THEMES:
        ctx = click.get_current_context()
        meant = did_you_mean(nearest(theme, BUILTIN_THEMES)) or f"Themes: {', '.join(BUILTIN_THEMES)}."
        raise refused(ctx, "theme", f"there is no theme {theme!r}. {meant}")
