"""What the tints mean."""

from dataclasses import dataclass

import numpy as np
from textual.content import Content

from ...metrics.likelihood import UNLIKELY, UNSURE
from ...metrics.pace import THRESHOLDS
from ...metrics.run import Run
from ..lens import Lens
from .marks import DIVERGENCES
from .tints import DISTURBED_STYLE, TINTS

_NAMES = {
    Lens.TIME: ("slow", "slower", "slowest"),
    Lens.PROBABILITY: ("less likely", "unlikely", "surprising"),
    Lens.ENTROPY: ("unsure", "torn", "guessing"),
    Lens.DIVERGENCE: ("shifted", "different", "contrary"),
}
_LONG = {
    Lens.TIME: tuple(f"≥ {threshold:g}×" for threshold in THRESHOLDS),
    Lens.PROBABILITY: tuple(f"< {limit:.0%}".replace("%", " %") for limit in UNLIKELY),
    Lens.ENTROPY: tuple(f"≥ {limit:g}" for limit in UNSURE),
    Lens.DIVERGENCE: tuple(f"≥ {limit:g}" for limit in DIVERGENCES),
}
_ALSO = {Lens.TIME: "disturbed", Lens.DIVERGENCE: "other top"}
"""What the style beside the tints means."""
_UNITS = {Lens.TIME: " the median", Lens.PROBABILITY: "", Lens.ENTROPY: " bits", Lens.DIVERGENCE: " nats"}
_SHORT_NAMES = {Lens.TIME: "time", Lens.PROBABILITY: "prob", Lens.ENTROPY: "entropy", Lens.DIVERGENCE: "KLD"}
_SHORT_UNITS = {Lens.TIME: " median", Lens.PROBABILITY: "", Lens.ENTROPY: " bits", Lens.DIVERGENCE: " nats"}
_NOT_RECORDED = "not recorded"
_LONG_NOTES = ("not computed yet", "from token {first:,} on", "costs {cost:.1f} ms a token")
_SHORT_NOTES = ("", "from #{first:,}", "+{cost:.1f} ms")
"""(nothing is known, known from a token on, what it costs)"""
_COST_TOKENS = 32


@dataclass(frozen=True, slots=True)
class Computed:
    """Of which tokens of a run the probabilities are known, and what that costs."""

    tokens: int
    """Tokens so far."""
    known: int
    """Of them, how many have probability facts."""
    first: int | None
    """Index of the first one that has."""
    cost_ns: float | None
    """Mean over the newest ones."""
    recorded: bool = False
    """Whether what is not known never will be."""

    @classmethod
    def without_notes(cls) -> "Computed":
        """Return what makes a legend say nothing of it."""
        return cls(0, 0, None, None)

    @classmethod
    def of(cls, run: Run | None, *, recorded: bool = False) -> "Computed":
        """Return what is known about a run."""
        if run is None or not run.likelihood.known:
            return cls(0 if run is None else run.token_count, 0, None, None, recorded)
        positions = np.flatnonzero(~np.isnan(run.likelihood.logprobs))
        costs = [run.likelihood.cost_ns(int(position)) for position in positions[-_COST_TOKENS:]]
        told = [cost for cost in costs if cost is not None]
        return cls(run.token_count, len(positions), int(positions[0]) + 1, sum(told) / len(told), recorded)


def legend(lens: Lens, room: int, computed: Computed) -> Content:
    """Return one line of at most ``room`` cells that explains the tints, styled as they are.

    With a lens that needs facts it says of which tokens they are known and what they cost. Empty where even the short
    form does not fit.
    """
    for degrees, notes, gap in (
        (_long(lens), _notes(lens, computed, _LONG_NOTES), "  "),
        (_short(lens, computed), _notes(lens, computed, _SHORT_NOTES)[:1], " "),
    ):
        if degrees.cell_length <= room:
            for note in notes:
                longer = Content.assemble(degrees, gap, note)
                degrees = longer if longer.cell_length <= room else degrees
            return degrees
    return Content("")


def _long(lens: Lens) -> Content:
    parts: list[Content] = []
    for tint, name, limit in zip(TINTS, _NAMES[lens], _LONG[lens], strict=True):
        gap = "  " if parts else ""
        parts += [Content(gap), Content.styled(name, f"{tint.color} {tint.text_style}"), Content(f" {limit}")]
    parts.append(Content(_UNITS[lens]))
    if lens in _ALSO:
        parts += [Content("  "), Content.styled(_ALSO[lens], DISTURBED_STYLE)]
    return Content.assemble(*parts)


def _short(lens: Lens, computed: Computed) -> Content:
    if lens.needs_facts and computed.tokens and not computed.known:
        return Content(f"{lens.value}: {_NOT_RECORDED if computed.recorded else 'not computed'}")
    parts = [Content(_SHORT_NAMES[lens])]
    for tint, limit in zip(TINTS, _LONG[lens], strict=True):
        parts += [Content(" "), Content.styled(limit.replace(" ", ""), f"{tint.color} {tint.text_style}")]
    parts.append(Content(_SHORT_UNITS[lens]))
    if lens is Lens.DIVERGENCE:
        parts += [Content(" "), Content.styled(_ALSO[lens], DISTURBED_STYLE)]
    return Content.assemble(*parts)


def _notes(lens: Lens, computed: Computed, words: tuple[str, str, str]) -> list[str]:
    """What the facts cover, and what they cost, the more important first."""
    nothing, since, costs = words
    if not lens.needs_facts or not computed.tokens:
        return []
    if computed.first is None or computed.cost_ns is None:
        return [_NOT_RECORDED if computed.recorded else nothing] if nothing else []
    notes = []
    if computed.known < computed.tokens:
        to_the_end = computed.first + computed.known == computed.tokens + 1
        some = f"{computed.known:,} of {computed.tokens:,}"
        notes.append(since.format(first=computed.first) if to_the_end else some)
    return [*notes, costs.format(cost=computed.cost_ns / 1e6)]
