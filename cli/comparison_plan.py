"""From the command line to the plan of a comparison."""

import secrets
from dataclasses import dataclass
from typing import Any

import click
import msgspec

from ..comparison.plan import ComparisonPlan
from .lanes import check_number, lanes
from .options import GenerationOptions

_SEED_BITS = 32


@dataclass(frozen=True)
class Asked:
    """What the command line says about a comparison."""

    options: GenerationOptions
    prompt: str | None
    quants: tuple[str, ...] = ()
    rounds: int = 3
    together: bool = False
    quality: bool = True
    text: str | None = None

    def check(self) -> None:
        """Raise click.UsageError for what cannot be compared, before anything is looked up."""
        check_number(self.options.models, self.quants)
        if self.prompt is None:
            raise click.UsageError("There is no prompt: give it as an argument, with -f FILE, or through a pipe.")

    def described(self, plan: ComparisonPlan) -> dict[str, Any]:
        """Return what all lanes are asked for as plain JSON values, under the long names of the flags; the seed is the
        one that was drawn."""
        settings = self.options.described()
        del settings["model"]
        return settings | {"seed": plan.request.sampling.seed}

    def plan(self) -> ComparisonPlan:
        """Look up the models and return the plan, its seed drawn. Raises click.UsageError."""
        request = self.options.request(self.prompt or "")
        if request.sampling.seed < 0:
            sampling = msgspec.structs.replace(request.sampling, seed=secrets.randbits(_SEED_BITS))
            request = msgspec.structs.replace(request, sampling=sampling)
        return ComparisonPlan(
            lanes=lanes(self.options.models, self.quants),
            settings=self.options.settings,
            request=request,
            rounds=self.rounds,
            together=self.together,
            quality=self.quality,
            text=self.text,
        )
