"""The flags that keep what is seen, for every command that generates."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from ..traces.versions import ONE_ENGINE
from .exit_codes import ExitCode
from .streams import Messages

if TYPE_CHECKING:
    from ..traces.recording import Recording
    from ..traces.tape import SessionTape

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


def check_recording(record: str | None, *, overwrite: bool) -> None:
    """Raise click.UsageError for flags that ask for no file."""
    if record is None and overwrite:
        raise click.UsageError("--overwrite goes with --record FILE.")
    if record in ("", "-"):
        raise click.UsageError("--record needs the name of a file; run --jsonl prints every event.")


def closed(tape: "SessionTape", messages: Messages, status: int) -> int:
    """Close a session's tape, say what went wrong with its recording, and return the exit status; ``status``: that of
    the session."""
    tape.close()
    if (news := tape.news()) is not None:
        messages.say(news)
    return ExitCode.FAILED if tape.broken and status == ExitCode.DONE else status


def open_recording(
    record: str | None, settings: dict[str, Any], *, no_text: bool, overwrite: bool, format: int = ONE_ENGINE
) -> "Recording | None":
    """Return the recording that the flags ask for, its file open and begun; ``None``: none is.

    ``settings``: as ``GenerationOptions.described``. Raises click.UsageError for a file that cannot be had.
    """
    check_recording(record, overwrite=overwrite)
    if record is None:
        return None
    from ..models.user_folders import expanded
    from ..traces.errors import TraceError
    from ..traces.recording import Recording
    from ..traces.writer import TraceWriter
    from .failure import failure_text

    try:
        writer = TraceWriter(expanded(record), overwrite=overwrite)
    except TraceError as error:
        raise click.UsageError(failure_text(error.what, error.reason, error.remedy)) from error
    return Recording(writer, settings, text=not no_text, format=format)
