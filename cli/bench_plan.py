"""From the command line to the plan of a bench."""

import itertools
import time
from dataclasses import dataclass
from typing import Any, get_args

import click
from msgspec.structs import replace

from ..backends.checks import check_settings
from ..backends.events import Failed
from ..backends.launch import Source, resolve
from ..backends.requests import CacheType, EngineSettings, FlashAttention
from ..bench.grid import words
from ..bench.plan import BenchPlan, Group, Trial, context_for
from ..models.errors import ModelError
from .options import valid_text

WORDS: dict[str, dict[str, Any]] = {
    "switch": {"0": False, "1": True},
    "cache": {name: name for name in get_args(CacheType)},
    "flash": {**{name: name for name in get_args(FlashAttention)}, "1": "on", "0": "off", "-1": "auto"},
}
"""What the flags that take words know, and what each stands for; llama-bench's numbers among them."""


def named(text: str, known: dict[str, Any]) -> tuple[Any, ...]:
    """Return what the words of a comma list stand for. Raises ValueError in words."""
    return tuple(known[word] for word in words(text, known))


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid:
    """All values of every flag; what is measured is their combinations."""

    models: tuple[str, ...]
    """References; empty: the only model that is found."""
    prompt: tuple[int, ...]
    generate: tuple[int, ...]
    both: tuple[tuple[int, int], ...]
    depth: tuple[int, ...]
    sample: tuple[bool, ...]
    threads: tuple[int | None, ...]
    batch: tuple[int, ...]
    micro_batch: tuple[int, ...]
    cache_type_k: tuple[CacheType, ...]
    cache_type_v: tuple[CacheType, ...]
    flash_attention: tuple[FlashAttention, ...]
    gpu_layers: tuple[int, ...]
    repack: tuple[bool, ...]

    def trials(self) -> tuple[Trial, ...]:
        """Return the tests of each model, in llama-bench's order: by depth, reading first."""
        amounts = [(prompt, 0) for prompt in self.prompt]
        amounts += [(0, generate) for generate in self.generate]
        amounts += self.both
        return tuple(
            Trial(prompt=prompt, generate=generate, depth=depth, sample=sample)
            for depth in self.depth
            for sample in self.sample
            for prompt, generate in amounts
            if prompt or generate
        )

    def check(self) -> None:
        """Raise click.UsageError for what cannot be measured, before anything is looked up."""
        if not self.trials():
            rest = "-p, -n and -pg are 0" if self.both else "-p and -n are 0, and there is no -pg"
            raise click.UsageError(f"There is nothing to measure: {rest}.")
        if problems := {one for settings in self._settings() for one in check_settings(settings)}:
            raise click.UsageError(" ".join(sorted(problems)))

    def plan(self, *, repetitions: int, warm_up: bool, pause_ms: int) -> BenchPlan:
        """Look up the models and return the plan; one that cannot be used has groups that say why."""
        trials = self.trials()
        groups = []
        for reference in self.models or (None,):
            source = _source(reference)
            name = valid_text(reference or ("the model" if isinstance(source, Failed) else source.name))
            groups += [
                Group(name, source, replace(settings, context=context_for(trials, settings)), trials)
                for settings in self._settings()
            ]
        return BenchPlan(groups=tuple(groups), repetitions=repetitions, warm_up=warm_up, pause_ms=pause_ms)

    def _settings(self) -> list[EngineSettings]:
        """Return all combinations, in llama-bench's order."""
        combinations = itertools.product(
            self.gpu_layers,
            self.repack,
            self.batch,
            self.micro_batch,
            self.cache_type_k,
            self.cache_type_v,
            self.flash_attention,
            self.threads,
        )
        return [
            EngineSettings(
                batch=batch,
                micro_batch=min(micro_batch, batch),
                threads=threads,
                gpu_layers=layers,
                flash_attention=attention,
                cache_type_k=k,
                cache_type_v=v,
                repack=repack,
            )
            for layers, repack, batch, micro_batch, k, v, attention, threads in combinations
        ]


def _source(reference: str | None) -> Source | Failed:
    try:
        return resolve(reference)
    except ModelError as error:
        return Failed(t=time.perf_counter_ns(), stage="load", what=error.what, reason=error.reason, remedy=error.remedy)
