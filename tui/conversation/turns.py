"""Who says what, and which token wrote which characters."""

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from enum import Enum
from itertools import accumulate, islice

import numpy as np
import numpy.typing as npt

from .fragment import Fragment

Marks = npt.NDArray[np.uint8]
"""What all lenses know of each token, as ``marks`` packs it."""


class Speaker(Enum):
    """Whose text it is."""

    USER = "user"
    REASONING = "reasoning"
    """The model's reasoning."""
    CHANNEL = "channel"
    """A message of the model to another recipient, such as a function."""
    MODEL = "model"
    NOTE = "note"
    PROMPT = "prompt"
    """What a model was given to read, as tokens."""


WRITTEN = frozenset({Speaker.REASONING, Speaker.CHANNEL, Speaker.MODEL, Speaker.PROMPT})
"""What consists of tokens."""


class Turn:
    """One speaker's text; for what a model wrote also its tokens, in flat arrays."""

    def __init__(self, speaker: Speaker, *, folded: bool = False) -> None:
        self.speaker = speaker
        self.folded = folded
        """Whether the turn is shown in one row."""
        self.words = ""
        """What that row says."""
        self.length = 0
        """Characters so far."""
        self._ends = array("I")
        self._tokens = array("I")
        self._marks = array("B")

    def mark(self, fragments: Sequence[Fragment]) -> None:
        """Say whose the next characters are, before they are added to the document."""
        end = self._ends[-1] if self._ends else 0
        lengths = [len(fragment.text) for fragment in fragments]
        self._ends.extend(islice(accumulate(lengths, initial=end), 1, None))
        self._tokens.extend([fragment.index for fragment in fragments])
        self._marks.extend([fragment.marks for fragment in fragments])

    def split(self, offset: int) -> "Turn":
        """Keep the tokens before the character ``offset``, where a token begins, and return a turn of the others.

        Both are in no document then, each to be added to one with its text.
        """
        first = bisect_right(self._ends, offset)
        rest = Turn(self.speaker, folded=self.folded)
        rest.words = self.words
        rest._ends = array("I", [end - offset for end in self._ends[first:]])
        rest._tokens, rest._marks = self._tokens[first:], self._marks[first:]
        del self._ends[first:], self._tokens[first:], self._marks[first:]
        return rest

    @property
    def first_token(self) -> int | None:
        """Index of the first token with text."""
        return self._tokens[0] if self._tokens else None

    def token_at(self, offset: int) -> int | None:
        """Return the index of the token that wrote the character at ``offset``; at the end of the text, the last."""
        if not self._tokens:
            return None
        return self._tokens[min(bisect_right(self._ends, offset), len(self._ends) - 1)]

    def span_of(self, token: int) -> tuple[int, int]:
        """Return (start, end) of a token's characters.

        A token without text of its own, such as the first half of a character, has that of the next one; beyond the
        text the span is empty.
        """
        first = bisect_left(self._tokens, token)
        start = self._ends[first - 1] if first else 0
        if first == len(self._tokens):
            return start, start
        return start, self._ends[bisect_right(self._tokens, self._tokens[first]) - 1]

    def runs(self, start: int, end: int, looks: Sequence[int]) -> Iterator[tuple[int, int]]:
        """Yield (end, look) of each run of characters in ``start``…``end`` that look the same: ``looks[marks]``."""
        position = bisect_right(self._ends, start)
        last = len(self._ends)
        while position < last and self._ends[position] < end:
            look = looks[self._marks[position]]
            while position + 1 < last and looks[self._marks[position + 1]] == look and self._ends[position] < end:
                position += 1
            if self._ends[position] >= end:
                break
            yield self._ends[position], look
            position += 1
        yield end, looks[self._marks[position] if position < last else 0]

    def mark_again(self, marks: Marks) -> None:
        """Give each token new marks: ``marks[index - 1]``; tokens beyond its end become ordinary."""
        if not self._ends:
            return
        tokens = np.frombuffer(self._tokens, dtype=np.uint32)
        padded = np.zeros(max(int(tokens.max()), len(marks)), dtype=np.uint8)
        padded[: len(marks)] = marks
        self._marks = array("B", padded[tokens - 1].tobytes())
