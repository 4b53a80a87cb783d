"""What recording costs: the decode rate of the demo model with it and without, and the size of a token on disk."""

import itertools
import tempfile
import time
from pathlib import Path

from msgspec.structs import replace

from decodescope.backends.contract import Backend
from decodescope.backends.events import Event, Failed, Finished, Token
from decodescope.backends.requests import Request, Sampling
from decodescope.traces.header import new_header
from decodescope.traces.reader import read_trace
from decodescope.traces.recording import Recording
from decodescope.traces.writer import TraceWriter, encoded

from . import PROMPT
from .engine_speed import decode_ns, engine
from .figures import Figure, paired_ratio

TOKENS = 128
PAIRS = 15
LONG = 100_000
FORMS = (".jsonl", ".jsonl.gz", ".jsonl.zst")


def _generated(backend: Backend, recording: Recording | None) -> list[Event]:
    """Serve one request, looking whenever there is something, as ``run`` does. Raises RuntimeError on a failure."""
    request = Request(prompt=PROMPT, max_tokens=TOKENS, sampling=Sampling(temp=0, ignore_eos=True), probabilities=False)
    backend.generate(request)
    events: list[Event] = []
    while not any(isinstance(event, Finished) for event in events[-8:]):
        received = backend.receive(60)
        if recording is not None:
            recording.take(received)
        events += received
        if any(isinstance(event, Failed) for event in received):
            raise RuntimeError(str(received))
    if recording is not None and (problem := recording.news()) is not None:
        raise RuntimeError(problem)
    return events


def against_none() -> list[Figure]:
    """Decode with a recording of each form against none."""
    figures = []
    with tempfile.TemporaryDirectory() as folder, engine(context=2048) as backend:
        events = _generated(backend, None)
        for form in FORMS:
            path = Path(folder, f"recording{form}")
            recording = Recording(TraceWriter(path), {}, text=True)
            ratio, off, on = paired_ratio(
                lambda: decode_ns(_generated(backend, None)),
                lambda recording=recording: decode_ns(_generated(backend, recording)),  # type: ignore[misc]
                PAIRS,
            )
            recording.close()
            rates = f"{(TOKENS - 1) / on * 1e9:.1f} and {(TOKENS - 1) / off * 1e9:.1f} tok/s"
            figures.append(Figure(f"decode, recording {form} on / off", f"{ratio:.3f}", "≥ 0.99", ratio >= 0.99, rates))
        tokens = [event for event in events if isinstance(event, Token)]
        figures += [_sizes(tokens, Path(folder)), *_reading(tokens, Path(folder))]
    return figures


def _sizes(tokens: list[Token], folder: Path) -> Figure:
    sizes = []
    for form in FORMS:
        path = folder / f"size{form}"
        writer = TraceWriter(path)
        writer.begin(new_header({}, text=True))
        before = path.stat().st_size
        for token in tokens:
            writer.write(encoded([token], text=True))
        sizes.append(f"{form} {(path.stat().st_size - before) / len(tokens):.0f}")
        writer.close()
    return Figure("bytes per token on disk", ", ".join(sizes), "shown", None)


def _reading(tokens: list[Token], folder: Path) -> list[Figure]:
    """Read a long recording in each form; its tokens repeat those of a short one."""
    figures = []
    for form in FORMS:
        path = folder / f"long{form}"
        writer = TraceWriter(path)
        writer.begin(new_header({}, text=True))
        start = tokens[0].t
        for index, token in enumerate(itertools.islice(itertools.cycle(tokens), LONG), 1):
            writer.write(encoded([replace(token, index=index, t=start + index * 7_000_000)], text=True))
        writer.close()
        began = time.perf_counter()
        read = len(read_trace(path).events)
        took = time.perf_counter() - began
        figures.append(Figure(f"reading {read:,} tokens, {form}", f"{took:.2f} s", "≤ 0.5 s", took <= 0.5))
    return figures
