"""The figures of a comparison as plain records; times in ns, rates per second, ``None`` where there is no value."""

from dataclasses import dataclass

from ..metrics.divergence import Estimate


@dataclass(frozen=True, slots=True)
class Spread:
    """One figure over all rounds that count."""

    median: float
    least: float
    most: float
    rounds: int
    """0 where no round counts: then it is of what was done, or is under way."""


@dataclass(frozen=True, slots=True)
class Ratio:
    """A lane's figure over the reference's, paired by round."""

    value: float
    low: float | None
    """Lower end of the bootstrap 95 % interval; ``None`` below two rounds."""
    high: float | None

    @property
    def inverse(self) -> "Ratio":
        """The reference over this lane."""
        return Ratio(
            1 / self.value, None if self.high is None else 1 / self.high, None if self.low is None else 1 / self.low
        )

    @property
    def shown(self) -> bool:
        """Whether the interval excludes 1: a difference is shown."""
        return self.low is not None and self.high is not None and not self.low <= 1 <= self.high


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundFigures:
    """One round of a lane."""

    number: int
    """From 1."""
    left_out: str
    """Why it does not count, in a few words; empty when it does."""
    tokens: int
    evaluated: int | None
    """Prompt tokens that were read."""
    cached: int | None
    """Prompt tokens that were not read because the KV cache held them."""
    ttft_ns: float | None
    prefill_rate: float | None
    tpot_ns: float | None
    itl_p50_ns: float | None
    itl_p95_ns: float | None
    decode_rate: float | None
    characters_rate: float | None
    disturbed: bool
    """So much that it is not to be quoted."""
    disturbed_tokens: int
    lost_share: float | None
    """Share of the decode time lost to disturbances."""
    read_from_disk: int | None
    """Bytes that it waited for from the disk; ``None`` where that is not told."""
    finish_reason: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class LaneResult:
    """A row of the table."""

    number: int
    label: str
    quantization: str
    requantized_from: str
    """Empty for a model that was not made from a quantized one."""
    bytes: int | None
    load_ns: int | None
    ttft_ns: Spread | None
    prefill_rate: Spread | None
    itl_p50_ns: Spread | None
    """Median ITL of each round."""
    itl_p95_ns: Spread | None
    decode_rate: Spread | None
    characters_rate: Spread | None
    """Characters of text per second of decode: the fair rate where tokenizers differ."""
    decode_ratio: Ratio | None
    """The geometric mean over the rounds that both lanes have; ``None`` for the reference itself."""
    prefill_ratio: Ratio | None
    characters_ratio: Ratio | None
    unranked: str
    """Why this lane is not ranked, in a few words; empty when it is."""
    failure: str
    """Why it failed, in a sentence; empty when it did not."""
    fallbacks: str
    """What of it is of another type than asked for, in words; empty when nothing is, or nothing is known of it."""
    disturbed_rounds: int
    rounds: int
    """How many rounds count."""
    mean_kld: Estimate | None
    kld_99: float | None
    same_top: Estimate | None
    perplexity: Estimate | None
    scores_note: str
    diverged_at: int | None
    """First token (from 1) at which this lane's own first answer differs from the reference's; ``None``: none does."""
    compared_tokens: int
    """How many tokens were compared for that."""
    all_rounds: tuple[RoundFigures, ...]
    """Every round that was begun, the one under way included."""


@dataclass(frozen=True, slots=True)
class Results:
    """Everything that the table and the sentence below it say."""

    rows: tuple[LaneResult, ...]
    """In the order of the lanes."""
    same_tokens: bool
    """Whether all lanes read the same prompt tokens."""
    same_vocabulary: bool
    """Whether a token is the same for all lanes, so that tokens per second can be compared."""
    winner: int | None
    """Number of the lane that writes faster than every other ranked one, each difference shown."""
    verdict: str
    """One sentence: who is faster and by how much, or "no difference shown"."""
    notes: tuple[str, ...]
    """What has to be known with the figures: lanes at once, tokenizers that differ, disturbed rounds, failed lanes …"""
