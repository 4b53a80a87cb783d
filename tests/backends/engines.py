"""What tests of engines share."""

import time
from collections.abc import Callable
from typing import Any

from decodescope.backends.events import Event, Failed, Finished, ModelReady, PromptReady, RequestTaken, Token
from decodescope.backends.host import EngineHost
from decodescope.backends.requests import Message, Request, Sampling

DEADLINE_S = 120.0
GREEDY = Sampling(temp=0)


class Engine:
    """An engine under test; every wait has a deadline."""

    def __init__(self, host: EngineHost) -> None:
        self.host = host
        self.ready: ModelReady | None = None

    def until(self, *kinds: type[Event]) -> list[Event]:
        """Return the events up to the first one of ``kinds``."""
        deadline = time.monotonic() + DEADLINE_S
        events: list[Event] = []
        while time.monotonic() < deadline:
            arrived = self.host.receive(1.0)
            events += arrived
            if any(isinstance(event, (*kinds, Failed)) for event in arrived) or self.host.closed:
                return events
        raise AssertionError(f"nothing of {kinds} in {DEADLINE_S} s: {events[-3:]}")

    def load(self) -> ModelReady:
        """Wait until the model is ready."""
        ready = self.until(ModelReady, Failed)[-1]
        assert isinstance(ready, ModelReady), ready
        self.ready = ready
        return ready

    def run(self, request: Request) -> list[Event]:
        """Serve one request and return its events."""
        self.host.generate(request)
        return self.until(Finished, Failed)

    def forget(self) -> None:
        """End what is going on, and fill the cache with something that shares no beginning with any chat."""
        request = Request(prompt="zzz", max_tokens=0, sampling=GREEDY)
        self.host.cancel()
        self.host.generate(request)
        events = self.until(Finished)
        while not (isinstance(events[-1], Finished) and any(_asks(event, request) for event in events)):
            assert not self.host.closed, events[-1]
            events += self.until(Finished)

    def ask(self, text: str, max_tokens: int = 8, **fields: Any) -> list[Event]:
        """Serve one greedy chat request."""
        return self.run(chat(text, max_tokens=max_tokens, **fields))


def _asks(event: Event, request: Request) -> bool:
    return isinstance(event, RequestTaken) and event.prompt == request.prompt


def chat(*turns: str, max_tokens: int = 8, **fields: Any) -> Request:
    """A greedy chat request; turns are user, assistant, user, …"""
    roles = ("user", "assistant")
    messages = tuple(Message(roles[number % 2], turn) for number, turn in enumerate(turns))  # type: ignore[arg-type]
    return Request(messages=messages, max_tokens=max_tokens, **{"sampling": GREEDY, **fields})


def text_of(events: list[Event]) -> str:
    """The text of the tokens among ``events``, without what a stop string cut off."""
    data = b"".join(event.piece for event in events if isinstance(event, Token) and not event.control)
    end = events[-1]
    return data[: len(data) - end.held].decode() if isinstance(end, Finished) else data.decode()


def prompt_of(events: list[Event]) -> PromptReady:
    """The one ``prompt_ready`` among ``events``."""
    (prompt,) = (event for event in events if isinstance(event, PromptReady))
    return prompt


Open = Callable[..., Engine]
Kept = Callable[[], Engine]
