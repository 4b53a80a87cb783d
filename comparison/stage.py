"""How far a comparison has come."""

from enum import Enum, auto


class Stage(Enum):
    """How far the comparison has come."""

    PREPARING = auto()
    """Quantizations are made and engines loaded."""
    RUNNING = auto()
    SCORING = auto()
    DONE = auto()
    CANCELLED = auto()


ENDED = (Stage.DONE, Stage.CANCELLED)

BEFORE_LAST_ROUND = (Stage.PREPARING, Stage.RUNNING)
"""Whether more rounds are to come."""
