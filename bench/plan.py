"""What is to be measured."""

from collections.abc import Sequence
from dataclasses import dataclass

from msgspec.structs import replace

from ..backends.events import Failed
from ..backends.launch import Source
from ..backends.requests import EngineSettings, MeasureRequest, Sampling

_SAMPLING = Sampling(seed=1)
_WARM_UP_TOKENS = 3
"""Tokens that an engine's warm-up computes beyond a micro-batch, and one that is drawn last."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """One row: prompt tokens to be read, tokens to be generated, behind so many others."""

    prompt: int = 0
    generate: int = 0
    depth: int = 0
    sample: bool = False
    """Whether tokens are drawn from the logits, with llama.cpp's default chain, as in a generation."""

    @property
    def name(self) -> str:
        """The name in ``llama-bench``'s manner: ``pp512``, ``tg128``, ``pp512+tg128``, ``tg128 @ d4096``."""
        return trial_name(self.prompt, self.generate, self.depth)

    @property
    def tokens(self) -> int:
        """Tokens of context that it takes; one that is drawn last and never computed counts too."""
        return self.depth + self.prompt + self.generate + 1

    def request(self, threads: int | None = None, pause_ms: int = 0) -> MeasureRequest:
        """Return what the engine is asked; ``threads``: ``None`` for the engine's own."""
        return MeasureRequest(
            prompt=self.prompt,
            generate=self.generate,
            depth=self.depth,
            sampling=_SAMPLING if self.sample else None,
            pause_ms=pause_ms,
            threads=threads,
        )

    def warm_up(self, threads: int | None, pause_ms: int) -> MeasureRequest:
        """Return the same for the run that does not count: the prompt and one token, not behind others."""
        return MeasureRequest(
            prompt=self.prompt,
            generate=min(1, self.generate),
            sampling=_SAMPLING if self.sample else None,
            pause_ms=pause_ms,
            threads=threads,
        )


def trial_name(prompt: int, generate: int, depth: int) -> str:
    """Return the name of a test in ``llama-bench``'s manner."""
    parts = [f"pp{prompt}"] if prompt else []
    if generate:
        parts.append(f"tg{generate}")
    return "+".join(parts) + (f" @ d{depth}" if depth else "")


def context_for(trials: Sequence[Trial], settings: EngineSettings) -> int:
    """Return the context for ``trials``, tokens: room for the longest, and for a whole micro-batch.

    llama.cpp limits batch and micro-batch to the context. With less room, a short test alone would use smaller buffers
    and a shorter warm-up than the same test in a list with longer ones.
    """
    return max(settings.micro_batch + _WARM_UP_TOKENS, *(trial.tokens for trial in trials))


@dataclass(frozen=True, slots=True)
class Group:
    """Tests of one model with the same settings."""

    name: str
    """What the model was called by whoever asked."""
    source: Source | Failed
    """``Failed``: why there is none."""
    settings: EngineSettings
    """The context is as large as the tests need."""
    trials: tuple[Trial, ...]

    def shares_engine(self, other: "Group") -> bool:
        """Whether the engine of one serves the other, too: the same but for the threads, which are known of both."""
        settings, others = self.settings, other.settings
        if settings.threads is None or others.threads is None or settings.threads_batch or others.threads_batch:
            return False
        return self.source == other.source and replace(settings, threads=others.threads) == others


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchPlan:
    """Everything, in order."""

    groups: tuple[Group, ...]
    repetitions: int = 5
    warm_up: bool = True
    pause_ms: int = 0
    """Before each test."""

    @property
    def rows(self) -> int:
        """How many rows there are to be."""
        return sum(len(group.trials) for group in self.groups)
