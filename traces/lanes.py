"""Lines of a recording in which several engines speak: what is compared, whose events follow, where each lane stands.

None of them is an event: they say what no engine knows. A ``lane`` line stands before the first event of a recording
and wherever the events of another lane follow.
"""

from typing import Literal

import msgspec

from ..backends.events import Event

MOST_LANES = 64
"""Far more than anyone compares; a reader believes no more."""

Phase = Literal["waiting", "making", "loading", "running", "scoring", "done", "cancelled", "failed"]
StageName = Literal["preparing", "running", "scoring", "done", "cancelled"]


class ComparedModel(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What is known of a lane before its model is loaded."""

    label: str
    """Short, and different from all others."""
    name: str
    """Of the model, or of what was named in its place."""
    quantization: str = ""
    """Of the model; empty where nobody knows."""
    bytes: int | None = None
    """Size of its weights; ``None`` where nobody knows."""
    make: str | None = None
    """The quantization to be made of it first; ``None``: it runs as it is."""


class OfLanes(msgspec.Struct, frozen=True, kw_only=True, tag_field="event", omit_defaults=True):
    """What all of these lines have."""

    t: int
    """When it was so, ns on the clock of the events."""


class ComparisonBegun(OfLanes, frozen=True, kw_only=True, tag="comparison"):
    """What is compared, in the second line of the file."""

    lanes: tuple[ComparedModel, ...]
    """Numbered from 0, which is the reference."""
    prompt: str
    """What all lanes are asked."""
    rounds: int
    """How many there are to be."""
    together: bool
    """Whether all lanes run at once."""
    quality: bool
    """Whether all lanes score the same text afterwards."""


class LaneStands(OfLanes, frozen=True, kw_only=True, tag="lane"):
    """From here on the events are those of this lane; how it stands."""

    lane: int
    """From 0."""
    round: int
    """From 1: the round in which it generates or has generated last; 0 before."""
    phase: Phase
    note: str = ""
    """What has to be known of its scores, or why there are none."""
    own_vocabulary: bool | None = None
    """Whether its tokens are not those of the reference; ``None``: nobody needed to know, or not yet."""


class ScoringBegun(OfLanes, frozen=True, kw_only=True, tag="scoring"):
    """Lanes begin to score a text, anew where they had begun before."""

    lanes: tuple[int, ...]
    tokens: tuple[int, ...]
    """The text that they have in common."""
    prompt_tokens: int
    """How many of them are the prompt; all, for a given text."""


class StageReached(OfLanes, frozen=True, kw_only=True, tag="stage"):
    """How far the comparison as a whole has come."""

    stage: StageName
    round: int
    """The one under way, from 1."""
    rounds: int
    """How many there are to be."""
    in_turn: bool
    """Whether memory allows only one model at a time."""


class AnswerTold(OfLanes, frozen=True, kw_only=True, tag="answer"):
    """What figures need to know of a text that is left out."""

    lane: int
    round: int
    characters: int
    """Of the answer in this round, those that its first token completed left out."""
    like: int | None = None
    """Number of the first lane that read the same prompt tokens; ``None``: it has read none."""
    differs_at: int | None = None
    """First token (from 1) at which the lane's first answer differs from the reference's; ``None``: none does."""
    compared: int = 0
    """How many tokens were compared for that."""


Line = ComparisonBegun | LaneStands | ScoringBegun | StageReached | AnswerTold
Record = Event | Line
"""Whatever a recording holds below its header."""
