"""A file that was read, as it is shown."""

from dataclasses import dataclass
from pathlib import Path

from .generations import Take
from .reader import Trace


@dataclass(frozen=True, slots=True)
class Opened:
    """One recording."""

    path: Path
    """Of unknown origin."""
    trace: Trace
    takes: tuple[Take, ...]
    """At least one."""
    first: int = 0
    """Which of them is shown first, from 0."""

    @property
    def name(self) -> str:
        """Of the file; of unknown origin."""
        return self.path.name

    @property
    def text(self) -> bool:
        """Whether prompts and answers are in it."""
        return self.trace.header is None or self.trace.header.text

    @property
    def notes(self) -> tuple[str, ...]:
        """What is not as it should be."""
        return self.trace.notes

    @property
    def told(self) -> str:
        """What is replayed, in a few words; of unknown origin."""
        header = self.trace.header
        parts = [f"from {self.name}"]
        if not self.text:
            parts.insert(0, "text left out, ▯ is a token")
        if header is not None and header.recorded:
            parts.append(header.recorded[:10])
        return " · ".join(parts)
