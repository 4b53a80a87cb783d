"""Reading a recording: whatever is whole in a file is given back, and what is not is named."""

import gc
import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, get_args

import msgspec

from ..backends.events import Event
from .compression import Unpacked
from .errors import TraceError
from .header import FORMAT, Header
from .keeping import Kept
from .lanes import ComparisonBegun, LaneStands, Line, OfLanes, Record
from .memory import MemoryMeasured, Written
from .notes import Notes

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
_LANE_KINDS = frozenset(kind.__struct_config__.tag for kind in get_args(Line))
_KINDS = frozenset(kind.__struct_config__.tag for kind in get_args(Written))
_EVENT_LINE = re.compile(rb'\s*\{"event":"\w+"')
_LANE_LINES = frozenset(f'"event":"{kind}"'.encode() for kind in _LANE_KINDS)


class Trace(msgspec.Struct, frozen=True):
    """What a file holds.

    Several generations, of several models one after another, are told apart by their ``model_ready`` and
    ``request_taken``. Within a generation tokens are numbered from 1 without a gap, and all numbers are in range; times
    may still go back where somebody has edited the file. Of a comparison that is so in each lane.
    """

    header: Header | None
    """``None``: the lines of ``run --jsonl``, which have none."""
    events: tuple[Event, ...]
    notes: tuple[str, ...]
    """What is not as it should be, in sentences; of unknown origin in part."""
    comparison: ComparisonBegun | None = None
    """What is compared; ``None``: one engine speaks at a time."""
    records: tuple[Record, ...] = ()
    """Of a comparison all lines below the header in order: ``events``, and what tells of the lanes."""
    memory: tuple[MemoryMeasured, ...] = ()
    """What was measured of the machine, in order."""

    def of_lane(self, number: int) -> "Trace":
        """Return what one lane of a comparison has done, as a recording of it alone."""
        events: list[Event] = []
        speaks = False
        for record in self.records:
            if isinstance(record, LaneStands):
                speaks = record.lane == number
            elif speaks and not isinstance(record, OfLanes):
                events.append(record)
        return Trace(self.header, tuple(events), self.notes, memory=self.memory)


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
        self._decoder = msgspec.json.Decoder(Written)
        self._kept = Kept(self._notes)
        self._line = 0
        """Number of the last line that was taken, from 1."""
        self._foreign_lines = 0

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
        return self._trace(header)

    def _trace(self, header: Header | None) -> Trace:
        records = self._kept.records
        comparison = self._kept.whole_comparison()
        events = tuple([record for record in records if not isinstance(record, OfLanes)])
        lines = () if comparison is None else tuple(records)
        return Trace(header, events, self._notes.sentences(), comparison, lines, tuple(self._kept.memory))

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
            if self._foreign_lines > MOST_FOREIGN + len(self._kept.records):
                self._notes.say("Most lines are nothing that this version knows; the rest of the file was not read.")
                return
            if (
                len(rest) > _LONGEST_LINE
                or total > _MOST_BYTES
                or self._line > _MOST_LINES
                or len(self._kept.records) >= MOST_EVENTS
            ):
                self._notes.say("The file goes on for longer than a recording may; the rest of it was not read.")
                return
            if self._kept.over:
                return
            self.after_block()
        if rest:
            yield rest

    def _say_how_it_ends(self, unpacked: Unpacked) -> None:
        if unpacked.damage:
            self._notes.say(f"The file is damaged ({unpacked.damage}); what comes before that is here.")
        elif unpacked.cut:
            self._notes.cut = True
        if self._kept.unfinished:
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
            self._kept.take(self._numbered(lines))
        if rest.strip():
            self._line += 1
            with suppress(*_ERRORS):
                self._kept.take([(self._line, self._decoder.decode(rest))])
            self._notes.cut = True

    def _numbered(self, lines: bytes) -> Iterable[tuple[int, Written]]:
        """Return the records in whole lines, with the numbers of their lines."""
        first = self._line + 1
        count = lines.count(b"\n") + 1
        self._line += count
        try:
            records = self._decoder.decode_lines(lines)
        except _ERRORS:
            records = []
        if len(records) == count:
            return zip(range(first, first + count), records, strict=True)
        return self._one_by_one(first, lines)

    def _one_by_one(self, first: int, lines: bytes) -> Iterator[tuple[int, Written]]:
        for number, line in enumerate(lines.split(b"\n"), first):
            if not line.strip():
                continue
            if self._kept.over:
                return
            try:
                record = self._decoder.decode(line)
            except _ERRORS as error:
                self._foreign(number, line, error)
            else:
                yield number, record

    def _foreign(self, number: int, line: bytes, error: Exception) -> None:
        """Note a line that is no event that this version knows."""
        self._foreign_lines += 1
        if _may_tell_of_a_lane(line):
            self._kept.lose_track()
        try:
            kind = msgspec.json.decode(line, type=_Line).event
        except _ERRORS:
            self._notes.add(number, "is no event", "are no events")
            return
        if kind == "trace":
            self._kept.begin_another(number, _began(line))
        elif kind in _KINDS:
            self._notes.add(number, f"is no valid {kind} ({error})", f"are no valid {kind}")
        else:
            self._notes.add(number, f"is of an unknown kind, {kind!r}", f"are of an unknown kind, {kind!r}")


def _may_tell_of_a_lane(line: bytes) -> bool:
    """Whether a line that cannot be read may have said whose events follow."""
    return _EVENT_LINE.match(line) is None or any(begun in line for begun in _LANE_LINES)


def _began(header: bytes) -> int | None:
    try:
        return msgspec.json.decode(header, type=Header).t
    except _ERRORS:
        return None
