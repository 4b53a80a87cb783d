"""The flags that keep what is seen, for every command that generates."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from ..traces.recording import Recording

_Command = TypeVar("_Command", bound=Callable[..., Any])

_OPTIONS: tuple[Callable[[Any], Any], ...] = (
    click.option(
        "--record",
        metavar="FILE",
        help="Record everything as it happens, as JSON Lines; compressed when the name ends in .gz or .zst.",
    ),
    click.option(
        "--no-text",
        is_flag=True,
        help="Leave prompt and answer out of what is recorded and keep the timings, for sharing.",
    ),
    click.option("--overwrite", is_flag=True, help="Let --record replace a file that is there already."),
)


def recording_options(command: _Command) -> _Command:
    """Add the flags to a command; its keyword arguments ``record``, ``no_text`` and ``overwrite`` go to
    ``open_recording``."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def open_recording(
    record: str | None, settings: dict[str, Any], *, no_text: bool, overwrite: bool
) -> "Recording | None":
    """Return the recording that the flags ask for, its file open and begun; ``None``: none is.

    ``settings``: as ``GenerationOptions.described``. Raises click.UsageError for a file that cannot be had.
    """
    if record is None:
        if overwrite:
            raise click.UsageError("--overwrite goes with --record FILE.")
        return None
    if record in ("", "-"):
        raise click.UsageError("--record needs the name of a file; run --jsonl prints every event.")
    import os
    from pathlib import Path

    from ..traces.errors import TraceError
    from ..traces.recording import Recording
    from ..traces.writer import TraceWriter
    from .failure import failure_text

    try:
        writer = TraceWriter(Path(os.path.expanduser(record)), overwrite=overwrite)
    except TraceError as error:
        raise click.UsageError(failure_text(error.what, error.reason, error.remedy)) from error
    return Recording(writer, settings, text=not no_text)
