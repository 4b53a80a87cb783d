"""The figures of a comparison, the same for the screen, the table and the files."""

from collections.abc import Sequence
from dataclasses import dataclass

from ..metrics.divergence import Estimate
from .lane import Lane


@dataclass(frozen=True, slots=True)
class Spread:
    """One figure over all rounds that count."""

    median: float
    least: float
    most: float
    rounds: int


@dataclass(frozen=True, slots=True)
class Ratio:
    """A lane's figure over the reference's, paired by round."""

    value: float
    low: float | None
    """Lower end of the bootstrap 95 % interval; ``None`` below two rounds."""
    high: float | None

    @property
    def shown(self) -> bool:
        """Whether the interval excludes 1: a difference is shown."""
        return self.low is not None and self.high is not None and not self.low <= 1 <= self.high


@dataclass(frozen=True, slots=True, kw_only=True)
class LaneResult:
    """A row of the table; times in ns, rates per second, ``None`` where there is no value."""

    number: int
    label: str
    quantization: str
    requantized_from: str
    """Empty for a model that was not made from a quantized one."""
    bytes: int | None
    load_ns: int | None
    ttft_ns: Spread | None
    prefill_rate: Spread | None
    tpot_p50_ns: Spread | None
    """Median ITL of each round."""
    tpot_p95_ns: Spread | None
    decode_rate: Spread | None
    characters_rate: Spread | None
    """Characters of text per second of decode: the fair rate where tokenizers differ."""
    decode_ratio: Ratio | None
    prefill_ratio: Ratio | None
    characters_ratio: Ratio | None
    unranked: str
    """Why this lane is not ranked, in a few words; empty when it is."""
    disturbed_rounds: int
    rounds: int
    mean_kld: Estimate | None
    kld_99: float | None
    same_top: Estimate | None
    perplexity: Estimate | None
    scores_note: str
    diverged_at: int | None
    """First token (from 1) at which this lane's own first answer differs from the reference's; ``None``: none does."""
    compared_tokens: int
    """How many tokens were compared for that."""


@dataclass(frozen=True, slots=True)
class Results:
    """Everything that the table and the sentence below it say."""

    rows: tuple[LaneResult, ...]
    """In the order of the lanes."""
    same_tokens: bool
    """Whether all lanes read the same prompt tokens."""
    winner: int | None
    """Number of the lane that writes faster than every other ranked one, each difference shown."""
    verdict: str
    """One sentence: who is faster and by how much, or "no difference shown"."""
    notes: tuple[str, ...]
    """What has to be known with the figures: lanes at once, tokenizers that differ, disturbed rounds, failed lanes …"""


def results(lanes: Sequence[Lane], *, together: bool) -> Results:
    """Return the figures of what the lanes have done so far."""
    raise NotImplementedError
