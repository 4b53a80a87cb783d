"""How long an engine used fewer threads because other programs used its cores."""

from collections.abc import Sequence

import msgspec

from ..backends.events import ThreadsChanged
from . import numbers


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


def fewer_threads(changes: Sequence[tuple[int, ThreadsChanged]], tokens: int) -> FewerThreads | None:
    """Sum up the changes, each with how many of the run's ``tokens`` came before it; ``None``: never fewer."""
    if not changes:
        return None
    counts = [changes[0][1].before, *(change.after for _, change in changes)]
    begins = [0, *(before for before, _ in changes)]
    ends = [*begins[1:], tokens]
    most = max(counts)
    fewer = sum(end - begin for count, begin, end in zip(counts, begins, ends, strict=True) if count < most)
    return FewerThreads(min(counts), most, fewer) if min(counts) < most and fewer else None
