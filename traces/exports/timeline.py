"""The events as a timeline in the trace-event format, for Perfetto and chrome://tracing."""

import math
from collections.abc import Iterable, Iterator, Sequence
from pathlib import PurePath
from typing import Any

import msgspec

from ...backends.events import (
    Event,
    Failed,
    Finished,
    LoadProgress,
    Log,
    ModelReady,
    PrefillProgress,
    PromptReady,
    RequestTaken,
    Token,
)
from ...backends.text import visible
from ...metrics.disturbance import Cause
from ...metrics.summary import as_ms
from ..header import Header
from ..no_text import NO_ID
from .facts import machine_facts, program_facts
from .figures import figures, verdict
from .subject import Export, Row, Subject

_LOAD, _REQUEST, _READ, _WRITE, _DISTURBED = range(1, 6)
_TRACKS = {
    _LOAD: "load",
    _REQUEST: "generation",
    _READ: "read (prefill)",
    _WRITE: "write (decode)",
    _DISTURBED: "disturbed",
}
_MOST_TRACKS = 10
_READING, _WRITING = "prompt tokens read", "ITL (ms)"
_ORDINARY, _SLOW = "thread_state_runnable", "terrible"
"""Colours by the names that chrome://tracing knows; Perfetto has its own."""

_UNNAMED = "decodescope"

Record = dict[str, Any]


def as_perfetto(export: Export) -> str:
    """Return a JSON object in the trace-event format; times in µs since the recording's first event, in order."""
    return _written(export.header, _Timeline(export, _origin(export)).records())


def lanes_as_perfetto(lanes: Sequence[tuple[str, Export]]) -> str:
    """Return the same of several lanes that ran side by side; every lane goes by its name."""
    origin = min(_origin(export) for _, export in lanes)
    records: list[Record] = []
    processes = 0
    for name, export in lanes:
        timeline = _Timeline(export, origin, visible(name), processes)
        records += timeline.records()
        processes += timeline.processes
    return _written(lanes[0][1].header, records)


def _written(header: Header | None, records: Iterable[Record]) -> str:
    whole = {
        "displayTimeUnit": "ms",
        "otherData": {"machine": machine_facts(header), "program": program_facts(header)},
        "traceEvents": sorted(records, key=_order),
    }
    return msgspec.json.encode(whole).decode() + "\n"


def _origin(export: Export) -> int:
    return min(event.t for event in export.events)


def _microseconds(ns: int) -> float:
    """Return ns in µs, never less: Perfetto cuts off what is beyond a nanosecond, and drops a slice that would then
    begin before the one before it ends."""
    shown = ns / 1000
    return shown if int(shown * 1000) == ns else math.nextafter(shown, math.inf)


def _order(record: Record) -> tuple[bool, float, float]:
    """Names first, then by time, what encloses others before them."""
    return record["ph"] != "M", record["ts"], -record.get("dur", 0.0)


class _Timeline:
    """Walks through a recording once; every model is a process, every phase a thread."""

    def __init__(self, export: Export, origin: int, name: str | None = None, before: int = 0) -> None:
        """``name``: of all its models, instead of their own; ``before``: how many processes others have."""
        self._subjects = {id(one.generation.taken): one for one in export.subjects}
        self._events = export.events
        self._latest = self._origin = origin
        self._name = name
        self._earlier_processes = before
        self._processes = [name or _UNNAMED]
        self._loaded_before = False
        self._load_began: int | None = None
        self._subject: Subject | None = None
        self._rows: Iterator[Row] = iter(())
        self._taken = self._read_began = self._before = 0

    @property
    def processes(self) -> int:
        """How many there are, once all records have been yielded."""
        return len(self._processes)

    def records(self) -> Iterator[Record]:
        """Yield what is shown, parents and children in any order."""
        for event in self._events:
            yield from self._about(event, self._at(event.t))
        if self._subject is not None:
            yield from self._ended(self._at(self._latest), None)
        for process, name in enumerate(self._processes, start=self._earlier_processes + 1):
            yield from _names(process, name)

    def _at(self, t: int) -> int:
        # A file that somebody has edited may go back in time; a timeline must not.
        self._latest = max(self._latest, t)
        return self._latest - self._origin

    def _about(self, event: Event, at: int) -> Iterator[Record]:
        match event:
            case LoadProgress():
                yield from self._load_progress(event, at)
            case ModelReady():
                if self._subject is not None:
                    yield from self._ended(at, None)
                yield from self._loaded(event, at)
            case RequestTaken():
                if self._subject is not None:
                    yield from self._ended(at, None)
                self._begin(event, at)
            case Finished() | Failed() if self._subject is not None:
                yield from self._ended(at, event)
            case PromptReady() if self._subject is not None:
                self._read_began = at
                yield self._slice("template and tokens", _REQUEST, self._taken, at, {})
                yield self._counter(_READING, _READ, at, {"cached": event.cached, "computed": 0})
            case PrefillProgress() if self._subject is not None:
                computed = max(event.processed - event.cached, 0)
                yield self._counter(_READING, _READ, at, {"cached": event.cached, "computed": computed})
                if event.processed >= event.total:
                    yield self._slice("prefill", _READ, self._read_began, at, {"tokens": event.total})
                    self._before = at
            case Token() if self._subject is not None:
                yield from self._token(next(self._rows), at)
            case Failed():
                yield self._instant(visible(event.what), _LOAD, at, {"reason": visible(event.reason)})
            case Log():
                yield self._instant(visible(event.text), _LOAD, at, {"level": event.level})
            case _:
                pass  # of no generation that is exported, or of none at all

    def _load_progress(self, event: LoadProgress, at: int) -> Iterator[Record]:
        if self._load_began is None:
            self._next_process()
            self._load_began = at
        yield self._counter("model loaded", _LOAD, at, {"percent": event.fraction * 100})

    def _loaded(self, model: ModelReady, at: int) -> Iterator[Record]:
        if self._load_began is None:
            self._next_process()
        self._processes[-1] = self._name or visible(model.name) or _UNNAMED
        began = at - model.load_ns - model.warmup_ns if self._load_began is None else self._load_began
        warmed = max(began, at - model.warmup_ns, 0)
        arguments = {
            "file": visible(PurePath(model.file).name),
            "quantization": visible(model.quantization),
            "bytes": model.bytes,
        }
        yield self._slice("load", _LOAD, max(began, 0), warmed, {**arguments, "load_ms": as_ms(model.load_ns)})
        if model.warmup_ns:
            yield self._slice("warm-up", _LOAD, warmed, at, {"warmup_ms": as_ms(model.warmup_ns)})
        self._load_began = None

    def _next_process(self) -> None:
        if self._loaded_before:
            self._processes.append(self._name or _UNNAMED)
        self._loaded_before = True

    def _begin(self, taken: RequestTaken, at: int) -> None:
        self._subject = self._subjects.get(id(taken))
        self._rows = iter(()) if self._subject is None else iter(self._subject.rows())
        self._taken = self._read_began = self._before = at

    def _token(self, row: Row, at: int) -> Iterator[Record]:
        token, _, _, gap, cause = row
        text = visible(token.piece.decode("utf-8", "replace"))
        arguments: Record = {"token": token.index, "gap_ms": as_ms(gap), "sample_ms": as_ms(token.sample_ns)}
        if token.id != NO_ID:
            arguments["id"] = token.id
        if gap is not None:
            arguments["decode_ms"] = as_ms(token.decode_ns)
        colour = _ORDINARY
        if cause is not Cause.NONE and self._subject is not None:
            colour = _SLOW
            arguments["cause"] = cause.name.lower()
            arguments["why"] = self._subject.run.explain(token.index - 1)
            told = {"token": token.index, "why": arguments["why"]}
            yield self._slice(arguments["cause"], _DISTURBED, self._before, at, told)
        if gap is not None:
            yield self._counter(_WRITING, _WRITE, self._before, {"ms": as_ms(gap)})
        yield {**self._slice(text or "token", _WRITE, self._before, at, arguments), "cname": colour}
        self._before = at

    def _ended(self, at: int, end: Finished | Failed | None) -> Iterator[Record]:
        subject, self._subject = self._subject, None
        if subject is None:
            return
        if subject.run.token_count > 1:
            yield self._counter(_WRITING, _WRITE, at, {"ms": 0})
        told: Record = {figure.label: figure.text for figure in figures(subject)}
        told["verdict"] = verdict(subject.run)
        yield self._slice(f"generation {subject.number}", _REQUEST, self._taken, at, told)
        if isinstance(end, Failed):
            yield self._instant(visible(end.what), _REQUEST, at, {"reason": visible(end.reason)})

    def _slice(self, name: str, track: int, began: int, ended: int, arguments: Record) -> Record:
        duration = _microseconds(ended - began)
        return {**self._record("X", name, track, began), "cat": _TRACKS[track], "dur": duration, "args": arguments}

    def _instant(self, name: str, track: int, at: int, arguments: Record) -> Record:
        return {**self._record("i", name, track, at), "cat": _TRACKS[track], "s": "t", "args": arguments}

    def _counter(self, name: str, track: int, at: int, values: Record) -> Record:
        return {**self._record("C", name, track, at), "args": values}

    def _record(self, phase: str, name: str, track: int, at: int) -> Record:
        process = self._earlier_processes + len(self._processes)
        return {"ph": phase, "name": name, "pid": process, "tid": _thread(process, track), "ts": _microseconds(at)}


def _thread(process: int, track: int) -> int:
    """Return a number that no other thread has, nor its process: Perfetto would take that one for the main thread."""
    return process * _MOST_TRACKS + track


def _names(process: int, name: str) -> Iterator[Record]:
    def named(what: str, track: int, arguments: Record) -> Record:
        return {"ph": "M", "name": what, "pid": process, "tid": _thread(process, track), "ts": 0.0, "args": arguments}

    yield named("process_name", _LOAD, {"name": name})
    for track, said in _TRACKS.items():
        yield named("thread_name", track, {"name": said})
        yield named("thread_sort_index", track, {"sort_index": track})
