"""Why less of a conversation was reused from the KV cache than the cache held."""

from collections.abc import Sequence
from enum import Enum, auto
from itertools import takewhile

import msgspec

from ..backends.events import ModelReady
from . import numbers
from .run import Run


class Loss(Enum):
    """What kept the cache from being used."""

    TEMPLATE = auto()
    """The chat template writes earlier turns differently than before."""
    REASONING = auto()
    """The model's reasoning is no longer part of its turn."""
    TOKENS = auto()
    """The text of the answer is tokenized into other tokens than those the model wrote."""
    DETERMINED = auto()
    """At temperature 0 or with a seed only whole micro-batches are used, as a fresh start computes them."""
    MEMORY = auto()
    """The memory has kept less than it was given, for example outside a sliding window."""


class LostReuse(msgspec.Struct, frozen=True):
    """How many tokens are computed again, and why."""

    tokens: int
    """How many tokens were in the cache, belong to the same conversation, and need prefill again."""
    token: int
    """The first token that differs from what the cache held, from 1; if none differs, the first one after them."""
    loss: Loss

    @property
    def brief(self) -> str:
        """How many tokens, and why, for a narrow line."""
        return f"{self.tokens:,} prefilled again: {_BRIEF[self.loss].format(self.token)}"

    @property
    def sentence(self) -> str:
        """The same in full, without a full stop."""
        return f"{numbers.counted(self.tokens, 'token')} prefilled again: {_WHY[self.loss].format(self.token)}"


_BRIEF = {
    Loss.TEMPLATE: "template changed from token {:,}",
    Loss.REASONING: "reasoning left out",
    Loss.TOKENS: "other tokens from {:,}",
    Loss.DETERMINED: "temp 0 or a seed",
    Loss.MEMORY: "not kept",
}
_WHY = {
    Loss.TEMPLATE: "the chat template changed the earlier turns from token {:,} on",
    Loss.REASONING: "the earlier answer's reasoning is left out from token {:,} on",
    Loss.TOKENS: "the earlier answer's text has other tokens from token {:,} on",
    Loss.DETERMINED: "at temperature 0 or with a seed only whole micro-batches are reused",
    Loss.MEMORY: "this model's memory does not keep the earlier turns in full",
}


def lost_reuse(before: Run, run: Run, model: ModelReady) -> LostReuse | None:
    """Return what ``run`` could not reuse of the cache that ``before``, the run before it on the same engine, left.

    ``None``: it reused everything, it belongs to another conversation, or the ids of its tokens are not known.
    """
    earlier, messages = before.taken.messages, run.taken.messages
    if before.prompt is None or run.prompt is None or not earlier or messages[: len(earlier)] != earlier:
        return None
    if len(messages) == len(earlier) or min((*before.prompt.tokens, *run.prompt.tokens), default=-1) < 0:
        return None
    answer = before.token_ids.tolist()[: max(0, before.token_count - 1)]  # the last token was drawn and not computed
    held = [*before.prompt.tokens, *answer]
    same = _common_prefix(held, run.prompt.tokens)
    lost = min(len(held), len(run.prompt.tokens) - 1) - run.prompt.cached
    if lost <= 0:
        return None
    if same < len(before.prompt.tokens):
        loss = Loss.TEMPLATE
    elif same < len(held):
        loss = Loss.REASONING if before.reasoning.any() else Loss.TOKENS
    else:
        loss = Loss.DETERMINED if run.taken.sampling.determined and model.rollback else Loss.MEMORY
    return LostReuse(lost, same + 1, loss)


def _common_prefix(first: Sequence[int], second: Sequence[int]) -> int:
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(first, second, strict=False)))
