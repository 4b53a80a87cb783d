"""Which lane scores which stretch of the common text."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import msgspec

from ..backends.requests import ScoreRequest
from ..backends.scoring import exchange_bytes, stretch_rows
from ..metrics.divergence import Divergence
from ..models.facts import ModelFile
from .exchange import ExchangeFile, NoRoomError
from .lane import Lane, LanePhase
from .text import Chunk, chunks, stretches

_LARGE_VOCABULARY = 2**18
"""Tokens; assumed where a header does not say how many there are."""

OpenExchange = Callable[..., ExchangeFile]


@dataclass(frozen=True, slots=True)
class CommonText:
    """What all lanes score."""

    tokens: tuple[int, ...]
    prompt_tokens: int
    """How many of them are the prompt; all, for a given text."""
    bos: int | None
    """What every chunk begins with, where the text is longer than the context."""
    of: str
    """What it is, in words."""


@dataclass(frozen=True, slots=True)
class Job:
    """A stretch for one lane."""

    lane: int
    request: ScoreRequest


class Stretches:
    """Hands out the stretches, in order.

    While all lanes are loaded, each stretch goes to the reference and then to the others, through an exchange file of
    one stretch. In turn, the reference scores the whole text into the file before the next lane is loaded.
    """

    def __init__(
        self,
        text: CommonText,
        lanes: Sequence[Lane],
        reference: ModelFile,
        *,
        in_turn: bool,
        open_exchange: OpenExchange = ExchangeFile,
    ) -> None:
        """``lanes``: those that can be scored, the reference first; each gets its ``scores``."""
        models = [lane.model for lane in lanes if lane.model is not None]
        context = min(model.context for model in models)
        vocabulary = reference.vocabulary or _LARGE_VOCABULARY
        self._rows = stretch_rows(vocabulary, min(model.micro_batch for model in models))
        self._chunks = chunks(text.tokens, context, text.bos)
        self.total = sum(chunk.count for chunk in self._chunks)
        """How many positions each lane scores."""
        self._lanes = list(lanes)
        self._in_turn = in_turn
        self._exchange: ExchangeFile | None = None
        self._out: set[int] = set()
        for lane in lanes:
            lane.scores, lane.scores_note, lane.fraction = Divergence(text.tokens, text.prompt_tokens), "", 0.0
        lanes[0].scores_note = _described(text, self._chunks, self.total, context)
        if len(lanes) > 1 and self.total:
            rows = self.total if in_turn else min(self._rows, self.total)
            try:
                self._exchange = open_exchange(exchange_bytes(rows, vocabulary), spooled=in_turn)
            except NoRoomError as error:
                for lane in lanes[1:]:
                    lane.scores_note = f"no KL divergence: {error}"
        self._jobs = self._all_jobs()

    def next(self) -> Job | None:
        """Return what is to be done next; ``None`` when all is done."""
        return next(self._jobs, None)

    def leave_out(self, lane: Lane, why: str) -> None:
        """Score ``lane`` no further; without the reference nothing is compared any more."""
        if all(lane is not one for one in self._lanes):
            return
        self._out.add(lane.number)
        lane.scores_note = why
        if lane is self._lanes[0]:
            for other in self._lanes[1:]:
                if other.number not in self._out and not self._complete(other):
                    self._out.add(other.number)
                    other.scores_note = "the reference did not score all of the text"

    def end(self) -> None:
        """Say of each lane what it has not scored, and remove the file."""
        for lane in self._lanes:
            if not self._complete(lane) and lane.number not in self._out and self.total:
                scored = 0 if lane.scores is None else lane.scores.count
                lane.scores_note = f"scored {scored:,} of {self.total:,} tokens"
        self.close()

    def close(self) -> None:
        """Remove the file. Harmless when repeated."""
        if self._exchange is not None:
            self._exchange.close()

    def fraction(self, lane: Lane) -> float:
        """How much of the text ``lane`` has scored, 0 to 1."""
        return lane.scores.count / self.total if lane.scores is not None and self.total else 1.0

    def _complete(self, lane: Lane) -> bool:
        return lane.scores is not None and lane.scores.count == self.total

    def _all_jobs(self) -> Iterator[Job]:
        if self._in_turn:
            yield from (job for lane in self._lanes for job in self._of_lanes([lane]))
        else:
            yield from self._of_lanes(self._lanes)

    def _of_lanes(self, lanes: Sequence[Lane]) -> Iterator[Job]:
        done = 0
        for chunk in self._chunks:
            for stretch in stretches(chunk, self._rows):
                for lane in lanes:
                    if lane.number not in self._out and lane.phase is not LanePhase.FAILED:
                        yield Job(lane.number, self._asked(stretch, lane, done if self._in_turn else 0))
                done += len(stretch.tokens) - stretch.first

    def _asked(self, stretch: ScoreRequest, lane: Lane, row: int) -> ScoreRequest:
        if self._exchange is None:
            return stretch
        return msgspec.structs.replace(
            stretch,
            exchange=self._exchange.path,
            role="reference" if lane is self._lanes[0] else "compared",
            row=row,
        )


def _described(text: CommonText, parts: Sequence[Chunk], total: int, context: int) -> str:
    if not parts:
        return "the text is too short to be scored"
    said = f"scored on {text.of}, {total:,} tokens"
    if len(text.tokens) > context:
        said += f": of {len(parts):,} chunks of {context:,} the second halves"
    return said
