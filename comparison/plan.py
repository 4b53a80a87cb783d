"""What is to be compared."""

from dataclasses import dataclass

from ..backends.events import Failed
from ..backends.launch import Source
from ..backends.requests import EngineSettings, Request

FEWEST_LANES, MOST_LANES = 2, 6


@dataclass(frozen=True, slots=True)
class Unusable:
    """What was named and cannot be used; its lane fails at once, and the others go on."""

    name: str
    failed: Failed


@dataclass(frozen=True, slots=True)
class LanePlan:
    """One of the models."""

    label: str
    """Short, and different from all others of the comparison."""
    source: Source | Unusable
    make: str | None = None
    """The quantization to be made of ``source`` first; ``None``: ``source`` itself runs."""

    @property
    def ready(self) -> Source | None:
        """What can be loaded as it is; ``None`` where something has to be made first, or nothing can be used."""
        return None if self.make is not None or isinstance(self.source, Unusable) else self.source


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparisonPlan:
    """Two to six lanes and what all of them are asked."""

    lanes: tuple[LanePlan, ...]
    """The first is the reference."""
    settings: EngineSettings
    request: Request
    """Its seed is drawn already, so that it is the same for all."""
    rounds: int = 3
    together: bool = False
    """All lanes at once, so that they disturb each other; else one at a time."""
    quality: bool = True
    """Whether the same text is scored by all afterwards."""
    text: str | None = None
    """The text to be scored; ``None``: the reference's prompt and first answer."""
