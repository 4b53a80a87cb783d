"""The scope itself: what ``decodescope`` does when no command is named."""

import gc
import sys
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from ...traces.versions import SEVERAL_ENGINES
from ..exit_codes import ExitCode
from ..failure import failure_text
from ..options import COMPARED_TOKENS, GenerationOptions, collect, generation_options
from ..prompt import read_prompt
from ..recording import check_recording, closed, open_recording, recording_options
from ..screen import check_theme, obstacle, screen_options
from ..streams import Messages, is_terminal

if TYPE_CHECKING:
    from ...traces.tape import SessionTape


@click.command("scope")
@click.argument("words", nargs=-1, metavar="[PROMPT]")
@recording_options
@generation_options
@screen_options
def scope_command(
    words: tuple[str, ...],
    prompt_option: str | None,
    prompt_file: str | None,
    theme: str | None,
    fps: int | None,
    low_bandwidth: bool,
    record: str | None,
    no_text: bool,
    overwrite: bool,
    **values: Any,
) -> None:
    """Watch a local model read a prompt and write its answer.

    With stdout not a terminal, the text is streamed instead, as by decodescope run. Several -m are compared, as by
    decodescope compare.
    """
    ctx = click.get_current_context()
    prompt_argument = _one_word(ctx, words)
    options = collect(values)
    check_theme(theme)
    messages = Messages()
    prompt = read_prompt(prompt_argument, prompt_option, prompt_file, messages)
    if len(options.models) > 1:
        check_recording(record, overwrite=overwrite)
        begin = partial(open_recording, record, no_text=no_text, overwrite=overwrite, format=SEVERAL_ENGINES)
        screen = {"theme": theme, "fps": fps, "low_bandwidth": low_bandwidth}
        ctx.exit(_compare(ctx, options, prompt, messages, record=begin, text=not no_text, **screen))
    begin_recording = partial(open_recording, record, options.described(), no_text=no_text, overwrite=overwrite)
    without = obstacle()
    if without is None:
        from ...traces.tape import SessionTape

        tape = SessionTape(text=not no_text, recording=begin_recording())
        status: int = ExitCode.FAILED
        try:
            status = _open(options, prompt, messages, tape, theme=theme, fps=fps, low_bandwidth=low_bandwidth)
        finally:
            status = closed(tape, messages, status)
        ctx.exit(status)
    if prompt is None:
        raise click.UsageError(f"There is no prompt, and no screen to type one into: {without}.")
    if is_terminal(sys.stdout):
        messages.say(f"Plain text, since {without}.")

    from ..headless import generate
    from ..outputs import PlainOutput
    from ..streams import Data

    data = Data()
    ctx.exit(generate(options, prompt, PlainOutput(data, messages), data, messages, begin_recording()))


def _one_word(ctx: click.Context, words: tuple[str, ...]) -> str | None:
    if len(words) < 2:
        return words[0] if words else None
    commands = ctx.parent.command if ctx.parent is not None else None
    if isinstance(commands, click.Group) and words[0] in commands.list_commands(ctx):
        raise click.UsageError(f"A command comes before its options: decodescope {words[0]} …")
    raise click.UsageError("The prompt is one argument: put it between quotes.")


def _compare(
    ctx: click.Context,
    options: GenerationOptions,
    prompt: str | None,
    messages: Messages,
    **further: Any,
) -> int:
    """Several models: the same as ``decodescope compare`` with its defaults."""
    from ..comparing import compare
    from ..comparison_plan import Asked

    if ctx.get_parameter_source("max_tokens") is ParameterSource.DEFAULT:
        options = replace(options, max_tokens=COMPARED_TOKENS)
    return compare(Asked(options, prompt), messages, **further)


def _open(
    options: GenerationOptions,
    prompt: str | None,
    messages: Messages,
    tape: "SessionTape",
    *,
    theme: str | None,
    fps: int | None,
    low_bandwidth: bool,
) -> int:
    # Importing makes many objects and no garbage; the screen turns collection on again once it is there.
    gc.disable()
    from ...backends.launch import resolve, sampling_of
    from ...models.errors import ModelError
    from ...models.references import only_model
    from ...tui.app import run_scope
    from ...tui.options import ScopeOptions
    from ...tui.terminal import NoTerminalError

    try:
        model = only_model() if options.model is None else resolve(options.model)
    except ModelError as error:
        messages.say(failure_text(error.what, error.reason, error.remedy))
        return ExitCode.NOT_LOADED
    scope = ScopeOptions(
        model=model,
        settings=options.settings,
        sampling=sampling_of(model).applied(options.sampling, options.chosen),
        chosen=options.chosen,
        max_tokens=options.max_tokens,
        stop=options.stop,
        system=options.system,
        raw=options.raw,
        probabilities=options.probabilities,
        prompt=prompt,
        fps=fps,
        low_bandwidth=low_bandwidth,
        theme=theme,
    )
    try:
        return run_scope(scope, tape)
    except NoTerminalError as error:
        messages.say(str(error))
        return ExitCode.FAILED
