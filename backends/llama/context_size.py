"""How large a context fits."""

import msgspec

from ...models.sizes import size
from ..engine import EngineError

_SHARE_FOR_CACHE = 0.5
_GRAIN = 256
_SMALLEST = 512


class ContextSize(msgspec.Struct, frozen=True):
    """A context size in tokens, and what should be known about it (empty when there is nothing)."""

    tokens: int
    note: str = ""
    overlong: bool = False
    """Whether the model was trained for fewer tokens; its answers get worse beyond that number."""


def choose_context(asked: int, trained: int, kv_bytes_per_token: int, free_bytes: int) -> ContextSize:
    """Return the context to allocate.

    ``asked`` tokens, or for 0 the trained context, capped so that its KV cache takes at most half of ``free_bytes``
    (what is left beside the weights). Raises EngineError when what was asked for cannot fit.
    """
    if asked > 0:
        needed = asked * kv_bytes_per_token
        if needed > free_bytes:
            most = min(trained, _round_down(free_bytes // kv_bytes_per_token))
            smaller = f"Ask for at most -c {most}, or quantize" if most else "Quantize"
            raise EngineError(
                f"A context of {asked:,} tokens does not fit: its KV cache needs {size(needed)},"
                f" and {size(free_bytes)} are free beside the weights.",
                remedy=f"{smaller} the cache (-ctk q8_0 -ctv q8_0 -fa on).",
                most_context=free_bytes // kv_bytes_per_token,
            )
        if asked > trained:
            return ContextSize(asked, f"more than the {trained:,} that the model was trained for", overlong=True)
        return ContextSize(asked)
    affordable = trained
    if kv_bytes_per_token:
        affordable = _round_down(int(free_bytes * _SHARE_FOR_CACHE) // kv_bytes_per_token)
    if affordable >= trained:
        return ContextSize(trained)
    tokens = max(_SMALLEST, affordable)
    if tokens >= trained:
        return ContextSize(trained)
    return ContextSize(
        tokens,
        f"trained for {trained:,}; capped at {tokens:,} by memory ({size(tokens * kv_bytes_per_token)} of KV cache)",
    )


def _round_down(tokens: int) -> int:
    return tokens - tokens % _GRAIN
