"""The common text, cut into what models score at once.

A text that fits into the context is scored at every position but the first. A longer one is scored as
``llama-perplexity`` does: in chunks of the context's size that know nothing of each other, each beginning with BOS
where the vocabulary wants one, and of each only the second half counts, where every token has at least half a context
before it. What is left at the end is dropped.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ..backends.requests import ScoreRequest


@dataclass(frozen=True, slots=True)
class Chunk:
    """A part of the text that fits into the context."""

    tokens: tuple[int, ...]
    first: int
    """Position in ``tokens`` of the first one that is scored; all after it are."""
    start: int
    """Position in the whole text of the first of ``tokens``."""

    @property
    def count(self) -> int:
        """How many positions are scored."""
        return len(self.tokens) - self.first


def chunks(tokens: Sequence[int], context: int, bos: int | None) -> list[Chunk]:
    """Return the chunks of a text; none when there is nothing to score: a text, or a context, of too few tokens.

    ``context``: the smallest among all models, tokens. ``bos``: what a chunk has to begin with (``Tokenized.bos``).
    """
    if len(tokens) <= context:
        return [Chunk(tuple(tokens), 1, 0)] if len(tokens) > 1 else []
    first = context // 2 + 1
    if first >= context:
        return []
    opening = () if bos is None else (bos,)
    return [
        Chunk(opening + tuple(tokens[start + len(opening) : start + context]), first, start)
        for start in range(0, len(tokens) - context + 1, context)
    ]


def stretches(chunk: Chunk, rows: int) -> Iterator[ScoreRequest]:
    """Yield the requests that score a chunk in order, at most ``rows`` positions each (``scoring.stretch_rows``).

    The exchange is left to be filled in: ``exchange``, ``role`` and ``row``.
    """
    for first in range(chunk.first, len(chunk.tokens), rows):
        yield ScoreRequest(tokens=chunk.tokens[: first + rows], first=first, start=chunk.start)
