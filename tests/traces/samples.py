"""A session with two answers, and its files."""

from pathlib import Path

from msgspec.structs import replace

from decodescope.backends.events import Event, Failed, Log
from decodescope.backends.token_facts import Scheduling
from decodescope.traces.header import Header, LlamaBuild, Machine
from decodescope.traces.writer import TraceWriter, encoded

from ..tui.fakes import MS, answer, finished, likely, loading, ready, token

HEADER = Header(
    t=0,
    decodescope="0.1.0",
    recorded="2026-11-30T10:00:00Z",
    text=True,
    llama_cpp=LlamaBuild(package="0.3.36"),
    machine=Machine(
        system="Linux",
        architecture="x86_64",
        processor="a processor",
        cores=2,
        cpus=2,
        threads=2,
        memory_bytes=1 << 34,
        python="3.11.7",
    ),
    settings={"model": "demo"},
)


def session() -> list[Event]:
    """Everything in order; the second answer fails."""
    return [
        loading(0.5),
        ready(),
        *answer([b"The", b" sky", b" \xf0\x9f", b"\xa6\x99"]),
        token(200 * MS, 5, b" is", scheduling=Scheduling(wait_ns=3, minor_faults=1), probability=likely(-0.5)),
        finished(201 * MS),
        Log(t=202 * MS, level="warning", text="a\nb"),
        *(replace(event, t=event.t + 300 * MS) for event in answer([b"no"])),
        Failed(t=500 * MS, stage="generate", what="It failed.", reason="why\nwhy", remedy="Do this."),
    ]


def written(path: Path, events: list[Event] | None = None, header: Header | None = HEADER) -> Path:
    """Write a file, one event at a time, and end it."""
    writer = TraceWriter(path)
    if header is not None:
        writer.begin(header)
    for event in session() if events is None else events:
        writer.write(encoded([event], text=True))
    writer.close()
    return path
