"""From ``-m`` and ``--quants`` to the lanes of a comparison."""

import time
from collections.abc import Sequence

import click

from ..backends.events import Failed
from ..backends.launch import ScriptFile, Source, resolve
from ..comparison.labels import labels
from ..comparison.plan import FEWEST_LANES, MOST_LANES, LanePlan, Unusable
from ..models.errors import ModelError
from ..models.recipes import recipe_named
from .columns import clip
from .options import valid_text

_NAME_CELLS = 28


def quantizations(text: str) -> tuple[str, ...]:
    """Return the types in a list such as ``Q8_0,q4_k_m``, under llama.cpp's names. Raises click.BadParameter."""
    try:
        return tuple(recipe_named(word) for word in text.split(","))
    except ModelError as error:
        raise click.BadParameter(str(error)) from error


def check_number(models: Sequence[str], quants: Sequence[str]) -> None:
    """Raise click.UsageError when there would be too few lanes, or too many."""
    number = max(1, len(models)) * max(1, len(quants))
    if FEWEST_LANES <= number <= MOST_LANES:
        return
    named = f"{number} {'is' if number == 1 else 'are'} named"
    if models and quants:
        named = f"{len(models)} × {len(quants)} are named, as every -m is compared in every type of --quants"
    how = "Name each with -m, or the types of one model with --quants Q8_0,Q4_K_M."
    raise click.UsageError(f"A comparison takes {FEWEST_LANES} to {MOST_LANES} models; {named}. {how}")


def lanes(models: Sequence[str], quants: Sequence[str]) -> tuple[LanePlan, ...]:
    """Return the lanes: every model in the order given, and each in every type of ``quants`` if there are any.

    A model that is of a type already is taken as it is; what cannot be used has a lane behind them that
    says why. Raises
    click.UsageError for a script that was to be quantized.
    """
    plans: list[tuple[str, str, Source | Unusable, str | None]] = []
    for reference in models or (None,):
        source = _source(reference)
        if quants and isinstance(source, ScriptFile):
            raise click.UsageError(f"{valid_text(source.name)} is a script, of which --quants can make nothing.")
        name = clip(reference if reference == "demo" else valid_text(source.name), _NAME_CELLS)
        own = "" if isinstance(source, ScriptFile | Unusable) else source.quantization
        for kind in quants or (own,):
            same = not quants or kind.upper() == own.upper()
            plans.append((name, kind, source, None if same or isinstance(source, Unusable) else kind))
    # What can be used comes first: the first lane is the reference.
    plans.sort(key=lambda plan: isinstance(plan[2], Unusable))
    called = labels([(name, kind) for name, kind, _, _ in plans])
    return tuple(LanePlan(label, source, make) for label, (_, _, source, make) in zip(called, plans, strict=True))


def _source(reference: str | None) -> Source | Unusable:
    try:
        return resolve(reference)
    except ModelError as error:
        failed = Failed(
            t=time.perf_counter_ns(), stage="load", what=error.what, reason=error.reason, remedy=error.remedy
        )
        return Unusable(valid_text(reference or "the model"), failed)
