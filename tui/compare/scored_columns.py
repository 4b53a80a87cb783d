"""What stands in a row of the table of a scored text, and where."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

from ...metrics import numbers
from ..conversation.marks import degree
from ..conversation.tints import TINTS
from ..inspection import bits
from ..lens import Lens
from ..token_text import fitted, token_sign
from .scored_text import ScoredText

_CURSOR = "▸"
_INDEX_CELLS = 6
_ID_CELLS = 7
_KLD_CELLS = 7
_MARK_CELLS = 3
_TOP_CELLS = 5
_CHANCE_CELLS = 8
_RANK_CELLS = 6
_ENTROPY_CELLS = 4
_FIXED_CELLS = (
    2 + _INDEX_CELLS + sum(1 + cells for cells in (_KLD_CELLS, _MARK_CELLS, _TOP_CELLS, _CHANCE_CELLS, _CHANCE_CELLS))
)
_LONGEST_TOKEN = 32
_FEWEST_TOKEN_CELLS = 12


def reasons() -> Iterator[tuple[str, str]]:
    """Yield (name of a column, why a token may have no value in it)."""
    compared = "This needs the reference to compare with: this lane is it, or it has not scored the token yet."
    scored = "The token was not scored: no text or too little precedes it, or it has not been reached yet."
    for column in ("KLD", "top", "in ref."):
        yield column, compared
    for column in ("chance", "rank", "bits"):
        yield column, scored


@dataclass(frozen=True, slots=True)
class ScoredColumns:
    """Cells per column; 0 leaves it out."""

    token: int
    rank: int
    entropy: int
    id: int

    @classmethod
    def fitting(cls, width: int) -> "ScoredColumns":
        """Return the columns for a table of ``width`` cells: divergence and chances first, then rank, entropy, id."""
        rest = width - _FIXED_CELLS
        kept = []
        for cells in (_RANK_CELLS, _ENTROPY_CELLS, _ID_CELLS):
            kept.append(cells if rest >= 1 + cells + _FEWEST_TOKEN_CELLS else 0)
            rest -= 1 + cells if kept[-1] else 0
        return cls(min(max(1, rest), _LONGEST_TOKEN), *kept)

    @property
    def used(self) -> int:
        """Cells of all columns together."""
        return _FIXED_CELLS + self.token + sum(1 + cells for cells in (self.rank, self.entropy, self.id) if cells)

    def _marked(self, lens: Lens) -> Lens:
        """Beside which column the marks stand: the lens's own, where it is there."""
        return lens if lens is Lens.PROBABILITY or (lens is Lens.ENTROPY and self.entropy) else Lens.DIVERGENCE

    def header(self, lens: Lens) -> str:
        """Return the names of the columns."""
        mark = {self._marked(lens): f" {'':{_MARK_CELLS}}"}
        parts = [f" {'#':>{_INDEX_CELLS}} ", fitted("token", self.token)]
        if self.id:
            parts.append(f" {'id':>{self.id}}")
        parts.append(f" {'KLD':>{_KLD_CELLS}}{mark.get(Lens.DIVERGENCE, '')} {'top':<{_TOP_CELLS}}")
        parts.append(f" {'chance':>{_CHANCE_CELLS}}{mark.get(Lens.PROBABILITY, '')} {'in ref.':>{_CHANCE_CELLS}}")
        if self.rank:
            parts.append(f" {'rank':>{self.rank}}")
        if self.entropy:
            parts.append(f" {'bits':>{self.entropy}}{mark.get(Lens.ENTROPY, '')}")
        return "".join(parts)

    def cells(self, text: ScoredText, row: int, lens: Lens, *, chosen: bool) -> Iterator[tuple[str, str]]:
        """Yield (text, role) from left to right; the role is the name of a tint, ``quiet`` or empty for plain text.

        ``row`` counts from 0; ``chosen``: the cursor is on it.
        """
        departs = degree(int(text.marks[row]), lens)
        told = TINTS[departs - 1].name if departs else ""
        mark = f" {TINTS[departs - 1].mark if departs else '':<{_MARK_CELLS}}"
        marked = self._marked(lens)
        own, reference, same = text.own[row], text.reference[row], text.same_top(row)
        prompt = row < text.prompt_tokens and not text.given

        yield f"{_CURSOR if chosen else ' '}{row + 1:>{_INDEX_CELLS}} ", ""
        yield fitted(token_sign(text.piece(row)), self.token), told or ("quiet" if prompt else "")
        if self.id:
            yield f" {text.id(row):>{self.id}}", ""
        yield f" {numbers.nats(text.divergence(row)):>{_KLD_CELLS}}", told if lens is Lens.DIVERGENCE else ""
        if marked is Lens.DIVERGENCE:
            yield mark, told
        yield f" {numbers.MISSING if same is None else 'same' if same else 'other':<{_TOP_CELLS}}", ""
        chance = numbers.percent(None if own is None else math.exp(own.logprob))
        yield f" {chance:>{_CHANCE_CELLS}}", told if lens is Lens.PROBABILITY else ""
        if marked is Lens.PROBABILITY:
            yield mark, told
        yield f" {numbers.percent(None if reference is None else math.exp(reference.logprob)):>{_CHANCE_CELLS}}", ""
        if self.rank:
            yield f" {numbers.count(None if own is None else own.rank):>{self.rank}}", ""
        if self.entropy:
            entropy = numbers.MISSING if own is None else f"{bits(own.entropy_nats):.1f}"
            yield f" {entropy:>{self.entropy}}", told if lens is Lens.ENTROPY else ""
            if marked is Lens.ENTROPY:
                yield mark, told
