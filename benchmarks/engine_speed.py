"""The engine beside its peers, on the demo model."""

import json
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from decodescope.backends.contract import Backend
from decodescope.backends.events import Event, Failed, Finished, ModelReady, PrefillProgress, PromptReady, Token
from decodescope.backends.launch import launch, resolve
from decodescope.backends.requests import EngineSettings, Request, Sampling
from decodescope.models.demo import demo_path

from . import PROMPT, THREADS, prompt_of_length
from .figures import Figure, paired_ratio

TOKENS = 128
PROMPT_TOKENS = 512
PAIRS = 15
CANCELS = 9
FRAME_SECONDS = 0.1


class Peer:
    """A peer's process."""

    def __init__(self, kind: str) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.peers", kind, str(demo_path())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )

    def ns(self, **work: int) -> float:
        """Time of one piece of work."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(json.dumps(work), file=self._process.stdin, flush=True)
        return float(self._process.stdout.readline())

    def close(self) -> None:
        """End the process."""
        self._process.communicate()


@contextmanager
def peer(kind: str) -> Iterator[Peer]:
    """A peer that has done its work once, warm."""
    opened = Peer(kind)
    try:
        opened.ns(decode=8)
        yield opened
    finally:
        opened.close()


@contextmanager
def engine(**settings: Any) -> Iterator[Backend]:
    """The engine on the demo model, ready."""
    backend = launch(resolve("demo"), EngineSettings(**{"threads": THREADS, **settings}))
    try:
        collect(backend, ModelReady)
        yield backend
    finally:
        backend.close()


def collect(backend: Backend, *kinds: type[Event]) -> list[Event]:
    """Return the events up to the first of ``kinds``, looking once per frame as the screen does.

    Raises RuntimeError on a failure.
    """
    events: list[Event] = []
    while not any(isinstance(event, kinds) for event in events):
        time.sleep(FRAME_SECONDS)
        events += backend.receive(60)
        failure = next((event for event in events if isinstance(event, Failed)), None)
        if failure is not None:
            raise RuntimeError(f"{failure.what} {failure.reason}")
    return events


def generate(backend: Backend, prompt: str, max_tokens: int) -> list[Event]:
    """Serve one greedy request on an empty memory."""
    backend.generate(Request(prompt=prompt, max_tokens=max_tokens, sampling=Sampling(temp=0, ignore_eos=True)))
    return collect(backend, Finished)


def decode_ns(events: list[Event]) -> float:
    """From the first to the last token."""
    times = [event.t for event in events if isinstance(event, Token)]
    return float(times[-1] - times[0])


def prefill_ns(events: list[Event]) -> float:
    """From the tokenized prompt to its last progress."""
    start = next(event.t for event in events if isinstance(event, PromptReady))
    return float([event.t for event in events if isinstance(event, PrefillProgress)][-1] - start)


def against_bare() -> list[Figure]:
    """Decode and prefill against the bare loop."""
    with peer("bare") as bare, engine(context=2048) as backend:
        ratio, bare_ns, own_ns = paired_ratio(
            lambda: bare.ns(decode=TOKENS), lambda: decode_ns(generate(backend, PROMPT, TOKENS)), PAIRS
        )
        decode = Figure(
            "decode, engine / bare C-API loop",
            f"{ratio:.3f}",
            "≥ 0.98",
            ratio >= 0.98,
            f"{(TOKENS - 1) / own_ns * 1e9:.1f} and {(TOKENS - 1) / bare_ns * 1e9:.1f} tok/s",
        )
        text = prompt_of_length(PROMPT_TOKENS)
        ratio, bare_ns, own_ns = paired_ratio(
            lambda: bare.ns(prefill=PROMPT_TOKENS), lambda: prefill_ns(generate(backend, text, 0)), PAIRS
        )
        updates = sum(isinstance(event, PrefillProgress) for event in generate(backend, text, 0))
        prefill = Figure(
            "prefill with live progress / one llama_decode",
            f"{ratio:.3f}",
            "≥ 0.98",
            ratio >= 0.98,
            f"{PROMPT_TOKENS / own_ns * 1e9:.0f} and {PROMPT_TOKENS / bare_ns * 1e9:.0f} tok/s",
        )
        progress = Figure("progress updates for 512 tokens", f"{updates}", "≥ 20", updates >= 20)
    return [decode, prefill, progress]


def against_stock() -> list[Figure]:
    """Decode against llama-cpp-python's streaming API."""
    with peer("stock") as stock, engine(context=2048) as backend:
        ratio, stock_ns, own_ns = paired_ratio(
            lambda: stock.ns(decode=TOKENS), lambda: decode_ns(generate(backend, PROMPT, TOKENS)), PAIRS
        )
    rates = f"{(TOKENS - 1) / own_ns * 1e9:.1f} and {(TOKENS - 1) / stock_ns * 1e9:.1f} tok/s"
    return [Figure("decode, engine / stock create_completion(stream)", f"{ratio:.2f}", "shown", None, rates)]


def cancelling() -> list[Figure]:
    """From the cancel to the end of the prefill that it stops."""
    waits = []
    with engine() as backend:
        for number in range(CANCELS):
            text = f"{number} " + prompt_of_length(6000)
            backend.generate(Request(prompt=text, max_tokens=1, sampling=Sampling(temp=0)))
            collect(backend, PrefillProgress)
            time.sleep(0.05 * number)
            started = time.perf_counter_ns()
            backend.cancel()
            ended = collect(backend, Finished)[-1]
            waits.append((ended.t - started) / 1e6)
    worst = max(waits)
    detail = f"median {statistics.median(waits):.0f} ms of {CANCELS}"
    return [Figure("cancel in mid-prefill takes effect, worst", f"{worst:.0f} ms", "< 250 ms", worst < 250, detail)]
