"""The flags that the scope and ``run`` share: llama.cpp's names and defaults."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, get_args

import click
from click.core import ParameterSource

from ..backends.checks import check_settings, check_system
from ..backends.limits import LIMITS, MOST_WHOLE
from ..backends.model_sampling import ModelSampling
from ..backends.requests import CacheType, EngineSettings, FlashAttention, Message, Request, Sampling
from ..traces.settings import described
from . import llama_words
from .flag_types import Limited, WholeRange, Word, gpu_layers, threads
from .settings import config_option, given, set_elsewhere, setting

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

_Command = TypeVar("_Command", bound=Callable[..., Any])
_SETTINGS = EngineSettings()
_SAMPLING = Sampling()

COMPARED_TOKENS = 256
"""How many tokens each model of a comparison writes at most, where nothing else is said."""


@dataclass(frozen=True)
class GenerationOptions:
    """What the shared flags say."""

    models: tuple[str, ...]
    """References; empty: the only model that is found."""
    settings: EngineSettings
    sampling: Sampling
    max_tokens: int
    stop: tuple[str, ...]
    system: str | None
    raw: bool
    probabilities: bool = False
    """Whether each token is to say how likely it was."""
    chosen: frozenset[str] = frozenset()
    """The fields of ``sampling`` that a flag, a variable or the file has set; the others may come from the model."""

    @property
    def model(self) -> str | None:
        """The one model of a run; ``None``: the only one that is found."""
        return self.models[0] if self.models else None

    def for_model(self, own: ModelSampling) -> "GenerationOptions":
        """Return the same options with a model's own defaults where no other value was chosen."""
        return replace(self, sampling=own.applied(self.sampling, self.chosen))

    def request(self, prompt: str) -> Request:
        """Return the request for a first turn."""
        messages: tuple[Message, ...] = () if self.raw else (Message("user", prompt),)
        if messages and self.system is not None:
            messages = (Message("system", self.system), *messages)
        return Request(
            messages=messages,
            prompt=prompt if self.raw else None,
            sampling=self.sampling,
            max_tokens=self.max_tokens,
            stop=self.stop,
            probabilities=self.probabilities,
        )

    def described(self) -> dict[str, Any]:
        """Return all of it as plain JSON values, under the long names of the flags."""
        return described(
            model=None if self.model is None else valid_text(self.model),
            settings=self.settings,
            sampling=self.sampling,
            max_tokens=self.max_tokens,
            stop=self.stop,
            system=self.system,
            raw=self.raw,
        )


def _stop_string(value: str) -> str:
    if not value:
        raise click.BadParameter("an empty stop string would stop at once.")
    return valid_text(value)


def valid_text(argument: str) -> str:
    """Return a command-line argument as valid Unicode; bytes that were not UTF-8 become U+FFFD."""
    return argument.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def complete_model(ctx: click.Context, parameter: click.Parameter, incomplete: str) -> "list[CompletionItem]":
    """Return what ``-m`` takes and begins with ``incomplete``, for a shell; the shell completes files itself."""
    from click.shell_completion import CompletionItem

    from ..models.discovery import candidates

    found = dict.fromkeys(candidate.reference for candidate in candidates() if isinstance(candidate.file, Path))
    names = [CompletionItem(reference) for reference in found if reference.startswith(incomplete)]
    return [*names, CompletionItem(incomplete, type="file")]


_choice_fa = Word(get_args(FlashAttention))
_choice_cache = Word(get_args(CacheType))


def _predict_option(default: int) -> Callable[[Any], Any]:
    return setting(
        "-n",
        "--predict",
        "--n-predict",
        "max_tokens",
        type=Limited("max_tokens"),
        default=default,
        metavar="N",
        envvar="LLAMA_ARG_N_PREDICT",
        from_variable=llama_words.unlimited,
        help=LIMITS["max_tokens"].about,
    )


_predict = _predict_option(-1)

_OPTIONS: tuple[Callable[[Any], Any], ...] = (
    config_option,
    setting(
        "-m",
        "--model",
        multiple=True,
        show_default=False,
        envvar="LLAMA_ARG_MODEL",
        metavar="MODEL",
        shell_complete=complete_model,
        help="A GGUF file, a folder, demo, hf:ORG/REPO[/FILE], ollama:NAME[:TAG] or script:FILE; with :TYPE after it, "
        "the quantization that decodescope models quantize made of it. "
        "Default: the only model that is found; of several one is chosen on the screen, and without a screen demo. "
        "Several -m are compared.",
    ),
    click.option("-p", "--prompt", "prompt_option", metavar="PROMPT", help="The prompt, instead of the argument."),
    click.option(
        "-f",
        "--file",
        "prompt_file",
        type=click.Path(allow_dash=True),
        metavar="FILE",
        help="Read the prompt from a file; with a PROMPT, the file's text follows it.",
    ),
    setting("-sys", "--system-prompt", "system", metavar="TEXT", help="The system prompt."),
    setting("--raw/--no-raw", show_default=False, help="Complete the prompt as it stands, without the chat template."),
    _predict,
    setting(
        "--stop",
        "stop",
        multiple=True,
        type=_stop_string,
        metavar="TEXT",
        help="End the answer before this text; can be given several times.",
    ),
    setting(
        "-c",
        "--ctx-size",
        "context",
        type=Limited("context"),
        default=_SETTINGS.context,
        metavar="N",
        envvar="LLAMA_ARG_CTX_SIZE",
        help=LIMITS["context"].about,
    ),
    setting(
        "-b",
        "--batch-size",
        "batch",
        type=WholeRange(1, MOST_WHOLE),
        default=_SETTINGS.batch,
        metavar="N",
        envvar="LLAMA_ARG_BATCH",
        help="Prompt tokens handed to llama.cpp at once.",
    ),
    setting(
        "-ub",
        "--ubatch-size",
        "micro_batch",
        type=WholeRange(1, MOST_WHOLE),
        default=_SETTINGS.micro_batch,
        metavar="N",
        envvar="LLAMA_ARG_UBATCH",
        help="Prompt tokens computed at once.",
    ),
    setting(
        "-t",
        "--threads",
        "threads",
        type=threads,
        metavar="N|auto",
        envvar="LLAMA_ARG_THREADS",
        from_variable=llama_words.threads,
        help="Threads for decode. auto: the cores that this process may use; the scope and run take fewer while other "
        "programs keep some of them busy. Default: auto.",
    ),
    setting(
        "-tb",
        "--threads-batch",
        "threads_batch",
        type=threads,
        metavar="N",
        help="Threads for reading the prompt. Default: as -t.",
    ),
    setting(
        "-ngl",
        "--gpu-layers",
        "--n-gpu-layers",
        "gpu_layers",
        type=gpu_layers,
        default=str(_SETTINGS.gpu_layers),
        metavar="N",
        envvar="LLAMA_ARG_N_GPU_LAYERS",
        from_variable=llama_words.unlimited,
        help="Layers on the GPU; -1 or all: as many as fit the devices.",
    ),
    setting(
        "-fa",
        "--flash-attn",
        "flash_attention",
        type=_choice_fa,
        default=_SETTINGS.flash_attention,
        envvar="LLAMA_ARG_FLASH_ATTN",
        from_variable=llama_words.flash_attention,
        help="Flash attention.",
    ),
    setting(
        "-ctk",
        "--cache-type-k",
        "cache_type_k",
        type=_choice_cache,
        default=_SETTINGS.cache_type_k,
        metavar="TYPE",
        envvar="LLAMA_ARG_CACHE_TYPE_K",
        help=f"Type of the K cache: {', '.join(get_args(CacheType))}.",
    ),
    setting(
        "-ctv",
        "--cache-type-v",
        "cache_type_v",
        type=_choice_cache,
        default=_SETTINGS.cache_type_v,
        metavar="TYPE",
        envvar="LLAMA_ARG_CACHE_TYPE_V",
        help="Type of the V cache; other than f32, f16 and bf16 it needs flash attention.",
    ),
    setting(
        "--repack/--no-repack",
        " /-nr",
        "repack",
        default=_SETTINGS.repack,
        show_default=False,
        envvar="LLAMA_ARG_REPACK",
        off_variable="LLAMA_ARG_NO_REPACK",
        from_variable=llama_words.switch,
        help="Repack weights for faster kernels, such as those for AMX, where llama.cpp can. On by default.",
    ),
    setting(
        "-s",
        "--seed",
        "seed",
        type=Limited("seed"),
        default=_SAMPLING.seed,
        metavar="N",
        help=LIMITS["seed"].about,
    ),
    setting(
        "--temp",
        "temp",
        type=Limited("temp"),
        default=_SAMPLING.temp,
        metavar="T",
        envvar="LLAMA_ARG_TEMPERATURE",
        from_variable=llama_words.not_negative,
        help=LIMITS["temp"].about,
    ),
    setting(
        "--top-k",
        "top_k",
        type=Limited("top_k"),
        default=_SAMPLING.top_k,
        metavar="N",
        envvar="LLAMA_ARG_TOP_K",
        from_variable=llama_words.whole_not_negative,
        help=LIMITS["top_k"].about,
    ),
    setting(
        "--top-p",
        "top_p",
        type=Limited("top_p"),
        default=_SAMPLING.top_p,
        metavar="P",
        envvar="LLAMA_ARG_TOP_P",
        from_variable=llama_words.probability,
        help=LIMITS["top_p"].about,
    ),
    setting(
        "--min-p",
        "min_p",
        type=Limited("min_p"),
        default=_SAMPLING.min_p,
        metavar="P",
        envvar="LLAMA_ARG_MIN_P",
        from_variable=llama_words.not_negative,
        help=LIMITS["min_p"].about,
    ),
    setting(
        "--repeat-penalty",
        "repeat_penalty",
        type=Limited("repeat_penalty"),
        default=_SAMPLING.repeat_penalty,
        metavar="X",
        envvar="LLAMA_ARG_REPEAT_PENALTY",
        help=LIMITS["repeat_penalty"].about,
    ),
    setting(
        "--repeat-last-n",
        "repeat_last_n",
        type=Limited("repeat_last_n"),
        default=_SAMPLING.repeat_last_n,
        metavar="N",
        help=LIMITS["repeat_last_n"].about,
    ),
    setting("--ignore-eos/--no-ignore-eos", "ignore_eos", show_default=False, help="Go on when the model would stop."),
    click.option(
        "--probabilities",
        is_flag=True,
        help="Compute how likely every token was and what could have come instead, from the first one on: for --jsonl, "
        "for --record and on the screen. It adds to the time of every token.",
    ),
)


def generation_options(command: _Command) -> _Command:
    """Add the shared flags to a command; its keyword arguments go to ``collect``."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def comparison_options(command: _Command) -> _Command:
    """Add the shared flags to a command that compares, where a model that never stops would hold up the others."""
    for option in reversed(_OPTIONS):
        command = (_predict_option(COMPARED_TOKENS) if option is _predict else option)(command)
    return command


def collect(values: dict[str, Any]) -> GenerationOptions:
    """Turn the keyword arguments of the shared flags into options.

    Raises click.UsageError for what cannot go together.
    """
    settings = EngineSettings(**{name: values[name] for name in EngineSettings.__struct_fields__ if name in values})
    sampled = [name for name in Sampling.__struct_fields__ if name in values]
    sampling = Sampling(**{name: values[name] for name in sampled})
    problems = check_settings(settings)
    raw, system = values["raw"], values["system"]
    ctx = click.get_current_context()
    if raw and system is not None:
        # What is said on the command line displaces a default that it cannot go with.
        if given(ctx, "raw") and not given(ctx, "system"):
            system = None
        elif given(ctx, "system") and not given(ctx, "raw"):
            raw = False
        else:
            problems += check_system(system, raw=raw)
    if problems:
        raise click.UsageError(" ".join([*problems, set_elsewhere(ctx)]).rstrip())
    return GenerationOptions(
        models=values["model"],
        settings=settings,
        sampling=sampling,
        max_tokens=values["max_tokens"],
        stop=values["stop"],
        system=None if system is None else valid_text(system),
        raw=raw,
        probabilities=values["probabilities"],
        chosen=frozenset(
            name for name in sampled if ctx.get_parameter_source(name) not in (None, ParameterSource.DEFAULT)
        ),
    )
