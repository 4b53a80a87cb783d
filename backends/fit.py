"""Whether a model fits into memory, told from its header before anything is loaded."""

import msgspec

from ..models.facts import ModelFile
from .engine import EngineError
from .llama.context_size import choose_context
from .requests import EngineSettings

_PROCESS_BYTES = 64 * 2**20
"""The engine's process itself: interpreter and libraries."""
_ROWS_BETWEEN_LAYERS = 3


class Fit(msgspec.Struct, frozen=True, kw_only=True):
    """What a model would need, and what there is; bytes."""

    context: int
    """Tokens; the context that would be chosen."""
    weights: int
    cache: int
    """The KV cache of the whole context."""
    compute: int
    """An allowance for compute buffers and the engine's process."""
    free: int
    problem: str = ""
    """Why there can be no context of the size asked for; empty when there can."""

    @property
    def needed(self) -> int:
        """All together."""
        return self.weights + self.cache + self.compute

    @property
    def fits(self) -> bool:
        """Whether there is enough."""
        return not self.problem and self.needed <= self.free


def estimate(model: ModelFile, settings: EngineSettings, free: int) -> Fit:
    """Return how ``model`` with ``settings`` fits into ``free`` bytes; the context is chosen as the engine does.

    With sliding windows the cache is an upper bound. ``compute`` is

        micro-batch x 4 bytes x (logits of all tokens or, without flash attention and where that is more, the attention
        scores of all heads over the context; + half the context for the mask; + three rows between layers)

    and the engine's process. Layers on a GPU take its memory instead. Raises ``ModelError`` when the model cannot have
    a cache of the types asked for.
    """
    per_token = model.kv_bytes_per_token(settings.cache_type_k, settings.cache_type_v)
    problem = ""
    try:
        context = choose_context(settings.context, model.trained_context, per_token, max(0, free - model.bytes)).tokens
    except EngineError as error:
        context, problem = settings.context, str(error)
    return Fit(
        context=context,
        weights=model.bytes,
        cache=context * per_token,
        compute=_compute_bytes(model, settings, context) + _PROCESS_BYTES,
        free=free,
        problem=problem,
    )


def _compute_bytes(model: ModelFile, settings: EngineSettings, context: int) -> int:
    widest = model.vocabulary or 0
    if settings.flash_attention == "off":
        widest = max(widest, (model.heads or 1) * context)
    values = widest + context // 2 + _ROWS_BETWEEN_LAYERS * (model.width or 0)
    return 4 * values * min(settings.micro_batch, settings.batch, context)
