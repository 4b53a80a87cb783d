"""What a replay promises: a long recording opens and seeks at once, and a fast one keeps its clock."""

import re
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from decodescope.backends.events import (
    Event,
    Finished,
    LoadProgress,
    ModelReady,
    PrefillProgress,
    PromptReady,
    RequestTaken,
    Token,
)
from decodescope.backends.requests import Message, Sampling
from decodescope.backends.token_facts import Scheduling
from decodescope.traces.generations import takes
from decodescope.traces.header import new_header
from decodescope.traces.reader import read_trace
from decodescope.traces.writer import TraceWriter, encoded
from decodescope.tui.replay.film import Film
from decodescope.tui.replay.place import position_of
from decodescope.tui.replay.timeline import Timeline

from .figures import Figure
from .terminal import Terminal

TOKENS = 100_000
RATE, FASTER = 150, 100
OPENINGS = 5
_MS = 1_000_000
_END, _PAUSE = b"\x1b[F", b" "
_ESCAPES = re.compile(rb"\x1b\[[0-9;?<>=]*[a-zA-Z]")
_DEADLINE_SECONDS = 60.0


def _events() -> list[Event]:
    """A load, a prefill and an answer at a steady pace in which every 97th token is disturbed."""
    model = ModelReady(
        t=-100 * _MS,
        name="recorded",
        file="recorded.gguf",
        architecture="llama",
        quantization="Q4_1",
        bytes=92 << 20,
        parameters=135_000_000,
        trained_context=2 * TOKENS,
        context=2 * TOKENS,
        layers=30,
        gpu_layers=0,
        threads=2,
        threads_batch=2,
        micro_batch=512,
        devices=("CPU",),
        template="ChatML",
        kv_bytes_per_token=23_040,
        progress="node",
        rollback=True,
        load_ns=1000 * _MS,
        warmup_ns=80 * _MS,
    )
    events: list[Event] = [
        *(LoadProgress(t=-1100 * _MS + part * 100 * _MS, fraction=part / 10) for part in range(11)),
        model,
        RequestTaken(t=0, request=1, messages=(Message("user", "Count."),), sampling=Sampling(), seed=1),
        PromptReady(t=_MS, tokens=tuple(range(500)), cached=0),
        *(PrefillProgress(t=part * 10 * _MS, processed=part * 5, cached=0, total=500) for part in range(1, 101)),
    ]
    for index in range(1, TOKENS + 1):
        slow = index % 97 == 0
        facts = Scheduling(
            involuntary_switches=20 if slow else 0,
            voluntary_switches=1,
            minor_faults=2,
            major_faults=0,
            wait_ns=5 * _MS if slow else 1000,
            longest_wait_ns=5 * _MS if slow else 1000,
            cpu_ns=12 * _MS,
        )
        # What a disturbed token took too long the others took less, so that the pace is RATE.
        gap = 1e9 / RATE + (5 * _MS if slow else -5 * _MS / 96) + index % 7 * 1000
        t = events[-1].t + int(gap)
        piece = b" w%06d" % index + b"\n" * (index % 150 == 0)
        events.append(
            Token(
                t=t, index=index, id=index % 5000, piece=piece, decode_ns=6 * _MS, sample_ns=_MS // 10, scheduling=facts
            )
        )
    return [*events, Finished(t=events[-1].t + _MS, reason="length")]


def _written(path: Path, events: Sequence[Event]) -> Path:
    writer = TraceWriter(path)
    writer.begin(new_header({}, text=True))
    for first in range(0, len(events), 100):
        writer.write(encoded(events[first : first + 100], text=True))
    writer.close()
    return path


def _seconds(do: Callable[[], object]) -> float:
    began = time.perf_counter()
    do()
    return time.perf_counter() - began


def _until(terminal: Terminal, text: bytes, *, within: float = _DEADLINE_SECONDS) -> float:
    """Wait for text to be drawn from now on; return the seconds. Raises RuntimeError when it does not come."""
    first, began = len(terminal.chunks), time.perf_counter_ns()
    deadline = time.monotonic() + within
    drawn = b""
    while time.monotonic() < deadline:
        alive = terminal.read(0.005)
        drawn += b"".join(data for _, data in terminal.chunks[first:])
        first = len(terminal.chunks)
        if text in _ESCAPES.sub(b"", drawn):
            return (terminal.chunks[-1][0] - began) / 1e9
        if not alive:
            break
    raise RuntimeError(f"{text!r} was not drawn: {_ESCAPES.sub(b'', drawn)[-1000:]!r}")


def _settle(terminal: Terminal) -> None:
    """Take everything until nothing has come for a while."""
    quiet = time.monotonic() + 0.7
    while time.monotonic() < quiet:
        before = len(terminal.chunks)
        terminal.read(0.05)
        if len(terminal.chunks) > before:
            quiet = time.monotonic() + 0.7


def replaying() -> list[Figure]:
    """Open, seek and play a recording of 100,000 tokens."""
    events = _events()
    with tempfile.TemporaryDirectory() as folder:
        path = _written(Path(folder, "long.jsonl.zst"), events)
        return [_opening(path), _parts(path), *_seeking(path, Timeline(events)), *_fast(path, events)]


def _opening(path: Path) -> Figure:
    seconds, whole = [], []
    for _ in range(OPENINGS):
        terminal = Terminal(["-m", "decodescope", "replay", "--paused", str(path)])
        # The line before the screen names the file, too.
        _until(terminal, b"decodescope  " + path.name.encode())
        seconds.append((terminal.chunks[-1][0] - terminal.started) / 1e9)
        _until(terminal, b"#0 of")
        whole.append((terminal.chunks[-1][0] - terminal.started) / 1e9)
        terminal.close()
    median = statistics.median(seconds)
    what = f"{TOKENS:,} tokens: start of the process to the first paint of the recording"
    return Figure(
        what,
        f"{median:.2f} s",
        "≤ 1.5 s",
        median <= 1.5,
        f"best {min(seconds):.2f} s; with figures and text {statistics.median(whole):.2f} s",
    )


def _parts(path: Path) -> Figure:
    trace = read_trace(path)
    take = takes(trace.events)[0]
    reading = _seconds(lambda: read_trace(path))
    film = _seconds(lambda: Film(take))
    return Figure(
        f"{TOKENS:,} tokens: where the time goes",
        f"reading {reading:.2f} s",
        "shown",
        None,
        f"after the first paint: figures and text ready in {film:.2f} s",
    )


def _seeking(path: Path, timeline: Timeline) -> list[Figure]:
    terminal = Terminal(["-m", "decodescope", "replay", "--paused", str(path)])
    _until(terminal, b"#0 of")
    _settle(terminal)
    seconds = {}
    for name, keys in (
        ("the end", b""),
        ("token 1,000", b"#1000"),
        ("token 99,999", b"#99999"),
        ("half", b"50%"),
        ("9 of 10", b"90%"),
        ("a time", b"500s"),
    ):
        if keys:
            terminal.type(b"g")
            _until(terminal, b"Go to")
            terminal.type(keys)
            _settle(terminal)
            terminal.type(b"\r")
        else:
            terminal.type(_END)
        # The last word that is there then.
        index = timeline.tokens(timeline.length if not keys else position_of(keys.decode(), timeline) or 0)
        seconds[name] = _until(terminal, b"w%06d" % index)
        _settle(terminal)
    terminal.close()
    worst = max(seconds, key=lambda name: seconds[name])
    told = ", ".join(f"{name} {took * 1000:.0f} ms" for name, took in seconds.items())
    what = f"{TOKENS:,} tokens: key to the seeked place on the terminal, worst"
    return [Figure(what, f"{seconds[worst]:.2f} s", "≤ 0.2 s", seconds[worst] <= 0.2, told)]


def _fast(path: Path, events: Sequence[Event]) -> list[Figure]:
    expected = (events[-1].t - events[0].t) / 1e9 / FASTER
    terminal = Terminal(["-m", "decodescope", "replay", "--paused", "--speed", str(FASTER), str(path)])
    _until(terminal, b"#0 of")
    _settle(terminal)
    terminal.type(_PAUSE)
    took = _until(terminal, b"over", within=expected * 3)
    _settle(terminal)
    drawn = _ESCAPES.sub(b"", b"".join(data for _, data in terminal.chunks))
    whole = f"{TOKENS:,} tokens in".encode() in drawn and b"w%06d" % TOKENS in drawn
    terminal.close()
    off = took / expected - 1
    return [
        Figure(
            f"replay at {FASTER}× of {RATE} tok/s: its clock against the recording's",
            f"{off:+.1%}",
            "within 5 %",
            abs(off) <= 0.05,
            f"{took:.2f} s for {expected:.2f} s",
        ),
        Figure(
            f"replay at {FASTER}×: every token is there",
            f"{TOKENS:,}" if whole else "some are missing",
            "nothing dropped",
            whole,
        ),
    ]
