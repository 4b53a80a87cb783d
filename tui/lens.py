"""What the tokens are asked for: one stream, several ways to look at it."""

from collections.abc import Sequence
from enum import Enum


class Lens(Enum):
    """What tints the text, and what the strip and the table tell of a token."""

    TIME = "time"
    PROBABILITY = "probability"
    ENTROPY = "entropy"
    DIVERGENCE = "KL divergence"
    """Of a text that several models have scored."""

    def following(self, lenses: "Sequence[Lens] | None" = None) -> "Lens":
        """The one of ``lenses`` (those of a run by default) that comes after this one, round and round."""
        order = OF_A_RUN if lenses is None else lenses
        return order[(order.index(self) + 1) % len(order)] if self in order else order[0]

    @property
    def needs_facts(self) -> bool:
        """Whether the engine has to compute probability facts for it."""
        return self in (Lens.PROBABILITY, Lens.ENTROPY)


OF_A_RUN = (Lens.TIME, Lens.PROBABILITY, Lens.ENTROPY)
"""What a run can be looked at through."""
