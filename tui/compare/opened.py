"""One lane of a comparison as the single scope, with the text that all lanes have scored."""

from typing import TYPE_CHECKING

from textual.screen import Screen

from ...backends.events import Failed
from ...backends.replay import END, ReplayBackend, ReplayClock
from ...backends.text import visible
from ...comparison.lane import Lane, Round
from ...comparison.rounds import first_difference
from ..lens import OF_A_RUN, Lens
from ..screens.recording import Memory, RecordingScreen

if TYPE_CHECKING:
    from .scored_reading import ScoredReading

_FOLLOW_SECONDS = 0.5
_SCORED = (Lens.PROBABILITY, Lens.ENTROPY)


def open_lane(
    lane: Lane, reference: Lane, *, number: int | None = None, scored: bool = True, memory: Memory | None = None
) -> Screen[None]:
    """Return a screen that shows a round of a lane; to be pushed.

    ``number``: of the round; ``None``: the newest whole one, or the one under way. ``scored``: whether a text is scored
    at all. ``memory``: as for ``RecordingScreen``. The screen is read-only and goes back by esc or q. What the lane
    does while it is open is followed.
    """
    return OpenedLane(lane, reference, number, scored=scored, memory=memory)


class OpenedLane(RecordingScreen):
    """Time through the lane's own answer; what was thought of the common text through the other lenses."""

    def __init__(self, lane: Lane, reference: Lane, number: int | None, *, scored: bool, memory: Memory | None) -> None:
        """As ``open_lane``."""
        self._no_scores = "no text has been scored yet; that comes after the rounds" if scored else "no text is scored"
        self._lane = lane
        self._reference = reference
        self._round = shown_round(lane, number)
        events = [*lane.opening, *(() if self._round is None else self._round.events)]
        if lane.failed is not None and lane.failed not in events:
            events.append(lane.failed)
        self._played = 0 if self._round is None else len(self._round.events)
        self._scored: ScoredReading | None = None
        self._drawn_scores = 0
        self._marked = False
        super().__init__(
            ReplayBackend(events, ReplayClock(END)), lane.plan.source.name, _told(lane, self._round, reference), memory
        )

    async def _begin(self) -> None:
        await super()._begin()
        self._look_for_divergence()
        self.set_interval(_FOLLOW_SECONDS, self._follow)

    def _look_for_divergence(self) -> None:
        """Have the place marked where the lane went its own way."""
        if self._marked or self._lane is self._reference:
            return
        if self._round is None or not self._reference.rounds:
            return
        token = first_difference(self._round.run, self._reference.rounds[0].run)
        if token is not None and self._face.reading is not None:
            self._marked = True
            words = f"── from here on another answer than {visible(self._reference.plan.label)}'s: token {token:,} ──"
            self._face.reading.interrupt_at(token, words)

    def _follow(self) -> None:
        """Take in what the lane and the reference have done since."""
        self._look_for_divergence()
        if self._round is not None:
            new = self._round.events[self._played :]
            if new:
                self._played += len(new)
                self._backend.extend(new)
                self._link.rearm()
        if self._scored is not None and self._face.instead is self._scored:
            self._show_scores(self._scored)

    # Lenses

    def _lenses(self) -> tuple[Lens, ...]:
        scores, run = self._lane.scores, self.session.run
        if scores is not None and scores.count:
            return (Lens.TIME, *([Lens.DIVERGENCE] if len(scores.kld) else []), *_SCORED)
        return OF_A_RUN if run is not None and run.likelihood.known else (Lens.TIME,)

    def action_lens(self) -> None:
        """Tint and tell the tokens by something else: the lane's own, or those of the text that all have scored."""
        view = self._face.view
        if view is None:
            return
        lenses = self._lenses()
        if len(lenses) == 1:
            self._say(f"There is no other lens: {self._lane.scores_note or self._no_scores}.")
        lens = view.lens.following(lenses)
        scores = self._lane.scores
        if lens is Lens.TIME or scores is None or not scores.count:
            self._look_at_own(lens)
        else:
            self.call_next(self._look_at_scored, lens)

    def _look_at_own(self, lens: Lens) -> None:
        if (reading := self._face.reading) is None:
            return
        reading.look_through(lens)
        if self._scored is not None and self._face.instead is not None:
            self._scored.display, reading.display = False, True
            self._face.instead = None
            reading.inspect(self.has_class("-inspects"))
            self.call_after_refresh(reading.take_focus)
        self._face.all()

    async def _look_at_scored(self, lens: Lens) -> None:
        if (reading := self._face.reading) is None:
            return
        if self._scored is None:
            from .scored_reading import ScoredReading

            self._scored = ScoredReading(self._lane.plan.label, self._reference.plan.label)
            await self.query_one("#stage").mount(self._scored)
        scored = self._scored
        scored.look_through(lens)
        if self._face.instead is None:
            scored.display, reading.display = True, False
            self._face.instead = scored
            self.call_after_refresh(scored.take_focus)
        self._show_scores(scored)
        scored.inspect(self.has_class("-inspects"))
        self._face.all()

    def _show_scores(self, scored: "ScoredReading") -> None:
        """Show the scored text as far as it is scored now."""
        from .scored_text import ScoredText, known_pieces

        scores = self._lane.scores
        if scores is None or scores.count == self._drawn_scores:
            return
        self._drawn_scores = scores.count
        other = None if self._lane is self._reference else self._reference.scores
        scored.show(ScoredText(scores, other, known_pieces((self._reference, self._lane))))
        self._face.all()


def shown_round(lane: Lane, number: int | None) -> Round | None:
    """Return the round with that number; without it the newest whole one, or the one under way."""
    if number is not None and (found := lane.round(number)) is not None:
        return found
    whole = [one for one in lane.rounds if one.run.end is not None and not isinstance(one.run.end, Failed)]
    return whole[-1] if whole else lane.rounds[-1] if lane.rounds else None


def _told(lane: Lane, round: Round | None, reference: Lane) -> str:
    parts = [lane.plan.label]
    if lane is reference:
        parts.append("the reference")
    if round is None:
        parts.append("nothing written yet")
    else:
        parts.append(f"round {round.number:,} of {len(lane.rounds):,}" if len(lane.rounds) > 1 else "its only round")
    return " · ".join(parts)
