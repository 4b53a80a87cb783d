"""A session that can be taken to any moment of a recording."""

from bisect import bisect_left
from typing import TYPE_CHECKING

from ...backends.events import Token
from ...backends.requests import Sampling
from ..session import Changes, Phase, Session
from .film import Film

if TYPE_CHECKING:
    from ..screens.recording import Memory

_ONE_BY_ONE = 256
"""More tokens than this are taken over at once."""


class ReplaySession(Session):
    """Shows nothing until it has a film."""

    def __init__(self, *, text: bool = True) -> None:
        """``text``: whether the answer can be taken out."""
        super().__init__(sampling=Sampling(), recorded=True)
        self._text = text
        self._film: Film | None = None
        self._memory: Memory = lambda threads: None
        self.place = 0
        """How many events have come."""

    def show(self, film: Film, memory: "Memory") -> None:
        """Begin anew with a film; ``memory``: of the machine where it was recorded."""
        self._film, self._memory = film, memory
        self._begin_anew()

    def _begin_anew(self) -> None:
        vars(self).update(vars(Session(sampling=Sampling(), recorded=True)))
        if self._film is not None:
            self._context_before = self._film.earlier.context
        self.place = 0

    @property
    def answer_text(self) -> str:
        """See ``Session``; nothing where the text was left out."""
        return self._film.answer(self.place) if self._film is not None and self._text else ""

    def go_to(self, place: int) -> bool:
        """Take in the events up to a place, or begin anew and do so; return whether it began anew."""
        film = self._film
        if film is None or place == self.place:
            return False
        places = film.timeline.token_places
        tokens = bisect_left(places, place)
        back = place < self.place
        if not back and tokens - bisect_left(places, self.place) <= _ONE_BY_ONE:
            self.apply(list(film.events[self.place : place]))
        else:
            self._take_over(film, place, tokens)
        if self.model is not None:
            self.measured(self._memory(self.model.threads), self.model.threads)
        self.place = place
        return back

    def _take_over(self, film: Film, place: int, tokens: int) -> None:
        self._begin_anew()
        first = film.timeline.token_places[0] if tokens else place
        self.apply(list(film.events[:first]))
        if tokens and self.run is not None and film.run is not None:
            self.run.take_tokens(film.run, tokens)
            self.phase = Phase.DECODE
            self.apply([event for event in film.events[first:place] if not isinstance(event, Token)])

    def _token(self, token: Token, changes: Changes) -> None:
        # The text comes from the film.
        if self.run is not None:
            self.run.apply(token)
            self.phase = Phase.DECODE
