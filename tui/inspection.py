"""Everything that is known about one token, taken from its run."""

import math
from dataclasses import dataclass

from ..backends.token_facts import Probability, Scheduling
from ..metrics.run import Run
from ..traces.no_text import NO_ID


@dataclass(frozen=True, slots=True)
class Inspection:
    """One token; times in ns, ``None`` where there is no value."""

    index: int
    """From 1."""
    id: int | None
    """``None`` where it was left out of a recording."""
    piece: bytes
    control: bool
    reasoning: bool
    since_ns: int
    """Since the request was taken."""
    gap_ns: int | None
    """Its inter-token latency."""
    medians: float | None
    """The gap in medians of the run so far."""
    decode_ns: int | None
    sample_ns: int
    rest_ns: int | None
    """Of the gap, outside decode, sampling and probability facts."""
    facts: Scheduling
    why: str
    """Why it took as long as it did, in words."""
    probability: Probability | None

    @property
    def chance(self) -> float | None:
        """Its probability, 0 to 1."""
        return None if self.probability is None else math.exp(self.probability.logprob)

    @property
    def entropy_bits(self) -> float | None:
        """How unsure the model was, in bits."""
        return None if self.probability is None else bits(self.probability.entropy_nats)


def bits(nats: float) -> float:
    """Return an entropy in bits."""
    return nats / math.log(2)


def token_id(run: Run, position: int) -> int | None:
    """Return the id of the token at ``position`` (from 0); ``None`` where it was left out of a recording."""
    id = int(run.token_ids[position])
    return None if id == NO_ID else id


def inspect_token(run: Run, index: int) -> Inspection:
    """Return what is known about a token of a run, by its index from 1."""
    position = index - 1
    times, median = run.token_times, run.median_ns
    gap = None if position == 0 else int(times[position] - times[position - 1])
    decode, sample = int(run.decode_ns[position]), int(run.sample_ns[position])
    probability = run.likelihood.at(position)
    cost = 0 if probability is None else probability.cost_ns
    return Inspection(
        index=index,
        id=token_id(run, position),
        piece=run.piece(position),
        control=bool(run.control[position]),
        reasoning=bool(run.reasoning[position]),
        since_ns=int(times[position]) - run.taken.t,
        gap_ns=gap,
        medians=None if gap is None or not median else gap / median,
        # The first token comes out of the prefill.
        decode_ns=None if gap is None else decode,
        sample_ns=sample,
        rest_ns=None if gap is None else max(gap - decode - sample - cost, 0),
        facts=run.facts.at(position),
        why=run.explain(position),
        probability=probability,
    )
