"""The group of commands: which one a command line means, and what becomes of its errors."""

import os
import shlex
import sys
from collections.abc import Callable, Sequence
from typing import Any

import click

from .. import __version__
from ..models.suggestions import did_you_mean, nearest
from .exit_codes import ExitCode
from .streams import Messages, descriptor, not_written, to_nowhere

_SCOPE = "scope"
_COMPLETION = "_DECODESCOPE_COMPLETE"
_NEAR = 0.75
"""How alike a word and the name of a command are when the one is taken for the other misspelt, 0 to 1."""


def _scope() -> click.Command:
    from .commands.scope import scope_command

    return scope_command


def _bench() -> click.Command:
    from .commands.bench import bench_command

    return bench_command


def _run() -> click.Command:
    from .commands.run import run_command

    return run_command


def _models() -> click.Command:
    from .commands.models import models_command

    return models_command


def _compare() -> click.Command:
    from .commands.compare import compare_command

    return compare_command


def _config() -> click.Command:
    from .commands.config import config_command

    return config_command


def _replay() -> click.Command:
    from .commands.replay import replay_command

    return replay_command


def _doctor() -> click.Command:
    from .commands.doctor import doctor_command

    return doctor_command


def _export() -> click.Command:
    from .commands.export import export_command

    return export_command


def _serve() -> click.Command:
    from .commands.serve import serve_command

    return serve_command


_COMMANDS: dict[str, Callable[[], click.Command]] = {
    "bench": _bench,
    "compare": _compare,
    "config": _config,
    "doctor": _doctor,
    "export": _export,
    "models": _models,
    "replay": _replay,
    "run": _run,
    "serve": _serve,
}


class _PromptOrCommand(click.Group):
    """A group whose first word, when it names no command, belongs to the scope: ``decodescope "hello"``.

    A command is imported when it is asked for.
    """

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if not args or args[0] not in (*_COMMANDS, "-h", "--help", "--version"):
            if args:
                _refuse_misspelt(args[0], ctx)
            args = [_SCOPE, *args]
        return super().parse_args(ctx, args)

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name == _SCOPE:
            return _scope()
        return _COMMANDS[cmd_name]() if cmd_name in _COMMANDS else None

    def format_usage(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        formatter.write_usage(ctx.command_path, "[OPTIONS] [PROMPT]")
        formatter.write_usage(ctx.command_path, "COMMAND …", "   or: ")

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        self.format_commands(ctx, formatter)
        parameters = [*_scope().params, *self.get_params(ctx)]
        records = [parameter.get_help_record(ctx) for parameter in parameters if isinstance(parameter, click.Option)]
        with formatter.section("Options"):
            formatter.write_dl([record for record in records if record is not None])


@click.group(
    cls=_PromptOrCommand,
    context_settings={"help_option_names": ["-h", "--help"], "show_default": True, "max_content_width": 100},
)
@click.version_option(__version__, prog_name="decodescope", message="%(prog)s %(version)s")
def cli() -> None:
    """Watch a local model read a prompt and write its answer, token by token.

    decodescope "Why is the sky blue?" opens the scope. With stdout not a terminal, the text is streamed instead.

    Defaults can be set in a file and by llama.cpp's environment variables: see decodescope config.
    """


def _refuse_misspelt(word: str, ctx: click.Context) -> None:
    """Raise click.UsageError when the first word is nearly a command: as a prompt it would load a model for nothing."""
    if not word.isalpha() or os.path.lexists(word):
        return
    meant = did_you_mean([f"`decodescope {name}`" for name in nearest(word, _COMMANDS, most=1, alike=_NEAR)])
    if meant:
        raise click.UsageError(
            f"There is no command {word!r}. {meant}\nTo ask it as a prompt: decodescope -p {shlex.quote(word)}",
            ctx,
        )


def run(arguments: Sequence[str] | None) -> int:
    """Run the command and return the exit status (see ``ExitCode``); every error is said on stderr."""
    try:
        status: Any = cli.main(arguments, prog_name="decodescope", standalone_mode=False)
        if sys.stdout is not None:
            sys.stdout.flush()
    except click.UsageError as error:
        Messages().say(_usage_text(error))
        return ExitCode.USAGE
    except click.ClickException as error:
        Messages().say(error.format_message())
        return ExitCode.FAILED
    except (KeyboardInterrupt, click.Abort):
        return ExitCode.CANCELLED
    except SystemExit:
        # click leaves this way where the reader of stdout has gone, and after completing a line for a shell.
        if _COMPLETION in os.environ:
            raise
        return _nobody_reads()
    except BrokenPipeError:
        return _nobody_reads()
    except OSError as error:
        # Only what click itself prints, as for --help, gets here; commands deal with their own streams.
        Messages().say(not_written(error))
        _drop_output()
        return ExitCode.FAILED
    return int(status or 0)


def _no_such_option(error: click.NoSuchOption) -> str:
    parameters = [] if error.ctx is None else error.ctx.command.get_params(error.ctx)
    names = [name for one in parameters for name in (*one.opts, *one.secondary_opts) if name.startswith("--")]
    near = nearest(error.option_name.lstrip("-"), [name.lstrip("-") for name in names], abbreviated=True)
    meant = did_you_mean([f"--{name}" for name in near])
    return f"There is no option {error.option_name}." + (f" {meant}" if meant else "")


def _nobody_reads() -> int:
    _drop_output()
    return ExitCode.NOBODY_READS


def _drop_output() -> None:
    number = descriptor(sys.stdout)
    if number is not None:
        to_nowhere(number)


def _usage_text(error: click.UsageError) -> str:
    lines = [f"Error: {_no_such_option(error) if isinstance(error, click.NoSuchOption) else error.format_message()}"]
    if error.ctx is not None:
        ctx = error.ctx.parent if error.ctx.parent is not None and error.ctx.command.hidden else error.ctx
        path = ctx.command_path.removesuffix(f" {_SCOPE}")
        lines.append(f"Try '{path} --help'.")
    return "\n".join(lines)
