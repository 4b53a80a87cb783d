"""What is remembered of an engine, so that a second one can replace it."""

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
"""Exit statuses of code that was built for another processor."""
_REQUESTS = Generate | Tokenize | Score | Measure


class Retry:
    """Keeps the commands until an engine has produced a token, and presents two engines to the reader as one."""

    def __init__(self, opening: OpenLlama | OpenScript) -> None:
        self._opening = opening
        self._commands: list[Command] = []
        """Requests that have not ended, in order, with the commands about them."""
        self._second = False
        self._ready = self._taken = False
        """Whether the reader has seen that the model is ready, and that the first request was taken."""
        self._logs: set[str] = set()
        self.over = False
        """Whether the engine has produced or scored a token: nothing needs to be remembered any more."""

    def possible(self, exit_status: int) -> bool:
        """Whether a second engine may do better than the first, which ended with that status."""
        return exit_status in _CRASHES and self._opening.settings.repack and not self._second

    def begin(self) -> tuple[OpenLlama | OpenScript, list[Command]]:
        """Return how to open the second engine, and the commands to send to it."""
        self._second = True
        settings = replace(self._opening.settings, repack=False)
        return replace(self._opening, settings=settings), list(self._commands)

    def sent(self, command: Command) -> None:
        """Remember a command that was sent to an engine."""
        if self._commands or isinstance(command, _REQUESTS):
            self._commands.append(command)

    def take(self, events: list[Event]) -> list[Event]:
        """Remember an engine's events, and return those that the reader has not seen from the first engine."""
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
        """Let the second engine draw with the seed that the reader has seen."""
        first = self._commands[0]
        if isinstance(first, Generate):
            request = first.request
            self._commands[0] = Generate(replace(request, sampling=replace(request.sampling, seed=seed)))

    def _answered(self) -> None:
        """Forget the first request, and the commands about it alone."""
        del self._commands[:1]
        while self._commands and not isinstance(self._commands[0], _REQUESTS):
            del self._commands[0]
