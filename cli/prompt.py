"""Where the prompt comes from: the argument, ``-p``, ``-f FILE``, a pipe."""

import codecs
import sys
from typing import BinaryIO

import click

from .inputs import read_file, read_to_end, said_wait
from .options import valid_text
from .streams import Messages

_LIMIT = 16 * 2**20
"""Bytes; several times what the largest contexts hold."""


def read_prompt(argument: str | None, option: str | None, file: str | None, messages: Messages) -> str | None:
    """Return the prompt; ``None`` when nothing gives one.

    A file's or a pipe's text follows a prompt that is given in words, after a blank line. Stdin is read when it is
    not a terminal and no file is named, or for ``-f -``. Raises click.UsageError when the prompt is given twice,
    cannot be read, is too long or is empty.
    """
    if argument is not None and option is not None:
        raise click.UsageError("The prompt is given twice: as an argument and with -p.")
    words = argument if option is None else option
    parts = [] if words is None else [valid_text(words)]
    if file is not None and file != "-":
        parts.append(_text(_read_file(file, messages), file, messages))
    else:
        piped = _piped_stdin()
        if piped is not None:
            parts.append(_text(_read_stdin(piped, messages), "standard input", messages))
        elif file == "-":
            raise click.UsageError("-f - reads standard input, which is a terminal here.")
    if not parts:
        return None
    prompt = "\n\n".join(part for part in parts if part)
    if not prompt.strip():
        raise click.UsageError("The prompt is empty.")
    return prompt


def read_text(name: str, messages: Messages) -> str:
    """Return the text of a file. Raises click.UsageError when it cannot be read, is too long or is empty."""
    text = _text(_read_file(name, messages, "The text"), name, messages)
    if not text.strip():
        raise click.UsageError(f"The file {name} is empty.")
    return text


def _read_file(name: str, messages: Messages, what: str = "The prompt file") -> bytes:
    return read_file(name, messages, what=f"{what} ", awaited="the prompt", limit=_LIMIT)


def _piped_stdin() -> BinaryIO | None:
    """Return stdin unless it is a terminal or closed, or brings the keys from a browser."""
    from ..tui.in_browser import in_browser

    if in_browser():
        return None
    if sys.stdin is None or sys.stdin.closed or sys.stdin.isatty():
        return None
    return sys.stdin.buffer


def _read_stdin(stdin: BinaryIO, messages: Messages) -> bytes:
    try:
        with said_wait("the prompt", "standard input (</dev/null: there is none)", messages):
            return read_to_end(stdin, "The prompt from standard input", _LIMIT)
    except OSError as error:
        raise click.UsageError(f"Standard input cannot be read: {error.strerror or error}.") from error


def _text(data: bytes, source: str, messages: Messages) -> str:
    """Decode UTF-8, without a byte order mark and, as llama.cpp does, without the newline at the end."""
    data = data.removeprefix(codecs.BOM_UTF8)
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        text = data.decode(errors="replace")
        count = text.count("\ufffd") - data.count("\ufffd".encode())
        messages.say(
            f"{source} is not all UTF-8: {count:,} invalid {'piece' if count == 1 else 'pieces'} replaced by \ufffd, "
            f"the first at byte {error.start:,}."
        )
    return text.removesuffix("\n").removesuffix("\r")
