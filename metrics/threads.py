"""How long an engine used fewer threads because other programs used its cores."""

import msgspec
import numpy as np

from ..backends.events import ThreadsChanged
from . import numbers
from .series import Int64Array


class FewerThreads(msgspec.Struct, frozen=True):
    """The fewest threads of a run, and for how long it had fewer than all."""

    fewest: int
    most: int
    """Threads on a quiet machine."""
    tokens: int
    """Tokens decoded with fewer than ``most``."""

    @property
    def sentence(self) -> str:
        """The same in words: ``1 of 2 threads for 80 tokens: another program used a core``."""
        return (
            f"{self.fewest} of {self.most} threads for {numbers.counted(self.tokens, 'token')}: "
            "another program used a core"
        )


class ThreadChanges:
    """The changes of the number of threads in one run."""

    def __init__(self) -> None:
        self._changes: list[ThreadsChanged] = []

    def append(self, change: ThreadsChanged) -> None:
        """Take in the next change."""
        self._changes.append(change)

    def placed(self, token_times: Int64Array) -> list[tuple[int, ThreadsChanged]]:
        """Return each change and how many tokens came before it; ``token_times``: ns, shape (n,)."""
        return [(int(np.searchsorted(token_times, change.t)), change) for change in self._changes]

    def fewer(self, token_times: Int64Array) -> FewerThreads | None:
        """Sum the changes up; ``None``: no token was decoded with fewer threads."""
        if not self._changes:
            return None
        counts = [self._changes[0].before, *(change.after for change in self._changes)]
        begins = [0, *(before for before, _ in self.placed(token_times))]
        ends = [*begins[1:], len(token_times)]
        most = max(counts)
        tokens = sum(end - begin for count, begin, end in zip(counts, begins, ends, strict=True) if count < most)
        return FewerThreads(min(counts), most, tokens) if tokens else None
