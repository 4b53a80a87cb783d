"""The entry point. What it imports is small, so that Ctrl+C ends the program quietly from its first moment on."""

import os
import signal
import sys
from types import FrameType

from .exit_codes import ExitCode


def main(arguments: "list[str] | None" = None) -> None:
    """Run the command and exit with its status (see ``ExitCode``).

    Until a command listens for Ctrl+C itself, it ends the process at once: a KeyboardInterrupt would come out of
    half-done imports.
    """
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _end_at_once)
    from .group import run

    sys.exit(run(arguments))


def _end_at_once(number: int, frame: FrameType | None) -> None:
    os._exit(ExitCode.CANCELLED)
