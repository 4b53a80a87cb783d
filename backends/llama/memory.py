"""What the KV cache holds between requests, and how much of it the next one may use.

Floating-point results depend on how tokens are grouped into batches: a token computed alone, in a short batch or in a
full micro-batch gives logits that differ in the last bits, and at temperature 0 that can change a word. A cold run
groups a prompt into whole micro-batches from its beginning. So a request whose outcome is meant to be determined reuses
only whole micro-batches that were computed just like that, and then equals a cold run bit for bit; any other request
reuses the whole common prefix.
"""

from collections.abc import Sequence as Tokens
from typing import Any

from .bindings import llama_cpp
from .scheduler import Sequence


class SequenceMemory:
    """The tokens that the memory holds for one sequence."""

    def __init__(self, context: Any, number: int, batch: int, micro_batch: int, *, rollback: bool) -> None:
        """``rollback``: whether the memory can drop the end of a sequence, of which it holds no other."""
        self._rollback = rollback
        self._memory = llama_cpp.llama_get_memory(context)
        self._number = number
        # Where every cold run has a border between two computations.
        self._grain = micro_batch if batch % micro_batch == 0 else batch
        self._held: list[int] = []
        self._cold_alike = 0  # leading tokens that are as a cold run would have computed them
        self._continues_cold = True
        self._scored = False

    def reuse(self, wanted: Tokens[int], *, exact: bool) -> int:
        """Make the memory a beginning of ``wanted`` and return its length, shorter than ``wanted``.

        At least the last token is left to compute, since its logits are needed. ``exact``: keep only what makes the
        outcome equal to a cold run's. Where the memory cannot drop only its end (recurrent and hybrid models, sliding
        windows), all of it is dropped.
        """
        keep = min(common_prefix(self._held, wanted), len(wanted) - 1)
        if exact:
            keep = self._down(min(keep, self._cold_alike))
        keep = self._keep_first(keep)
        self._scored = False
        self._cold_alike = self._down(min(keep, self._cold_alike))
        self._continues_cold = keep == self._cold_alike
        return keep

    def drop(self) -> None:
        """Forget all of it."""
        self._clear()
        self._held = []

    def settle(self, sequence: Sequence, *, exact: bool = True) -> None:
        """Remember what the memory holds after ``sequence`` has ended.

        ``exact``: its prompt was computed in the batches of a cold run.
        """
        self._held = sequence.tokens[: sequence.computed]
        if not exact:
            self._cold_alike = 0
            return
        if self._continues_cold:
            self._cold_alike = self._down(min(sequence.computed, sequence.prompt_length))
        self._cold_alike = min(self._cold_alike, sequence.computed)

    def resume(self, wanted: Tokens[int], needed: int) -> int:
        """Make the memory a beginning of ``wanted``, a text to be scored, and return its length, at most ``needed``.

        Only what scoring itself has computed stays, and only whole: so all models compute a text in the same batches,
        and two that are alike come out alike.
        """
        keep = len(self._held)
        if not (self._scored and keep <= needed and self._held == list(wanted[:keep])):
            keep = 0
        return self._keep_first(keep)

    def settle_scored(self, sequence: Sequence) -> None:
        """Remember what the memory holds after ``sequence`` was scored, as ``settle`` does."""
        self._held = sequence.tokens[: sequence.computed]
        self._cold_alike = 0
        self._scored = True

    def _down(self, tokens: int) -> int:
        return tokens - tokens % self._grain

    def _keep_first(self, keep: int) -> int:
        if keep == len(self._held) and (keep or self._rollback):
            return keep
        if (
            keep > 0
            and llama_cpp.llama_memory_seq_rm(self._memory, self._number, keep, -1)
            # A window that has slid past the beginning cannot serve an earlier position.
            and llama_cpp.llama_memory_seq_pos_min(self._memory, self._number) == 0
        ):
            return keep
        self._clear()
        return 0

    def _clear(self) -> None:
        if self._rollback:
            llama_cpp.llama_memory_seq_rm(self._memory, self._number, -1, -1)
        else:
            # llama.cpp begins a recurrent state with 0 times the last one, which stays NaN where that was no number.
            llama_cpp.llama_memory_clear(self._memory, True)


def common_prefix(first: Tokens[int], second: Tokens[int]) -> int:
    """Length of the longest common beginning."""
    length = min(len(first), len(second))
    return next((index for index in range(length) if first[index] != second[index]), length)
