"""What has to be known of an engine that may have to be replaced by a second one."""

import signal

from msgspec.structs import replace

from .events import (
    Event,
    Failed,
    Finished,
    LoadProgress,
    Log,
    Measured,
    ModelReady,
    RequestTaken,
    Scored,
    Token,
    Tokenized,
)
from .wire import Command, Generate, Measure, OpenLlama, OpenScript, Score, Tokenize

_CRASHES = frozenset({-signal.SIGSEGV, -signal.SIGILL, -signal.SIGFPE})
"""Exit statuses of code that does not suit the processor."""
_REQUESTS = Generate | Tokenize | Score | Measure


class Retry:
    """Keeps what was asked until an engine has come to a token, and tells its reader one story of two engines."""

    def __init__(self, opening: OpenLlama | OpenScript) -> None:
        self._opening = opening
        self._commands: list[Command] = []
        """Of requests without an end, in order, with those about them."""
        self._second = False
        self._ready = self._taken = False
        """Whether the reader knows that the model is ready, and that the first request was taken."""
        self._logs: set[str] = set()
        self.over = False
        """Whether the engine has come to a token, or scored some: nothing needs to be known any more."""

    def possible(self, exit_status: int) -> bool:
        """Whether a second engine may do better than the first, which ended like that."""
        return exit_status in _CRASHES and self._opening.settings.repack and not self._second

    def begin(self) -> tuple[OpenLlama | OpenScript, list[Command]]:
        """Return how the second engine is opened, and what it is asked."""
        self._second = True
        settings = replace(self._opening.settings, repack=False)
        return replace(self._opening, settings=settings), list(self._commands)

    def sent(self, command: Command) -> None:
        """Note what an engine was asked."""
        if self._commands or isinstance(command, _REQUESTS):
            self._commands.append(command)

    def take(self, events: list[Event]) -> list[Event]:
        """Note what an engine says, and return what of it the reader does not know from the first."""
        return [told for event in events for told in self._news(event)]

    def _news(self, event: Event) -> list[Event]:
        if isinstance(event, Log):
            known = self._second and event.text in self._logs
            self._logs.add(event.text)
            return [] if known else [event]
        if isinstance(event, LoadProgress | ModelReady):
            known = self._second and self._ready
            self._ready = self._ready or isinstance(event, ModelReady)
            return [] if known else [event]
        if isinstance(event, RequestTaken):
            known, self._taken = self._second and self._taken, True
            self._keep_seed(event.seed)
            return [] if known else [event]
        if isinstance(event, Token | Scored) or (isinstance(event, Measured) and event.gaps):
            self.over = True
        elif isinstance(event, Finished | Tokenized | Measured | Failed):
            self._taken = False
            self._answered()
            if isinstance(event, Failed) and event.stage == "load" and self._ready:
                return [replace(event, stage="engine")]
        return [event]

    def _keep_seed(self, seed: int) -> None:
        """Let a second engine draw with the seed that the reader was told of."""
        first = self._commands[0]
        if isinstance(first, Generate):
            request = first.request
            self._commands[0] = Generate(replace(request, sampling=replace(request.sampling, seed=seed)))

    def _answered(self) -> None:
        """Forget the first request, and what was said about it alone."""
        del self._commands[:1]
        while self._commands and not isinstance(self._commands[0], _REQUESTS):
            del self._commands[0]
