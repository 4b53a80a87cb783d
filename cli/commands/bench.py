"""``decodescope bench``: how fast models read and write."""

import os
from collections.abc import Callable
from typing import Any

import click

from ..flag_types import FiniteRange, Word
from ..options import valid_text
from ..streams import Messages

_TOLERANCE_PERCENT = 5.0


def _listed(parse: Callable[..., Any]) -> Callable[[click.Context, click.Parameter, Any], Any]:
    def callback(_ctx: click.Context, _parameter: click.Parameter, value: Any) -> Any:
        try:
            return parse(value)
        except ValueError as error:
            raise click.BadParameter(str(error)) from error

    return callback


def _numbers(least: int) -> Callable[[str], Any]:
    def parse(text: str) -> Any:
        from ...bench.grid import whole_numbers

        return whole_numbers(text, least=least)

    return parse


def _words(kind: str) -> Callable[[str], Any]:
    def parse(text: str) -> Any:
        from ..bench_plan import WORDS, named

        return named(text, WORDS[kind])

    return parse


def _pairs(texts: Any) -> Any:
    from ...bench.grid import pairs

    return pairs(texts)


def _threads(text: str | None) -> Any:
    return (None,) if text is None else _numbers(1)(text)


def _list(
    *names: str, default: str | None, parse: Callable[..., Any], help: str
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    return click.option(*names, default=default, metavar="LIST", callback=_listed(parse), help=help)


def _no_recording(_ctx: click.Context, _parameter: click.Parameter, given: str | None) -> None:
    if given is not None:
        raise click.UsageError(
            "bench generates no text that could be replayed. Its results are kept by -o jsonl > FILE, with a sample of "
            "each repetition, and read again by --against FILE."
        )


@click.command("bench", short_help="Measure how fast models read and write, in the way of llama-bench.")
@click.option("-m", "--model", "models", multiple=True, metavar="MODEL[,MODEL]...", help="As for the other commands.")
@_list("-p", "--n-prompt", "prompt", default="512", parse=_numbers(0), help="Prompt tokens to read; 0: none.")
@_list("-n", "--n-gen", "generate", default="128", parse=_numbers(0), help="Tokens to generate; 0: none.")
@click.option(
    "-pg",
    "both",
    multiple=True,
    metavar="N,N",
    callback=_listed(_pairs),
    help="Prompt tokens to read, and then tokens to generate; can be given several times.",
)
@_list("-d", "--n-depth", "depth", default="0", parse=_numbers(0), help="Tokens in the KV cache before; not timed.")
@_list(
    "--sample",
    "sample",
    default="0",
    parse=_words("switch"),
    help="1: draw every token from the logits, as in a generation; 0: none, as llama-bench.",
)
@_list("-t", "--threads", "threads", default=None, parse=_threads, help="Default: the cores that may be used.")
@_list("-b", "--batch-size", "batch", default="2048", parse=_numbers(1), help="Prompt tokens handed over at once.")
@_list("-ub", "--ubatch-size", "micro_batch", default="512", parse=_numbers(1), help="Prompt tokens computed at once.")
@_list("-ctk", "--cache-type-k", "cache_type_k", default="f16", parse=_words("cache"), help="Type of the K cache.")
@_list("-ctv", "--cache-type-v", "cache_type_v", default="f16", parse=_words("cache"), help="Type of the V cache.")
@_list("-fa", "--flash-attn", "flash_attention", default="auto", parse=_words("flash"), help="on, off or auto.")
@_list("-ngl", "--n-gpu-layers", "gpu_layers", default="-1", parse=_numbers(-1), help="Layers on the GPU; -1: all.")
@_list(
    "--repack",
    "repack",
    default="1",
    parse=_words("switch"),
    help="1: repack weights for faster kernels, such as those for AMX; 0: leave them as they are.",
)
@click.option("-nr", "--no-repack", is_flag=True, help="Same as --repack 0.")
@click.option("-r", "--repetitions", type=click.IntRange(1, 10_000), default=5, metavar="N", help="Of each test.")
@click.option(
    "--delay", type=click.IntRange(0, 86_400), default=0, metavar="S", help="Seconds to wait before each test."
)
@click.option("--no-warmup", is_flag=True, help="Leave out the run before each test that does not count.")
@click.option(
    "-o",
    "--output",
    "form",
    type=Word(["md", "csv", "json", "jsonl"]),
    default="md",
    help="What is printed; with llama-bench's names.",
)
@click.option("--against", type=click.Path(), metavar="FILE", help="Compare with older results, JSON or JSON Lines.")
@click.option(
    "--tolerance",
    type=FiniteRange(0, 100, max_open=True),
    default=_TOLERANCE_PERCENT,
    metavar="PERCENT",
    help="With --against: how much of the speed may be lost.",
)
@click.option("--noisy", is_flag=True, help="With --against: count the repetitions on a busy machine, too, and say so.")
@click.option("--record", hidden=True, expose_value=False, callback=_no_recording)
def bench_command(
    models: tuple[str, ...],
    repetitions: int,
    delay: int,
    no_warmup: bool,
    no_repack: bool,
    form: str,
    against: str | None,
    tolerance: float,
    noisy: bool,
    **values: Any,
) -> None:
    """Measure how fast models read (pp512) and write (tg128), on random tokens, and how quiet the machine was.

    Lists such as 1,2,4, ranges such as 1-4, 0-4096+1024 and 1-64*2: all combinations are measured. Files with settings
    and LLAMA_ARG_ variables do not count here.

    With --against a row that is slower by more than --tolerance, its whole 95 % interval beyond it, makes the exit
    status 1. It is 4 when nothing could be compared, as on a busy machine; what could not be and why is said.

    Exit status: 0 done, 1 something could not be measured or has become slower, 2 wrong usage, 3 a model could not be
    loaded (the others are measured all the same), 4 nothing could be compared, 130 cancelled, with the repetitions that
    were complete by then; stderr says what is missing.
    """
    if noisy and against is None:
        raise click.UsageError("--noisy goes with --against FILE.")
    from ...bench.formats import Form
    from ..bench_plan import Grid
    from ..benching import bench

    if no_repack:
        values["repack"] = (False,)
    messages = Messages()
    grid = Grid(models=_models(models), **values)
    status = bench(
        grid,
        messages,
        form=Form(form),
        repetitions=repetitions,
        pause_ms=delay * 1000,
        warm_up=not no_warmup,
        against=None if against is None else valid_text(against),
        tolerance=tolerance / 100,
        noisy=noisy,
    )
    click.get_current_context().exit(status)


def _models(given: tuple[str, ...]) -> tuple[str, ...]:
    """Return the references: those with a comma in them are lists, unless there is a file of that name."""
    found: list[str] = []
    for one in given:
        found += [one] if os.path.exists(one.removeprefix("script:")) else one.split(",")
    if any(not one.strip() for one in found):
        raise click.BadParameter("a model of the list has no name.", param_hint="'-m'")
    return tuple(found)
