"""What the tokens of a generation turn out to be, in flat columns."""

from collections.abc import Sequence

from ..backends.events import Token
from ..backends.token_facts import Part
from .series import Int64Array, Series


class KindColumns:
    """A token is told of when it comes; what may have belonged to a tag is told of later."""

    def __init__(self) -> None:
        self._reasoning = Series()
        self._answer = Series()
        self._control = Series()

    def append(self, token: Token) -> None:
        """Add the next token."""
        self._reasoning.append(token.thinking)
        self._answer.append(_answers(token))
        self._control.append(token.control)
        self.learn(token.parts)

    def extend(self, tokens: Sequence[Token]) -> None:
        """Add tokens, in order."""
        self._reasoning.extend([token.thinking for token in tokens])
        self._answer.extend([_answers(token) for token in tokens])
        self._control.extend([token.control for token in tokens])
        for token in tokens:
            self.learn(token.parts)

    def take(self, other: "KindColumns", count: int) -> None:
        """Add the first ``count`` tokens of other columns, with what later ones told of them."""
        self._reasoning.extend(other.reasoning[:count])
        self._answer.extend(other.answer[:count])
        self._control.extend(other.control[:count])

    def learn(self, parts: Sequence[Part] | None) -> None:
        """Note what tokens hold; one that holds anything but reasoning is no reasoning token."""
        for part in parts or ():
            if part.kind in ("answer", "channel") and 0 < part.index <= len(self._answer):
                self._reasoning.put(part.index - 1, 0)
                if part.kind == "answer":
                    self._answer.put(part.index - 1, 1)

    @property
    def reasoning(self) -> Int64Array:
        """1 for each reasoning token, shape (n,)."""
        return self._reasoning.values

    @property
    def answer(self) -> Int64Array:
        """1 for each token that holds something of the answer, shape (n,)."""
        return self._answer.values

    @property
    def control(self) -> Int64Array:
        """1 for each control or end-of-generation token, shape (n,)."""
        return self._control.values


def _answers(token: Token) -> bool:
    """Whether a token is answer and nothing else."""
    return token.parts is None and not token.thinking and not token.control
