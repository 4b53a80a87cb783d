"""What the tokens are asked for: one stream, several ways to look at it."""

from enum import Enum


class Lens(Enum):
    """What tints the text, and what the strip and the table tell of a token."""

    TIME = "time"
    PROBABILITY = "probability"
    ENTROPY = "entropy"

    @property
    def following(self) -> "Lens":
        """The lens that comes after this one, round and round."""
        order = list(Lens)
        return order[(order.index(self) + 1) % len(order)]

    @property
    def needs_facts(self) -> bool:
        """Whether the engine has to compute probability facts for it."""
        return self is not Lens.TIME
