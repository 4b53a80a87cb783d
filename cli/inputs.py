"""Reading what a command line names: files, pipes such as a shell's ``<(command)``, and ``-``."""

import os
import stat
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

import click

from ..metrics import numbers
from ..models.user_folders import expanded
from .streams import Messages

_PATIENCE_SECONDS = 1.0


def read_file(name: str, messages: Messages, *, what: str, awaited: str, limit: int) -> bytes:
    """Read a file or a pipe to its end; at most ``limit`` bytes.

    ``what`` names it in front of ``name`` and is empty or ends in a space; ``awaited`` names what a pipe is to give.
    Raises click.UsageError when it cannot be read, is a device or is too long.
    """
    try:
        mode = os.stat(name).st_mode
        if stat.S_ISCHR(mode) or stat.S_ISBLK(mode):
            raise click.UsageError(f"{what}{name} is a device, not a file.")
        with said_wait(awaited, name, messages), open(name, "rb") as file:
            return read_to_end(file, f"{what}{name}", limit)
    except (OSError, ValueError) as error:  # ValueError: a null character in the name
        reason = error.strerror if isinstance(error, OSError) else None
        raise click.UsageError(f"{what}{name} cannot be read: {reason or error}.") from error


def read_to_end(file: BinaryIO, what: str, limit: int) -> bytes:
    """Read to the end. Raises click.UsageError when that is beyond the limit."""
    data = file.read(limit + 1)
    if len(data) > limit:
        raise click.UsageError(f"{what} is longer than {numbers.size(limit)}, which is the limit.")
    return data


def recording_path(name: str) -> Path:
    """Return where a recording is; ``-`` is standard input. Raises click.UsageError when that is a terminal."""
    if name != "-":
        return expanded(name)
    if sys.stdin is None or sys.stdin.closed or sys.stdin.isatty():
        raise click.UsageError("- reads standard input, and there is none, or it is a terminal. A file: ./-")
    return Path("/dev/stdin")


@contextmanager
def said_wait_for_pipe(awaited: str, path: Path, messages: Messages) -> Iterator[None]:
    """Like ``said_wait`` where ``path`` is a pipe: a file is never waited for, however long it is."""
    if not path.is_fifo():
        yield
        return
    with said_wait(awaited, str(path), messages):
        yield


@contextmanager
def said_wait(awaited: str, source: str, messages: Messages) -> Iterator[None]:
    """Say what is waited for when it takes long: a pipe that nobody writes to looks like a program that hangs."""
    timer = threading.Timer(_PATIENCE_SECONDS, messages.say, [f"Waiting for {awaited} from {source}."])
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
