"""A backend that plays what a test hands it, and events with times of their own."""

import contextlib
import os
from collections.abc import Sequence

from msgspec.structs import replace

from decodescope.backends.events import (
    Event,
    Finished,
    FinishReason,
    LoadProgress,
    ModelReady,
    PrefillProgress,
    PromptReady,
    RequestTaken,
    Token,
)
from decodescope.backends.requests import MeasureRequest, Request, Sampling, ScoreRequest
from decodescope.backends.token_facts import Alternative, Probability, Scheduling

from ..small_model import SMALL

MS = 1_000_000


class FakeBackend:
    """Keeps the contract over a real pipe, in this process."""

    def __init__(self) -> None:
        self._read, self._write = os.pipe()
        os.set_blocking(self._read, False)
        self._events: list[Event] = []
        self._closed = False
        self.requests: list[Request] = []
        self.scored: list[ScoreRequest] = []
        self.tokenized: list[str] = []
        self.measured: list[MeasureRequest] = []
        self.cancelled = 0
        self.asked_for_probabilities: list[bool] = []

    def play(self, *events: Event) -> None:
        self._events += events
        os.write(self._write, b".")

    def end_of_events(self) -> None:
        self._closed = True

    def fileno(self) -> int:
        return self._read

    def receive(self, timeout: float | None = 0.0) -> list[Event]:
        with contextlib.suppress(BlockingIOError):
            os.read(self._read, 65536)
        events, self._events = self._events, []
        return events

    @property
    def closed(self) -> bool:
        return self._closed and not self._events

    def generate(self, request: Request) -> None:
        self.requests.append(request)

    def tokenize(self, text: str) -> None:
        self.tokenized.append(text)

    def score(self, request: ScoreRequest) -> None:
        self.scored.append(request)

    def measure(self, request: MeasureRequest) -> None:
        self.measured.append(request)

    def cancel(self) -> None:
        self.cancelled += 1

    def probabilities(self, on: bool) -> None:
        self.asked_for_probabilities.append(on)

    def close(self) -> None:
        self._closed = True
        if self._read >= 0:
            os.close(self._read)
            os.close(self._write)
            self._read = -1


def ready(
    name: str = "tiny", *, context: int = 4096, template: str = "ChatML", weights: int | None = None
) -> ModelReady:
    return replace(
        SMALL,
        name=name,
        file="tiny.gguf",
        context=context,
        template=template,
        weight_bytes_per_token=weights,
        weight_bytes_per_pass=weights,
        load_ns=1_200 * MS,
        warmup_ns=80 * MS,
    )


def loading(fraction: float) -> LoadProgress:
    return LoadProgress(t=0, fraction=fraction)


def taken(t: int = 0) -> RequestTaken:
    return RequestTaken(t=t, request=1, sampling=Sampling(), seed=42)


def prompt(t: int, total: int, cached: int = 0) -> PromptReady:
    return PromptReady(t=t, tokens=tuple(range(total)), cached=cached)


def progress(t: int, processed: int, total: int, cached: int = 0) -> PrefillProgress:
    return PrefillProgress(t=t, processed=processed, cached=cached, total=total)


def likely(logprob: float, *, entropy_nats: float = 1.0, cost_ns: int = MS // 5) -> Probability:
    """Facts of the likeliest token."""
    top = (Alternative(7, b" top", logprob),)
    return Probability(logprob=logprob, rank=1, entropy_nats=entropy_nats, top=top, cost_ns=cost_ns)


def token(
    t: int,
    index: int,
    piece: bytes,
    *,
    thinking: bool = False,
    control: bool = False,
    scheduling: Scheduling | None = None,
    probability: Probability | None = None,
) -> Token:
    return Token(
        t=t,
        index=index,
        id=index,
        piece=piece,
        decode_ns=6 * MS,
        sample_ns=MS // 10,
        thinking=thinking,
        control=control,
        scheduling=scheduling,
        probability=probability,
    )


def tokens(start: int, pieces: Sequence[bytes], gap: int = 7 * MS, first: int = 1) -> list[Event]:
    """The first piece at ``start``, the others ``gap`` after each other."""
    return [token(start + place * gap, first + place, piece) for place, piece in enumerate(pieces)]


def finished(t: int, reason: FinishReason = "stop") -> Finished:
    return Finished(t=t, reason=reason)


def answer(pieces: Sequence[bytes], *, total: int = 100, cached: int = 0, gap: int = 7 * MS) -> list[Event]:
    """A whole run without its end: taken at 0, the prompt read from 10 ms to 110 ms."""
    return [
        taken(),
        prompt(10 * MS, total, cached),
        progress(110 * MS, total, total, cached),
        *tokens(112 * MS, pieces, gap),
    ]
