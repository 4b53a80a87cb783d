"""A recording that never disturbs what it records."""

from collections.abc import Callable, Iterable
from typing import Any

from .header import new_header
from .memory import Written
from .no_text import settings_without_text
from .versions import ONE_ENGINE
from .writer import TraceWriter, encoded


class Recording:
    """Writes what is received to a file; what goes wrong with it ends the recording and nothing else."""

    def __init__(self, writer: TraceWriter, settings: dict[str, Any], *, text: bool, format: int = ONE_ENGINE) -> None:
        """``settings``: as ``settings.described``; ``text``: with what is asked and answered."""
        self.text = text
        self._writer: TraceWriter | None = writer
        self._path = writer.path
        self._problem: str | None = None
        self.broken = False
        """Whether it ended before what is recorded did."""
        header = new_header(settings if text else settings_without_text(settings), text=text, format=format)
        self._attempt(lambda: writer.begin(header))

    def take(self, records: Iterable[Written]) -> None:
        """Write what was received; never raises."""
        if (writer := self._writer) is not None:
            self._attempt(lambda: writer.write(encoded(records, text=self.text)))

    def close(self) -> None:
        """End the file; never raises. Harmless when repeated."""
        if (writer := self._writer) is not None:
            self._attempt(writer.close)
            self._writer = None

    def news(self) -> str | None:
        """Return what went wrong, in a sentence; once."""
        problem, self._problem = self._problem, None
        return problem

    def _attempt(self, write: Callable[[], None]) -> None:
        try:
            write()
        except OSError as error:
            self.broken = True
            reason = error.strerror or str(error)
            self._problem = f"The recording in {self._path} ends here: {reason}. The generation goes on."
            if self._writer is not None:
                self._writer.abandon()
                self._writer = None
