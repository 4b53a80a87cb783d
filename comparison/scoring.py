"""Scoring a text that all lanes have in common: what it is, who can score it, and whose turn it is."""

from collections.abc import Sequence

from ..backends.contract import Backend
from ..backends.events import Failed, Finished, Scored, Tokenized
from ..backends.launch import Source
from ..models.facts import ModelFile
from .exchange import ExchangeFile
from .lane import Lane, LanePhase
from .stretching import CommonText, Job, OpenExchange, Stretches
from .vocabularies import difference


class Scorers:
    """Asks one lane after the other, until all have scored all they can; begun anew after it was stopped before."""

    def __init__(self, lanes: Sequence[Lane], text: str | None, open_exchange: OpenExchange = ExchangeFile) -> None:
        """``text``: what is scored; ``None``: the reference's prompt and answer."""
        self.asked: int | None = None
        """The lane whose engine owes an answer."""
        self._lanes = lanes
        self._given = text
        self._open_exchange = open_exchange
        self._text: CommonText | None = None
        self._stretches: Stretches | None = None
        self._job: Job | None = None
        self._done = False

    def next(self, sources: Sequence[Source | None], *, in_turn: bool) -> Lane | None:
        """Return the lane to be asked next, which has to be loaded for it; ``None`` when there is nothing to ask."""
        if self._done:
            return None
        if self._stretches is None:
            lanes = scorable(self._lanes, sources)
            reference = sources[0]
            if not lanes or not isinstance(reference, ModelFile):
                self._done = True
                return None
            if self._text is None and self._given is not None:
                return lanes[0]
            text = self._text or common_text(lanes[0])
            if text is None:
                _note(lanes, "not scored: the reference gave no answer")
                self._done = True
                return None
            self._stretches = Stretches(text, lanes, reference, in_turn=in_turn, open_exchange=self._open_exchange)
        if self._job is None or self._lanes[self._job.lane].phase is LanePhase.FAILED:
            self._job = self._stretches.next()
        if self._job is None:
            self._stretches.end()
            self._done = True
            return None
        return self._lanes[self._job.lane]

    def ask(self, engine: Backend) -> None:
        """Ask the engine of the lane that ``next`` returned."""
        if self._job is None:
            self.asked = 0
            engine.tokenize(self._given or "")
        else:
            self.asked = self._job.lane
            engine.score(self._job.request)
        self._lanes[self.asked].phase = LanePhase.SCORING

    def answered(self, event: Finished | Scored | Tokenized | Failed) -> None:
        """Take in what the engine that was asked has answered, after the lane has."""
        if self.asked is None:
            raise AssertionError("an answer that nobody asked for")
        lane = self._lanes[self.asked]
        self.asked, self._job = None, None
        if isinstance(event, Tokenized):
            self._text = CommonText(event.tokens, len(event.tokens), event.bos, "the given text")
        elif isinstance(event, Scored) and self._stretches is not None:
            lane.fraction = self._stretches.fraction(lane)
            if lane.fraction < 1:  # it goes on when its turn comes
                return
        elif isinstance(event, Failed):
            why = f"not scored: {event.what} {event.reason}".strip()
            if self._stretches is None:
                _note(self._lanes, why)
                self._done = True
            else:
                self._stretches.leave_out(lane, why)
        lane.phase = LanePhase.WAITING

    def lost(self, lane: Lane) -> None:
        """Go on without a lane that has failed."""
        if self.asked == lane.number:
            self.asked, self._job = None, None
        if self._stretches is not None and not self._done:
            self._stretches.leave_out(lane, "not all scored: it failed")

    def stop(self) -> None:
        """End it, where it is not complete; what was scored stays. Harmless when repeated."""
        self.asked, self._job = None, None
        if self._stretches is not None:
            self._stretches.end()
            self._stretches = None


def scorable(lanes: Sequence[Lane], sources: Sequence[Source | None]) -> list[Lane]:
    """Return the lanes that can score the reference's text, the reference first; the others are told why not.

    None can when the reference itself cannot.
    """
    reference, source = lanes[0], sources[0]
    if reference.phase is LanePhase.FAILED:
        _note(lanes[1:], "not scored: the reference failed")
        return []
    if not isinstance(source, ModelFile):
        _note(lanes, "not scored: the reference is a script, which has no model")
        return []
    found = []
    for lane, own in zip(lanes, sources, strict=True):
        if lane.phase is LanePhase.FAILED:
            continue
        if not isinstance(own, ModelFile):
            lane.scores_note = "not scored: a script has no model"
        elif words := difference(source, own):
            lane.scores_note = f"not scored: {words}"
        else:
            found.append(lane)
    return found


def common_text(reference: Lane) -> CommonText | None:
    """Return the reference's prompt and first whole answer; ``None`` when it gave none."""
    run = next(
        (one.run for one in reference.rounds if one.run.finish_reason not in (None, "failed", "cancelled")), None
    )
    if run is None or run.prompt is None:
        return None
    answer = tuple(int(token) for token in run.token_ids)
    return CommonText(
        run.prompt.tokens + answer, len(run.prompt.tokens), None, "the prompt and the first answer of the reference"
    )


def _note(lanes: Sequence[Lane], why: str) -> None:
    for lane in lanes:
        lane.scores_note = why
