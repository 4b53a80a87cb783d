"""What an answer of a recording finds there already: how the answers before it ended, and what is in the context."""

from collections.abc import Sequence
from dataclasses import dataclass

from ...backends.events import Failed, Finished, Token
from ...traces.generations import Take
from ..screens.wording import answer_note
from ..transcript import Turn, turns_of


@dataclass(frozen=True, slots=True)
class Earlier:
    """Before an answer."""

    endings: tuple[str, ...] = ()
    """What stands under each earlier answer of its conversation; empty where nothing does."""
    context: int = 0
    """Tokens that the answer before has left in the context."""


def earlier_than(takes: Sequence[Take], number: int) -> Earlier:
    """Return what comes before a take, from 0."""
    return Earlier(_endings(takes, number), _context(takes, number))


def _endings(takes: Sequence[Take], number: int) -> tuple[str, ...]:
    asked = takes[number].generation
    turns = [] if asked is None else turns_of(asked.taken)[:-1]
    endings: list[str] = []
    before = number
    # The same may have been asked several times: what is in the conversation was answered last.
    for turn in reversed(turns):
        found = next((place for place in reversed(range(before)) if _answers(takes[place], turn)), None)
        endings.append("" if found is None else _ending(takes[found]))
        before = before if found is None else found
    return tuple(reversed(endings))


def _answers(take: Take, turn: Turn) -> bool:
    generation = take.generation
    return (
        generation is not None
        and turns_of(generation.taken)[-1].prompt == turn.prompt
        and any(isinstance(event, Token) for event in generation.events)
    )


def _ending(take: Take) -> str:
    ended = take.events[-1]
    if not isinstance(ended, Finished | Failed):
        return ""
    tokens = sum(isinstance(event, Token) for event in take.events)
    unclosed = isinstance(ended, Finished) and ended.unclosed
    answered = not unclosed or take.generation is None or take.generation.run().ttfa_ns is not None
    return answer_note(ended, tokens, answered=answered, recorded=True)


def _context(takes: Sequence[Take], number: int) -> int:
    before, now = (takes[place].generation if place >= 0 else None for place in (number - 1, number))
    if before is None or now is None or before.model is not now.model:
        return 0
    return before.run().context_used
