"""How long a token takes when nothing disturbs it, followed while tokens come."""

from bisect import bisect_left, insort
from collections import deque
from collections.abc import Sequence

import numpy as np

from .series import Int64Array

WINDOW = 128
"""Tokens looked back on: short enough to follow the slow growth of the context, long enough to outvote a burst."""

FEWEST = 8
"""Gaps needed before anything is said."""


class Baseline:
    """The undisturbed time of a token, at constant cost per token.

    The lower quartile, over the last ``WINDOW`` tokens, of (gap − wait), where wait is the longest time that any of the
    engine's threads could have gone on and had no core. The threads wait for each other, so at least that much was
    lost, and the difference is never less than the undisturbed time. The quartile lies where few waits came in turns,
    so it holds even when every token was disturbed. Where waits are not known they count as 0, and it holds while a
    quarter of the tokens was left alone.
    """

    def __init__(self) -> None:
        self._recent: deque[int] = deque()
        self._sorted: list[int] = []

    def add(self, gap: int, wait: int | None = None) -> int | None:
        """Take the next gap and the wait in it (``None``: not known), ns.

        Returns the baseline with this gap counted in; ``None`` below ``FEWEST`` gaps.
        """
        value = max(gap - (wait or 0), 0)
        if len(self._recent) == WINDOW:
            del self._sorted[bisect_left(self._sorted, self._recent.popleft())]
        self._recent.append(value)
        insort(self._sorted, value)
        count = len(self._sorted)
        return self._sorted[count // 4] if count >= FEWEST else None


def quartile(values: Sequence[int]) -> int:
    """Return the lower quartile of the last ``WINDOW`` values or fewer, at least one, as ``Baseline`` has it."""
    return sorted(values)[len(values) // 4]


_ROWS = 4096
"""Windows looked at in one go, some megabytes."""


def baselines(values: Int64Array) -> Int64Array:
    """Return what ``Baseline.add`` returns for each of many values, shape (n,); 0 for those below ``FEWEST``.

    ``values``: what counts of each gap, gap − wait or 0 at least; shape (n,).
    """
    found = np.zeros(len(values), dtype=np.int64)
    followed = Baseline()
    for position, value in enumerate(values[: WINDOW - 1].tolist()):
        found[position] = followed.add(value) or 0
    if len(values) >= WINDOW:
        windows = np.lib.stride_tricks.sliding_window_view(values, WINDOW)
        for first in range(0, len(windows), _ROWS):
            part = windows[first : first + _ROWS]
            place = WINDOW - 1 + first
            found[place : place + len(part)] = np.partition(part, WINDOW // 4, axis=1)[:, WINDOW // 4]
    return found


def baseline_at(values: Int64Array, position: int) -> int | None:
    """Return what ``Baseline.add`` returns for the value at ``position`` (from 0) of many."""
    window = np.sort(values[max(0, position + 1 - WINDOW) : position + 1])
    return int(window[len(window) // 4]) if len(window) >= FEWEST else None
