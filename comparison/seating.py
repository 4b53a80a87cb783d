"""How much context every lane gets, and whether all lanes can be loaded at once; told before anything is loaded."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import msgspec

from ..backends.fit import estimate
from ..backends.launch import Source
from ..backends.requests import EngineSettings
from ..models.errors import ModelError
from ..models.facts import ModelFile
from .plan import ComparisonPlan

_TEMPLATE_TOKENS = 1024
"""An allowance for what a chat template adds to the texts of a request."""
_TEXT_TOKENS = 8192
"""A longer text is scored in chunks of that many tokens, unless the request needs a larger context."""
_GRAIN = 256


@dataclass(frozen=True, slots=True)
class Seating:
    """What was decided."""

    settings: EngineSettings
    """For all lanes."""
    in_turn: bool
    """Whether only one lane can be loaded at a time."""
    without_room: frozenset[int] = frozenset()
    """Lanes that cannot be loaded beside the others, although all were to run together."""


def seat(plan: ComparisonPlan, sources: Sequence[Source | None], free: int) -> Seating:
    """Return how the lanes of ``plan`` are loaded into ``free`` bytes; ``None``: a lane that takes no part."""
    settings = common_settings(plan, [source for source in sources if source is not None], free)
    fits = loadable(sources, settings, free)
    if not plan.together:
        return Seating(settings, in_turn=not all(fits))
    return Seating(settings, False, frozenset(number for number, fit in enumerate(fits) if not fit))


def common_settings(plan: ComparisonPlan, sources: Iterable[Source], free: int) -> EngineSettings:
    """Return the settings that all lanes are loaded with.

    Where no context is asked for, it is as large as the request and the text to be scored (of that at most 8192 tokens)
    can become, a token being at least one byte, rounded up to 256 and the same for all lanes: at most what the model
    with the shortest training was trained for, and what the one with the hungriest cache can have in ``free`` bytes. So
    no lane reads a longer context than another, and none takes memory that the next one needs.
    """
    models = [source for source in sources if isinstance(source, ModelFile)]
    if plan.settings.context or not models:
        return plan.settings
    most = min(_affordable(model, plan.settings, free) for model in models)
    wanted = _most_tokens(plan)
    context = most if wanted is None else min(most, -(-wanted // _GRAIN) * _GRAIN)
    return msgspec.structs.replace(plan.settings, context=context)


def loadable(sources: Sequence[Source | None], settings: EngineSettings, free: int) -> list[bool]:
    """Return for each lane whether it fits into ``free`` bytes beside those before it; ``None`` takes no part.

    Weights of the same file are mapped once, whoever reads them.
    """
    fits = []
    mapped = set()
    for source in sources:
        needed = 0
        if isinstance(source, ModelFile):
            try:
                fit = estimate(source, settings, free)
            except ModelError:  # said when it is launched
                fits.append(True)
                continue
            needed = fit.needed - (fit.weights if source.path in mapped else 0)
        fits.append(needed <= free)
        if needed <= free and isinstance(source, ModelFile):
            free -= needed
            mapped.add(source.path)
    return fits


def _affordable(model: ModelFile, settings: EngineSettings, free: int) -> int:
    try:
        return estimate(model, settings, free).context
    except ModelError:  # a cache of these types is impossible, which is said when it is launched
        return model.trained_context


def _most_tokens(plan: ComparisonPlan) -> int | None:
    """Return how many tokens the request may take at most; ``None`` when it may go on for ever."""
    request = plan.request
    if request.max_tokens < 0:
        return None
    texts = [request.prompt or "", *(message.content for message in request.messages)]
    asked = _TEMPLATE_TOKENS + sum(len(text.encode()) for text in texts) + request.max_tokens
    return asked if plan.text is None else max(asked, min(_TEXT_TOKENS, 1 + len(plan.text.encode())))
