"""One model of a comparison: where it stands and what it has done."""

from dataclasses import dataclass, field
from enum import Enum, auto

from ..backends.events import Event, Failed, ModelReady, Quantized
from ..backends.logs import warnings_in
from ..metrics.divergence import Divergence
from ..metrics.run import Run
from .plan import LanePlan


class LanePhase(Enum):
    """Where a lane stands."""

    WAITING = auto()
    """For its turn."""
    MAKING = auto()
    """Its quantization is being written."""
    LOADING = auto()
    """Or warming up."""
    RUNNING = auto()
    """Reads the prompt or writes; its run tells which."""
    SCORING = auto()
    DONE = auto()
    CANCELLED = auto()
    FAILED = auto()
    """It takes no further part; what it has done stays."""


@dataclass(slots=True)
class Round:
    """One generation of a lane."""

    number: int
    """From 1."""
    run: Run
    events: list[Event] = field(default_factory=list)
    """From ``request_taken`` to ``finished`` or ``failed``."""


@dataclass(slots=True)
class TextFacts:
    """What figures need to know of a text that was left out of a recording; ``None`` where it does not tell."""

    like: int | None = None
    """Number of the first lane that read the same prompt tokens."""
    characters: dict[int, int] = field(default_factory=dict)
    """By round: of the answer, those that its first token completed left out."""
    differs_at: int | None = None
    """First token (from 1) at which the first answer differs from the reference's."""
    compared: int = 0
    """How many tokens were compared for that."""


@dataclass(slots=True)
class Lane:
    """Owned and changed by the comparison alone; others read."""

    number: int
    """From 0, the reference."""
    plan: LanePlan
    phase: LanePhase = LanePhase.WAITING
    fraction: float = 0.0
    """Of what is being made, loaded or scored."""
    made: Quantized | None = None
    opening: list[Event] = field(default_factory=list)
    """``load_progress``, ``log`` and ``model_ready`` of the engine in use."""
    model: ModelReady | None = None
    rounds: list[Round] = field(default_factory=list)
    scores: Divergence | None = None
    """How it scored the common text; ``None`` before, and where it is not defined."""
    scores_note: str = ""
    """Why there are no scores, or of what they are."""
    failed: Failed | None = None
    without_text: TextFacts | None = None
    """``None``: the text is there."""
    own_vocabulary: bool | None = None
    """Whether its vocabulary is not the reference's; ``None``: nobody needed to know, as long as both read the same
    prompt tokens."""

    @property
    def warnings(self) -> list[str]:
        """Its engine's warnings, each once."""
        return warnings_in([*self.opening, *(event for one in self.rounds for event in one.events)])

    def round(self, number: int) -> Round | None:
        """Return what it has done in a round; ``None``: nothing."""
        return next((one for one in self.rounds if one.number == number), None)

    @property
    def prompt(self) -> tuple[int, ...] | None:
        """The tokens of the prompt; ``None`` before it was tokenized."""
        return next((one.run.prompt.tokens for one in self.rounds if one.run.prompt is not None), None)

    @property
    def prompt_key(self) -> tuple[int, ...] | int | None:
        """What tells the prompts of lanes apart; ``None`` before it was tokenized."""
        return self.prompt if self.without_text is None else self.without_text.like
