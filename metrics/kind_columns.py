"""What the tokens of a generation turn out to be, in flat columns."""

from collections.abc import Sequence

from ..backends.events import Token
from ..backends.token_facts import Part
from .series import Int64Array, Series


class KindColumns:
    """A token is classified when it comes; bytes that may belong to a tag are classified later."""

    def __init__(self) -> None:
        self._reasoning = Series()
        self._reasoned = Series()
        self._answer = Series()
        self._control = Series()

    def append(self, token: Token) -> None:
        """Add the next token."""
        whole = token.parts is None and not token.control
        self._reasoning.append(token.thinking)
        self._reasoned.append(whole and token.thinking)
        self._answer.append(whole and not token.thinking)
        self._control.append(token.control)
        self._learn(token.parts)

    def extend(self, tokens: Sequence[Token]) -> None:
        """Add tokens, in order."""
        whole = [token.parts is None and not token.control for token in tokens]
        self._reasoning.extend([token.thinking for token in tokens])
        self._reasoned.extend([all_ and token.thinking for all_, token in zip(whole, tokens, strict=True)])
        self._answer.extend([all_ and not token.thinking for all_, token in zip(whole, tokens, strict=True)])
        self._control.extend([token.control for token in tokens])
        for token in tokens:
            self._learn(token.parts)

    def take(self, other: "KindColumns", count: int) -> None:
        """Add the first ``count`` tokens of other columns, with what later tokens said about them."""
        for own, column in (
            (self._reasoning, other._reasoning),
            (self._reasoned, other._reasoned),
            (self._answer, other._answer),
            (self._control, other._control),
        ):
            own.extend(column.values[:count])

    def end(self, parts: Sequence[Part] | None) -> None:
        """Take what the end says about the last tokens."""
        self._learn(parts)

    def _learn(self, parts: Sequence[Part] | None) -> None:
        """Note what tokens hold; a token that holds anything but reasoning is not a reasoning token."""
        for part in parts or ():
            place = part.index - 1
            if not 0 <= place < len(self._answer) or part.kind == "control":
                continue
            if part.kind == "reasoning":
                self._reasoned.put(place, 1)
                continue
            self._reasoning.put(place, 0)
            if part.kind == "answer":
                self._answer.put(place, 1)

    @property
    def reasoning(self) -> Int64Array:
        """1 for each reasoning token, the tags around the reasoning included, shape (n,)."""
        return self._reasoning.values

    @property
    def reasoned(self) -> Int64Array:
        """1 for each token that holds something of the reasoning itself, shape (n,)."""
        return self._reasoned.values

    @property
    def answer(self) -> Int64Array:
        """1 for each token that holds something of the answer, shape (n,)."""
        return self._answer.values

    @property
    def control(self) -> Int64Array:
        """1 for each control or end-of-generation token, shape (n,)."""
        return self._control.values
