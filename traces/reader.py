"""Reading a recording: whatever is whole in a file is given back, and what is not is named."""

import gc
import os
import stat
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, get_args

import msgspec
from msgspec.structs import replace

from ..backends.events import Event, Failed, Finished, RequestTaken, Token
from .compression import Unpacked
from .errors import TraceError
from .header import FORMAT, Header
from .notes import Notes
from .plausible import MOST_NS, plausible

MOST_EVENTS = 2_000_000
"""So that no file can take all of the memory."""
MOST_FOREIGN = 100_000
"""Of lines that are no events, beyond as many as there are events: each takes longer than an event."""
_MOST_LINES = 2 * MOST_EVENTS
"""Empty ones are counted."""
_MOST_BYTES = 4 << 30
_LONGEST_LINE = 64 << 20
_BEGINNING = b'{"event":"trace",'

_ERRORS = (msgspec.MsgspecError, RecursionError)
_KINDS = frozenset(kind.__struct_config__.tag for kind in get_args(Event))


class Trace(msgspec.Struct, frozen=True):
    """What a file holds.

    Several generations, of several models one after another, are told apart by their ``model_ready`` and
    ``request_taken``. Within a generation tokens are numbered from 1 without a gap, and all numbers are in range; times
    may still go back where somebody has edited the file.
    """

    header: Header | None
    """``None``: the lines of ``run --jsonl``, which have none."""
    events: tuple[Event, ...]
    notes: tuple[str, ...]
    """What is not as it should be, in sentences; of unknown origin in part."""


class _Line(msgspec.Struct):
    event: str = ""


class _Format(msgspec.Struct, tag_field="event", tag="trace"):
    """What every version of a header has."""

    format: int
    decodescope: str = ""


def read_trace(path: Path, on_progress: Callable[[float], None] | None = None) -> Trace:
    """Read a file in any of its forms, whatever its name. Raises TraceError when there is nothing in it to be shown.

    ``on_progress`` is called now and then with the share that has been read, 0 to 1; not for a pipe.
    """
    try:
        with path.open("rb", buffering=0) as file, _no_collection():
            found = os.fstat(file.fileno())
            size = found.st_size if stat.S_ISREG(found.st_mode) else 0
            reading = _Reading(path.name)
            if on_progress is not None and size:
                reading.after_block = lambda: on_progress(min(1.0, file.tell() / size))
            return reading.read(file)
    except OSError as error:
        raise TraceError(f"{path} cannot be read.", error.strerror or str(error), "Check the path.") from error


@contextmanager
def _no_collection() -> Iterator[None]:
    """Reading makes many objects and no garbage."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


class _Reading:
    def __init__(self, name: str) -> None:
        self.after_block: Callable[[], None] = lambda: None
        self._name = name
        self._notes = Notes()
        self._decoder = msgspec.json.Decoder(Event)
        self._events: list[Event] = []
        self._line = 0
        """Number of the last line that was taken, from 1."""
        self._foreign_lines = 0
        self._index = 0
        """Of the last token of its generation, and what the file said of it."""
        self._said_index = 0
        self._unfinished = False
        self._latest = -MOST_NS
        self._shift = 0
        """From the clock of this part of the file to that of the first, ns."""

    def read(self, file: BinaryIO) -> Trace:
        unpacked = Unpacked(file)
        chunks = self._chunks(unpacked)
        first, newline, rest = next(chunks, b"").partition(b"\n")
        header = self._header(first, whole=bool(newline))
        self._notes.cut = not newline
        self._take(rest)
        for chunk in chunks:
            self._take(chunk)
        self._say_how_it_ends(unpacked)
        return Trace(header, tuple(self._events), self._notes.sentences())

    def _chunks(self, blocks: Iterable[bytes]) -> Iterator[bytes]:
        """Yield whole lines, many at a time; only what is last may lack its newline."""
        rest = b""
        total = 0
        for block in blocks:
            total += len(block)
            whole, newline, tail = block.rpartition(b"\n")
            if newline:
                yield rest + whole + newline
            rest = tail if newline else rest + tail
            if len(rest) > _LONGEST_LINE and not self._line:
                raise self._foreign_file()
            if self._foreign_lines > MOST_FOREIGN + len(self._events):
                self._notes.say("Most lines are nothing that this version knows; the rest of the file was not read.")
                return
            if (
                len(rest) > _LONGEST_LINE
                or total > _MOST_BYTES
                or self._line > _MOST_LINES
                or len(self._events) >= MOST_EVENTS
            ):
                self._notes.say("The file goes on for longer than a recording may; the rest of it was not read.")
                return
            self.after_block()
        if rest:
            yield rest

    def _say_how_it_ends(self, unpacked: Unpacked) -> None:
        if unpacked.damage:
            self._notes.say(f"The file is damaged ({unpacked.damage}); what comes before that is here.")
        elif unpacked.cut:
            self._notes.cut = True
        if self._unfinished:
            self._notes.say("It ends in the middle of an answer.")

    def _header(self, line: bytes, *, whole: bool) -> Header | None:
        if not line:
            raise TraceError(f"{self._name} is empty: nothing was recorded in it.")
        try:
            found = msgspec.json.decode(line, type=_Format)
        except _ERRORS as error:
            self._accept_without_header(line, error, whole=whole)
            return None
        if not 1 <= found.format <= FORMAT:
            raise TraceError(
                f"{self._name} has format {found.format}, and this version reads formats up to {FORMAT}.",
                f"It was written by decodescope {found.decodescope}." if found.decodescope else "",
                "Update decodescope.",
            )
        try:
            header = msgspec.json.decode(line, type=Header)
        except _ERRORS as error:
            raise TraceError(f"The first line of {self._name} is damaged.", str(error)) from error
        self._line = 1
        return header

    def _accept_without_header(self, line: bytes, error: Exception, *, whole: bool) -> None:
        """Accept a first line that is an event. Raises TraceError for any other."""
        try:
            self._decoder.decode(line)
        except _ERRORS:
            if not whole and line.startswith(_BEGINNING[: len(line)]):
                raise TraceError(f"{self._name} was cut off within its first line.") from error
            raise self._foreign_file() from error
        self._notes.say("It has no header: the machine and the settings are not known.")
        self._take(line + b"\n" if whole else line)

    def _foreign_file(self) -> TraceError:
        return TraceError(
            f"{self._name} is not a recording.",
            "Its first line is none of decodescope's.",
            "Recordings are made with --record FILE.",
        )

    def _take(self, chunk: bytes) -> None:
        lines, newline, rest = chunk.rpartition(b"\n")
        if newline:
            self._keep(self._numbered(lines))
        if rest.strip():
            self._line += 1
            with suppress(*_ERRORS):
                self._keep([(self._line, self._decoder.decode(rest))])
            self._notes.cut = True

    def _numbered(self, lines: bytes) -> Iterable[tuple[int, Event]]:
        """Return the events in whole lines, with the numbers of their lines."""
        first = self._line + 1
        count = lines.count(b"\n") + 1
        self._line += count
        try:
            events = self._decoder.decode_lines(lines)
        except _ERRORS:
            events = []
        if len(events) == count:
            return zip(range(first, first + count), events, strict=True)
        return self._one_by_one(first, lines)

    def _one_by_one(self, first: int, lines: bytes) -> Iterator[tuple[int, Event]]:
        for number, line in enumerate(lines.split(b"\n"), first):
            if not line.strip():
                continue
            try:
                event = self._decoder.decode(line)
            except _ERRORS as error:
                self._foreign(number, line, error)
            else:
                yield number, event

    def _foreign(self, number: int, line: bytes, error: Exception) -> None:
        """Note a line that is no event that this version knows."""
        self._foreign_lines += 1
        try:
            kind = msgspec.json.decode(line, type=_Line).event
        except _ERRORS:
            self._notes.add(number, "is no event", "are no events")
            return
        if kind == "trace":
            self._another(number, line)
        elif kind in _KINDS:
            self._notes.add(number, f"is no valid {kind} ({error})", f"are no valid {kind}")
        else:
            self._notes.add(number, f"is of an unknown kind, {kind!r}", f"are of an unknown kind, {kind!r}")

    def _another(self, number: int, line: bytes) -> None:
        """Go on with the recording that begins here as if it had been made right after the one before."""
        self._notes.say(
            f"Another recording begins in line {number:,}: the machine and the settings are the first one's."
        )
        try:
            header = msgspec.json.decode(line, type=Header)
        except _ERRORS:
            return
        if self._events and abs(header.t) < MOST_NS:
            self._shift = self._latest - header.t

    def _keep(self, numbered: Iterable[tuple[int, Event]]) -> None:
        for number, event in numbered:
            if not plausible(event):
                self._notes.add(number, "has an impossible number", "have impossible numbers")
                continue
            if self._shift:
                event = replace(event, t=event.t + self._shift)
            if event.t < self._latest:
                self._notes.add(number, "goes back in time", "go back in time")
            self._latest = event.t
            if isinstance(event, Token):
                self._index += 1
                if event.index != self._said_index + 1:
                    self._notes.add(
                        number,
                        "does not follow the token before it: some are missing",
                        "do not follow the token before",
                    )
                self._said_index = event.index
                if event.index != self._index:
                    event = replace(event, index=self._index)
            elif isinstance(event, RequestTaken):
                self._index = self._said_index = 0
                self._unfinished = True
            elif isinstance(event, Finished | Failed):
                self._unfinished = False
            self._events.append(event)
