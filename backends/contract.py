"""The contract of everything that generates."""

from typing import Protocol, runtime_checkable

from .events import Event
from .requests import MeasureRequest, Request, ScoreRequest


class Backend(Protocol):
    """A source of events, one generation at a time.

    Events come in the order in which they happened. Nothing is computed on the reader's side and nothing waits for the
    reader: a backend goes on generating when nobody reads.
    """

    def fileno(self) -> int:
        """A descriptor that is readable whenever ``receive`` would return something; for ``select`` and ``asyncio``.

        It may change after ``receive``.
        """
        ...

    def receive(self, timeout: float | None = 0.0) -> list[Event]:
        """Return all events that have arrived.

        Waits up to ``timeout`` seconds for the first one (``None``: without end). An empty list means that nothing came
        in time. When the engine dies and none can take its place, exactly one ``Failed`` of stage ``engine`` (``load``
        before the model was ready) says why. After the last event ``closed`` is true and the list is always empty.
        """
        ...

    @property
    def closed(self) -> bool:
        """True once no further event can come."""
        ...

    def generate(self, request: Request) -> None:
        """Ask for a generation; ends in exactly one ``Finished`` or ``Failed``. Requests are served in turn."""
        ...

    def tokenize(self, text: str) -> None:
        """Ask for the tokens of a text to be scored; ends in exactly one ``Tokenized`` or ``Failed``."""
        ...

    def score(self, request: ScoreRequest) -> None:
        """Ask for a stretch of a text to be scored; ends in exactly one ``Scored``, ``Finished`` or ``Failed``."""
        ...

    def measure(self, request: MeasureRequest) -> None:
        """Ask for a measurement; ends in exactly one ``Measured``, ``Finished`` or ``Failed``."""
        ...

    def cancel(self) -> None:
        """End what was asked for so far: prefill at once, decode at the next token. Harmless when nothing runs."""
        ...

    def probabilities(self, on: bool) -> None:
        """Compute probability facts from the next token on, or no longer, for what was asked for so far.

        Later requests say it for themselves (``Request.probabilities``). Harmless when nothing runs.
        """
        ...

    def close(self) -> None:
        """End the engine and free what it holds, within two seconds. Harmless when repeated."""
        ...


@runtime_checkable
class LocalEngine(Protocol):
    """What a backend tells besides when its engine is a process of this machine."""

    @property
    def pid(self) -> int:
        """Process id of the engine."""
        ...
