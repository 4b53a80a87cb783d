"""A recording in the form that was asked for, and where it goes."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..models.user_folders import expanded
from ..traces.errors import TraceError
from .failure import failure_text
from .moving_line import MovingLine
from .reading import read_recording
from .streams import Messages, print_data

if TYPE_CHECKING:
    from ..traces.exports.subject import Export
    from ..traces.opened import Opened
    from ..traces.reader import Trace


class Form(Enum):
    """What a recording can be exported to."""

    CSV = "csv"
    JSON = "json"
    PERFETTO = "perfetto"
    HTML = "html"
    SVG = "svg"
    CAST = "cast"
    MD = "md"

    @property
    def drawn(self) -> bool:
        """Whether the screen makes it."""
        return self in (Form.SVG, Form.CAST)


def recorded(path: Path, messages: Messages) -> "Trace":
    """Return what is to be exported; what is wrong with the file is said.

    Raises click.UsageError when it is of no use.
    """
    try:
        trace = read_recording(path, messages)
    except TraceError as error:
        raise _refused(error) from error
    for note in trace.notes:
        messages.say(f"{path.name}: {note}")
    return trace


def exported(trace: "Trace", number: int | None) -> "Export":
    """Return all answers of a recording of one engine at a time, or that with ``number``. Raises click.UsageError."""
    from ..traces.exports.subject import export_of

    try:
        return export_of(trace, number)
    except TraceError as error:
        raise _refused(error) from error


def text_of(export: "Export", form: Form, messages: Messages) -> str:
    """Return the recording in a form that needs no screen."""
    with _said(messages, f"making the {form.value}"):
        return _writer(form)(export)


def _refused(error: TraceError) -> click.UsageError:
    return click.UsageError(failure_text(error.what, error.reason, error.remedy))


def _writer(form: Form) -> Callable[["Export"], str]:
    match form:
        case Form.CSV:
            from ..traces.exports.table import as_csv

            return as_csv
        case Form.JSON:
            from ..traces.exports.summary import as_json

            return as_json
        case Form.PERFETTO:
            from ..traces.exports.timeline import as_perfetto

            return as_perfetto
        case Form.HTML:
            from ..traces.exports.page import as_html

            return as_html
        case Form.MD:
            from ..traces.exports.report import as_markdown

            return as_markdown
        case Form.SVG | Form.CAST:
            raise ValueError(f"{form.value} is drawn")


def drawn(export: "Export", form: Form, name: str, size: tuple[int, int], theme: str | None, messages: Messages) -> str:
    """Return the recording as a picture of its replay or a film of the scope; ``name``: of its file."""
    if form is Form.SVG:
        return pictured(_opened(export, Path(name)), size, theme, messages)
    from ..tui.film import film

    with _said(messages, "drawing") as line:
        from ..traces.exports.played import as_cast, played
        from ..traces.memory import bandwidth_at

        events = played(export)
        frames = film(
            events,
            name,
            size,
            theme,
            lambda share: line.draw(f"film {line.bar(share)} {share:.0%}"),
            lambda threads: bandwidth_at(export.memory, threads),
        )
        return as_cast(frames, events, size, name, export.header)


def pictured(opened: "Opened", size: tuple[int, int], theme: str | None, messages: Messages) -> str:
    """Return the screen at the end of a replay."""
    from ..tui.film import picture

    with _said(messages, "drawing"):
        return picture(opened, size, theme) + "\n"


def _opened(export: "Export", path: Path) -> "Opened":
    """Return what is replayed: its last answer, or the one that was asked for."""
    from ..traces.generations import takes
    from ..traces.opened import Opened
    from ..traces.reader import Trace

    found = tuple(takes(export.events))
    return Opened(
        path, Trace(export.header, export.events, (), memory=export.memory), found, export.subjects[-1].number - 1
    )


@contextmanager
def _said(messages: Messages, what: str) -> Iterator[MovingLine]:
    """Say on a moving line what is going on."""
    line = MovingLine(messages)
    line.draw(what)
    try:
        yield line
    finally:
        line.clear()


def deliver(text: str, output: str, source: Path, messages: Messages, *, overwrite: bool) -> None:
    """Write ``text`` to stdout (``-``) or to a file.

    Raises click.UsageError for a file that cannot be had, click.ClickException for one that cannot be written to its
    end; what was begun is taken away again.
    """
    if output == "-":
        print_data(text)
        return
    from ..traces.new_file import open_new

    path = expanded(output)
    if path.exists() and path.samefile(source):
        raise click.UsageError(f"{output} is the recording itself.")
    try:
        descriptor = open_new(path, overwrite=overwrite, refusal=f"{path} cannot be written.")
    except TraceError as error:
        raise _refused(error) from error
    try:
        with open(descriptor, "wb") as file:
            file.write(text.encode())
    except BaseException as error:  # an interrupt as well
        if path.is_file():
            path.unlink(missing_ok=True)
        if not isinstance(error, OSError):
            raise
        raise click.ClickException(failure_text(f"{path} cannot be written.", error.strerror or str(error))) from error
    messages.say(f"Written to {path}")
