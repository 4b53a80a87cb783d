"""What is to be compared."""

from dataclasses import dataclass

from ..backends.events import Failed
from ..backends.launch import Source
from ..backends.requests import EngineSettings, Request
from ..models.facts import ModelFile

FEWEST_LANES, MOST_LANES = 2, 6


@dataclass(frozen=True, slots=True)
class Unusable:
    """What was named and cannot be used; its lane fails at once, and the others go on."""

    name: str
    failed: Failed


@dataclass(frozen=True, slots=True)
class RecordedModel:
    """What a recording tells of a model, which may be nowhere any more."""

    name: str
    quantization: str
    """Empty where nobody knows."""
    bytes: int | None
    """Size of its weights; ``None`` where nobody knows."""


@dataclass(frozen=True, slots=True)
class LanePlan:
    """One of the models."""

    label: str
    """Short, and different from all others of the comparison."""
    source: Source | Unusable | RecordedModel
    make: str | None = None
    """The quantization to be made of ``source`` first; ``None``: ``source`` itself runs."""

    @property
    def ready(self) -> Source | None:
        """What can be loaded as it is; ``None`` where something has to be made first, or nothing can be used."""
        source = self.source
        return None if self.make is not None or isinstance(source, Unusable | RecordedModel) else source

    @property
    def known(self) -> RecordedModel:
        """What is known of the model before it is loaded."""
        source = self.source
        if isinstance(source, RecordedModel):
            return source
        if isinstance(source, ModelFile):
            return RecordedModel(source.name, source.quantization, source.bytes)
        return RecordedModel(source.name, "", None)


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

    @property
    def prompt(self) -> str:
        """What all lanes are asked."""
        if self.request.prompt is not None:
            return self.request.prompt
        return self.request.messages[-1].content if self.request.messages else ""
