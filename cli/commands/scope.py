"""The scope itself: what ``decodescope`` does when no command is named."""

import gc
import os
import sys
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from ..exit_codes import ExitCode
from ..failure import failure_text
from ..options import GenerationOptions, collect, generation_options
from ..prompt import read_prompt
from ..recording import open_recording, recording_options
from ..settings import setting
from ..streams import Messages, is_terminal

if TYPE_CHECKING:
    from ...traces.tape import SessionTape

theme_option = setting("--theme", metavar="NAME", help="Colours of the screen: one of Textual's themes.")


@click.command("scope")
@click.argument("words", nargs=-1, metavar="[PROMPT]")
@recording_options
@generation_options
@theme_option
@setting(
    "--fps",
    type=click.IntRange(1, 30),
    metavar="N",
    help="Draw new text N times a second at most, 1 to 30; default: about 9.",
)
@setting(
    "--low-bandwidth/--no-low-bandwidth",
    show_default=False,
    help="Draw less often and send less to the terminal, with all the figures. Over SSH the screen changes to it by "
    "itself when the first frames are taken slowly, unless --fps is given.",
)
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

    With stdout not a terminal, the text is streamed instead, as by decodescope run.
    """
    ctx = click.get_current_context()
    prompt_argument = _one_word(ctx, words)
    options = collect(values)
    if theme is not None:
        _check_theme(theme)
    messages = Messages()
    prompt = read_prompt(prompt_argument, prompt_option, prompt_file, messages)
    obstacle = _obstacle()
    begin_recording = partial(open_recording, record, options.described(), no_text=no_text, overwrite=overwrite)
    if obstacle is None:
        from ...traces.tape import SessionTape

        tape = SessionTape(text=not no_text, recording=begin_recording())
        try:
            ctx.exit(_open(options, prompt, messages, tape, theme=theme, fps=fps, low_bandwidth=low_bandwidth))
        finally:
            tape.close()
    if prompt is None:
        raise click.UsageError(f"There is no prompt, and no screen to type one into: {obstacle}.")
    if is_terminal(sys.stdout):
        messages.say(f"Plain text, since {obstacle}.")

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


def _obstacle() -> str | None:
    """Return why there can be no screen, if so."""
    if not is_terminal(sys.stdout):
        return "standard output is not a terminal"
    if os.environ.get("TERM", "dumb") in ("", "dumb", "unknown"):
        return "this terminal cannot be drawn on (TERM)"
    return None


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
    from ...backends.launch import resolve
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
        sampling=options.sampling,
        max_tokens=options.max_tokens,
        stop=options.stop,
        system=options.system,
        raw=options.raw,
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


def _check_theme(theme: str) -> None:
    from textual.theme import BUILTIN_THEMES

    if theme not in BUILTIN_THEMES:
        raise click.BadParameter(f"there is no theme {theme!r}. Themes: {', '.join(BUILTIN_THEMES)}.")
