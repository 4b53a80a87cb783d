"""Who says what, and which token wrote which characters."""

from array import array
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from enum import Enum

import numpy as np
import numpy.typing as npt

THINKING = 4
"""Flag beside the tint in a character's style number."""


class Speaker(Enum):
    """Whose text it is."""

    USER = "user"
    MODEL = "model"
    NOTE = "note"


class Turn:
    """One speaker's text; for an answer also its tokens, in flat arrays."""

    def __init__(self, speaker: Speaker) -> None:
        self.speaker = speaker
        self.length = 0
        """Characters so far."""
        self._ends = array("I")
        self._tokens = array("I")
        self._styles = array("B")

    def mark(self, characters: int, token: int, tint: int, thinking: bool) -> None:
        """Say that the next ``characters`` are of one token (index from 1), before they are added to the document."""
        end = (self._ends[-1] if self._ends else 0) + characters
        self._ends.append(end)
        self._tokens.append(token)
        self._styles.append(tint | THINKING if thinking else tint)

    def runs(self, start: int, end: int) -> Iterator[tuple[int, int]]:
        """Yield (end, style number) of each run of equally styled characters in ``start``…``end``."""
        position = bisect_right(self._ends, start)
        last = len(self._ends)
        while position < last and self._ends[position] < end:
            style = self._styles[position]
            while position + 1 < last and self._styles[position + 1] == style and self._ends[position] < end:
                position += 1
            if self._ends[position] >= end:
                break
            yield self._ends[position], style
            position += 1
        yield end, self._styles[position] if position < last else 0

    def is_thinking(self, offset: int) -> bool:
        """Whether the character at ``offset`` is reasoning; at the end of the text, whether the last one is."""
        position = min(bisect_right(self._ends, offset), len(self._ends) - 1)
        return position >= 0 and bool(self._styles[position] & THINKING)

    def retint(self, classes: npt.NDArray[np.int8] | Sequence[int]) -> None:
        """Give each token a new tint: ``classes[index - 1]``; tokens beyond its end become ordinary."""
        if not self._ends:
            return
        given = np.asarray(classes, dtype=np.uint8)
        tokens = np.frombuffer(self._tokens, dtype=np.uint32)
        padded = np.zeros(max(int(tokens.max()), len(given)), dtype=np.uint8)
        padded[: len(given)] = given
        thinking = np.frombuffer(self._styles, dtype=np.uint8) & THINKING
        self._styles = array("B", (padded[tokens - 1] | thinking).tobytes())
