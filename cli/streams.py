"""Stdout, which is data, and stderr, which is everything else."""

import io
import os
import sys
from collections.abc import Callable
from typing import TextIO

import click

from ..backends.text import visible
from .exit_codes import ExitCode


def descriptor(stream: TextIO | None) -> int | None:
    """Return the descriptor behind ``stream``; ``None`` when it is closed or is no file of the system's."""
    if stream is None:
        return None
    try:
        return stream.fileno()
    except (io.UnsupportedOperation, ValueError):
        return None


def is_terminal(stream: TextIO | None) -> bool:
    """Whether ``stream`` is open and a terminal."""
    return stream is not None and not stream.closed and stream.isatty()


def data_width() -> int | None:
    """Return the width in cells of the terminal that stdout is; ``None`` for a pipe or a file, where nothing is cut."""
    if not is_terminal(sys.stdout):
        return None
    try:
        return os.get_terminal_size(sys.stdout.fileno()).columns or 80
    except OSError:
        return 80


class Data:
    """Stdout.

    To a terminal text goes sanitised and in its encoding, to a pipe or a file as it is and as UTF-8. ``write`` and
    ``flush`` raise OSError when it cannot be written (BrokenPipeError: nobody reads any more). Raises
    click.ClickException when stdout is closed.
    """

    def __init__(self) -> None:
        if sys.stdout is None:
            raise click.ClickException("Standard output is closed.")
        self._stream = sys.stdout
        self.terminal = is_terminal(sys.stdout)
        self.descriptor = descriptor(sys.stdout)

    def write(self, text: str) -> None:
        """Write text of unknown origin."""
        if self.terminal:
            encoding = self._stream.encoding
            self._stream.buffer.write(visible(text, keep_lines=True).encode(encoding, "replace"))
        else:
            self._stream.buffer.write(text.encode())

    def flush(self) -> None:
        """Hand over what has been written."""
        self._stream.buffer.flush()

    def abandon(self) -> None:
        """Drop what could not be written, so that the interpreter does not try again when it ends."""
        if self.descriptor is not None:
            to_nowhere(self.descriptor)


def print_data(text: str) -> None:
    """Write ``text`` to stdout. Raises click.ClickException when it cannot be, BrokenPipeError when nobody reads."""
    data = Data()
    try:
        data.write(text)
        data.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        data.abandon()
        raise click.ClickException(not_written(error)) from error


def not_written(error: OSError) -> str:
    """Say why stdout could not be written."""
    return f"Standard output cannot be written: {error.strerror or error}."


class Messages:
    """Stderr. A message that cannot be written is dropped: there is nowhere left to say so."""

    def __init__(self) -> None:
        self._stream = sys.stderr
        self.terminal = is_terminal(sys.stderr)
        self.descriptor = descriptor(sys.stderr)

    def say(self, text: str) -> None:
        """Write one or more whole lines of unknown origin."""
        self._write(visible(text, keep_lines=True) + "\n")

    def write(self, text: str) -> None:
        """Write part of a line, or lines, of unknown origin."""
        self._write(visible(text, keep_lines=True))

    def draw(self, control: str) -> None:
        """Write text with terminal control sequences of our own."""
        self._write(control)

    def can_show(self, text: str) -> bool:
        """Whether the stream's encoding has all characters of ``text``."""
        try:
            text.encode(self._stream.encoding)
        except (UnicodeEncodeError, AttributeError):
            return False
        return True

    def _write(self, text: str) -> None:
        if self._stream is None:
            return
        encoding = self._stream.encoding
        try:
            self._stream.write(text.encode(encoding, "replace").decode(encoding))
            self._stream.flush()
        except (OSError, ValueError):
            self._stream = None
            if self.descriptor is not None:
                to_nowhere(self.descriptor)


def delivered(data: Data, messages: Messages, write: Callable[[], None]) -> ExitCode:
    """Call ``write``, which writes to ``data``.

    Returns DONE, or the exit status for a stdout that did not take all of it; that is said, unless nobody reads it any
    more.
    """
    try:
        write()
    except BrokenPipeError:
        data.abandon()
        return ExitCode.NOBODY_READS
    except OSError as error:
        data.abandon()
        messages.say(not_written(error))
        return ExitCode.FAILED
    return ExitCode.DONE


def to_nowhere(number: int) -> None:
    """Point a descriptor at the null device."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, number)
    os.close(nowhere)
