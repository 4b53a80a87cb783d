"""The ways to a clipboard, and what each reports.

A tool of the system and tmux report whether they took a text. A terminal, which gets it in an escape sequence (OSC 52),
never does. tmux and GNU screen do not pass such sequences on unless they are configured to; in a page the browser
decides.
"""

import os
import shutil
import subprocess
import sys

from .in_browser import in_browser

_TOOL_SECONDS = 2.0
_OVER_SSH = ("SSH_CONNECTION", "SSH_CLIENT", "SSH_TTY")
_DISPLAY_TOOLS = (
    ("WAYLAND_DISPLAY", ("wl-copy", "--type", "text/plain")),
    ("DISPLAY", ("xclip", "-selection", "clipboard")),
    ("DISPLAY", ("xsel", "--clipboard", "--input")),
)
"""The variable that names a display, and the command that copies there."""
_TMUX = (("tmux", "load-buffer", "-w", "-"), ("tmux", "load-buffer", "-"))
"""With the first, tmux passes the text on to the terminal; versions before 3.2 cannot."""
CLIPBOARD, TMUX_BUFFER = "the clipboard", "tmux's buffer"


def put(text: str) -> list[str]:
    """Hand a text to the tools that report whether they took it; return where it is: ``CLIPBOARD``, ``TMUX_BUFFER``.

    Waits for other programs, for a few seconds at most: do not call it from the thread that draws.
    """
    if in_browser():
        return []  # its reader sits elsewhere
    data = text.encode("utf-8", "replace")
    taken = []
    if any(_takes(command, data) for command in _system_tools()):
        taken.append(CLIPBOARD)
    if os.environ.get("TMUX") and any(_takes(command, data) for command in _TMUX):
        taken.append(TMUX_BUFFER)
    return taken


def outcome(what: str, taken: list[str]) -> str:
    """Say where ``what`` went after ``put`` returned ``taken``; if that is empty, the terminal has it."""
    if taken:
        told = f"Copied {what} to {' and '.join(taken)}."
        if CLIPBOARD in taken:
            return told
        return f"{told} tmux passed it on to the terminal, which does not report whether it took it."
    if in_browser():
        return f"Sent {what} to the page. Your browser decides whether a page may use the clipboard."
    told = f"Sent {what} to the terminal"
    if os.environ.get("TMUX"):
        return f"{told}. tmux passes it on only with `set -s set-clipboard on`."
    if os.environ.get("STY"):
        return f"{told}. GNU screen does not pass it on."
    return f"{told}, which does not report whether it reached the clipboard."


def _system_tools() -> list[tuple[str, ...]]:
    if any(os.environ.get(name) for name in _OVER_SSH):
        return []  # the display, if any, is not the one that is looked at
    if sys.platform == "darwin":
        return [("pbcopy",)]
    return [command for display, command in _DISPLAY_TOOLS if os.environ.get(display) and shutil.which(command[0])]


def _takes(command: tuple[str, ...], data: bytes) -> bool:
    try:
        # These tools stay in the background with what they were given: a pipe from them would never end, and a group of
        # their own outlives the terminal.
        done = subprocess.run(
            command,
            input=data,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=_TOOL_SECONDS,
            check=False,
            start_new_session=True,
            env={**os.environ, "LC_CTYPE": "UTF-8"} if command[0] == "pbcopy" else None,
        )
    except (OSError, subprocess.TimeoutExpired):
        return False  # not there, or it does not answer: the next way is tried
    return done.returncode == 0
