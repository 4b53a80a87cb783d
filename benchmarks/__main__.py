"""Measure and print: ``python -m benchmarks [NAME]…``; without names, everything."""

import platform
from collections.abc import Callable

import click

from . import (
    THREADS,
    engine_speed,
    foresight,
    lanes,
    llama_bench,
    race_cost,
    recording,
    replaying,
    scoring,
    screen_cost,
    thread_choice,
    token_facts,
)
from .figures import Figure, table

BENCHMARKS: dict[str, Callable[[], list[Figure]]] = {
    "bare": engine_speed.against_bare,
    "stock": engine_speed.against_stock,
    "cancel": engine_speed.cancelling,
    "prefill": foresight.prefill_foreseen,
    "floor": foresight.floor,
    "probabilities": token_facts.cost_of_probabilities,
    "scoring": scoring.against_prefill,
    "disturbance": token_facts.naming_disturbances,
    "threads": thread_choice.adapting,
    "recording": recording.against_none,
    "replay": replaying.replaying,
    "screen": screen_cost.cost_to_the_generation,
    "machine": screen_cost.cost_to_the_machine,
    "line": screen_cost.cost_to_a_slow_line,
    "start": screen_cost.starting,
    "flood": screen_cost.flood,
    "lane": lanes.lane_against_alone,
    "self": lanes.lane_against_itself,
    "race": race_cost.race,
    "llama-bench": llama_bench.beside_llama_bench,
}


@click.command()
@click.argument("names", nargs=-1, type=click.Choice(list(BENCHMARKS)), metavar="[NAME]...")
def main(names: tuple[str, ...]) -> None:
    """Measure what the program promises; without a NAME, all of it."""
    figures: list[Figure] = []
    load = screen_cost.load_average()
    for name in names or BENCHMARKS:
        click.echo(f"measuring: {name} …", err=True)
        measured = BENCHMARKS[name]()
        figures += measured
        # As they come: the whole takes many minutes, and what is measured stays known if it is cut short.
        for figure in measured:
            click.echo(f"  {figure.name}: {figure.measured} (target {figure.target}): {figure.verdict}", err=True)
    click.echo(table(figures))
    click.echo(f"\n{platform.machine()}, {THREADS} CPUs, load before: {load}; ratios are medians of interleaved pairs.")


if __name__ == "__main__":
    main()
