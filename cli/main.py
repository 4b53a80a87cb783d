"""The ``decodescope`` command."""

import sys
from collections.abc import Sequence
from typing import Any, NoReturn

import click

from .. import __version__
from .commands.config import config_command
from .commands.doctor import doctor_command
from .commands.models import models_command
from .commands.run import run_command
from .commands.scope import scope_command
from .exit_codes import ExitCode
from .streams import Messages, descriptor, not_written, to_nowhere

_SCOPE = "scope"


class _PromptOrCommand(click.Group):
    """A group whose first word, when it names no command, belongs to the scope: ``decodescope "hello"``."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if not args or args[0] not in (*self.commands, "-h", "--help", "--version"):
            args = [_SCOPE, *args]
        return super().parse_args(ctx, args)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        return scope_command if cmd_name == _SCOPE else super().get_command(ctx, cmd_name)

    def format_usage(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        formatter.write_usage(ctx.command_path, "[OPTIONS] [PROMPT]")
        formatter.write_usage(ctx.command_path, "COMMAND …", "   or: ")

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        self.format_commands(ctx, formatter)
        parameters = [*scope_command.params, *self.get_params(ctx)]
        records = [parameter.get_help_record(ctx) for parameter in parameters if isinstance(parameter, click.Option)]
        with formatter.section("Options"):
            formatter.write_dl([record for record in records if record is not None])


@click.group(
    cls=_PromptOrCommand,
    commands=[run_command, models_command, config_command, doctor_command],
    context_settings={"help_option_names": ["-h", "--help"], "show_default": True, "max_content_width": 100},
)
@click.version_option(__version__, prog_name="decodescope", message="%(prog)s %(version)s")
def cli() -> None:
    """Watch a local model read a prompt and write its answer, token by token.

    decodescope "Why is the sky blue?" opens the scope. With stdout not a terminal, the text is streamed instead.

    Defaults can be set in a file and by llama.cpp's environment variables: see decodescope config.
    """


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command and exit with its status (see ``ExitCode``)."""
    sys.exit(_run(arguments))


def _run(arguments: Sequence[str] | None) -> int:
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
    except BrokenPipeError:
        number = descriptor(sys.stdout)
        if number is not None:
            to_nowhere(number)
        return ExitCode.NOBODY_READS
    except OSError as error:
        # Only what click itself prints, as for --help, gets here; commands deal with their own streams.
        Messages().say(not_written(error))
        number = descriptor(sys.stdout)
        if number is not None:
            to_nowhere(number)
        return ExitCode.FAILED
    return int(status or 0)


def _usage_text(error: click.UsageError) -> str:
    lines = [f"Error: {error.format_message()}"]
    if error.ctx is not None:
        path = error.ctx.command_path.removesuffix(f" {_SCOPE}")
        lines.append(f"Try '{path} --help'.")
    return "\n".join(lines)
