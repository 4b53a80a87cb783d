"""The text that all lanes have scored, as one lane sees it beside the reference."""

import codecs
import math
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property

import numpy as np

from ...backends.events import Token
from ...backends.token_facts import Probability
from ...comparison.lane import Lane
from ...metrics.divergence import Divergence
from ..conversation.fragment import Fragment
from ..conversation.marks import pack_scored
from ..conversation.turns import Marks


class ScoredText:
    """Every token of the common text with what was thought of it; positions count from 0.

    A snapshot: what is scored later belongs into another one.
    """

    def __init__(self, scores: Divergence, reference: Divergence | None, pieces: Mapping[int, bytes]) -> None:
        """``reference``: ``None`` where the lane is the reference itself. ``pieces``: bytes by token id."""
        self._tokens = scores.tokens
        self._pieces = pieces
        self.compared = reference is not None and len(scores.kld) > 0
        """Whether there are divergences."""
        self.count = scores.count
        """Tokens scored."""
        self.prompt_tokens = scores.prompt_tokens
        self.given = scores.prompt_tokens >= len(scores.tokens)
        """Whether the text was given, and is no prompt with its answer."""
        self.own = [scores.probability(position) for position in range(self.token_count)]
        """What the lane thought of each token; ``None`` where it was not scored."""
        self.reference: list[Probability | None] = [None] * self.token_count
        if reference is not None:
            self.reference = [reference.probability(position) for position in range(self.token_count)]
        self.kld = np.full(self.token_count, np.nan)
        """KL divergence of each token, nats, shape (n,); NaN where it is not compared."""
        if self.compared:
            self.kld[scores.positions[: len(scores.kld)]] = scores.kld

    @property
    def token_count(self) -> int:
        """Tokens of the whole text."""
        return len(self._tokens)

    def id(self, position: int) -> int:
        """Vocabulary id."""
        return self._tokens[position]

    def piece(self, position: int) -> bytes:
        """The token's bytes; its id in words where they are not known."""
        id = self._tokens[position]
        piece = self._pieces.get(id)
        return f"⟨{id}⟩".encode() if piece is None else piece

    def divergence(self, position: int) -> float | None:
        """Return the KL divergence at a position, nats; ``None`` where it is not compared."""
        value = float(self.kld[position])
        return None if math.isnan(value) else value

    def same_top(self, position: int) -> bool | None:
        """Whether both find the same token likeliest; ``None`` where that is not known."""
        own, other = self.own[position], self.reference[position]
        if own is None or other is None or not own.top or not other.top:
            return None
        return own.top[0].id == other.top[0].id

    @property
    def begin(self) -> int:
        """The position at which a reader begins: where the answer does, and where the text is scored."""
        return min(1 if self.given else self.prompt_tokens, self.token_count - 1)

    @cached_property
    def share_of_same_top(self) -> float | None:
        """Of the tokens scored by both, how often both find the same one likeliest."""
        known = [same for position in range(self.token_count) if (same := self.same_top(position)) is not None]
        return sum(known) / len(known) if known else None

    @cached_property
    def mean_kld(self) -> float | None:
        """Mean KL divergence, nats."""
        compared = self.kld[~np.isnan(self.kld)]
        return float(compared.mean()) if len(compared) else None

    @cached_property
    def marks(self) -> Marks:
        """What the lenses know of each token, shape (n,)."""
        return pack_scored(
            self.kld,
            [self.same_top(position) is False for position in range(self.token_count)],
            [math.nan if facts is None else facts.logprob for facts in self.own],
            [math.nan if facts is None else facts.entropy_nats for facts in self.own],
        )

    def fragments(self) -> tuple[list[Fragment], list[Fragment]]:
        """Return the prompt and the answer as text to be drawn; a given text is all answer."""
        readable = list(self._readable())
        first = 0 if self.given else self.prompt_tokens
        return (
            [fragment for fragment in readable if fragment.index <= first],
            [fragment for fragment in readable if fragment.index > first],
        )

    def _readable(self) -> Iterator[Fragment]:
        # A token may hold part of a character: its text comes with the one that completes it.
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        marks = self.marks.tolist()
        for position in range(self.token_count):
            last = position + 1 in (self.token_count, self.prompt_tokens)
            if text := decoder.decode(self.piece(position), final=last):
                yield Fragment(position + 1, text, marks[position])


def known_pieces(lanes: Iterable[Lane]) -> dict[int, bytes]:
    """Return the bytes of all tokens that lanes of one vocabulary have told of, by id."""
    pieces: dict[int, bytes] = {}
    for lane in lanes:
        for round in lane.rounds:
            pieces |= {event.id: event.piece for event in round.events if isinstance(event, Token) and event.piece}
        if lane.scores is not None:
            pieces |= lane.scores.pieces
    return pieces
