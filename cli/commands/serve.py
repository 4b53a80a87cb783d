"""``decodescope serve``: the scope in a browser."""

import importlib.util
import shlex
import sys

import click

from ..exit_codes import ExitCode
from ..failure import failure_text
from ..public_url import PublicUrl, public_url
from ..streams import Messages
from .scope import scope_command

_DEFAULT_PORT = 8000
_NEEDED = "textual-serve>=1.1.3,<2"
_WHO = (
    "Everyone who reaches {host} could use this machine as you: load your models, read the answers, write recordings. "
    "There is no password, and nothing is encrypted."
)

_WHO_AT_PROXY = (
    "Everyone whom the proxy at {url} lets in could use this machine as you: load your models, read the answers, write "
    "recordings. serve itself asks for no password."
)


@click.command(
    "serve",
    short_help="Show the scope in a browser.",
    context_settings={"ignore_unknown_options": True, "help_option_names": ["-h", "--help"]},
)
@click.option("--port", type=click.IntRange(0, 65535), default=_DEFAULT_PORT, metavar="N", help="0: any that is free.")
@click.option("--host", default="127.0.0.1", metavar="ADDRESS", help="The address to listen on.")
@click.option(
    "--allow-remote",
    is_flag=True,
    help="Listen on another address than loopback: everyone who reaches it could use "
    "this machine as you, without a password.",
)
@click.option(
    "--public-url",
    type=public_url,
    metavar="URL",
    help="The address at which your proxy shows the page, such as https://example.org/scope/: everyone whom it lets in "
    "could use this machine as you.",
)
@click.option("--scopes", type=click.IntRange(1, 64), default=2, metavar="N", help="How many may be open at a time.")
@click.argument("flags", nargs=-1, type=click.UNPROCESSED, metavar="[FLAGS OF THE SCOPE]... [PROMPT]")
@click.pass_context
def serve_command(
    ctx: click.Context,
    port: int,
    host: str,
    allow_remote: bool,
    public_url: PublicUrl | None,
    scopes: int,
    flags: tuple[str, ...],
) -> None:
    """Show the scope in a browser, until Ctrl+C.

    Takes the flags of the scope as well (decodescope --help), except --record. Everyone who opens the page gets a scope
    of their own with an engine of its own, so each needs the model's memory and they slow each other down. Closing the
    page ends its engine. Needs textual-serve, which pip installs.

    Exit status: 0 ended, 1 the address cannot be had, 2 wrong usage, 3 the model could not be found.
    """
    _check(ctx, flags)
    messages = Messages()
    if importlib.util.find_spec("textual_serve") is None:
        pip = shlex.join([sys.executable, "-m", "pip", "install", _NEEDED])
        raise click.ClickException(f"serve needs textual-serve, which is not installed. To install it:\n  {pip}")
    from ..serving import is_loopback, serve

    if not is_loopback(host):
        if not allow_remote:
            raise click.UsageError(f"{_WHO.format(host=host)} If that is meant, add --allow-remote.")
        messages.say(_WHO.format(host=host))
    if public_url is not None:
        messages.say(_WHO_AT_PROXY.format(url=public_url))
    try:
        serve((sys.executable, "-m", "decodescope", *flags), host, port, scopes, messages, public_url)
    except OSError as error:
        messages.say(failure_text(f"Nothing can be served at {host}:{port}.", error.strerror or str(error)))
        ctx.exit(ExitCode.FAILED)


def _check(ctx: click.Context, flags: tuple[str, ...]) -> None:
    """Raise click.UsageError for what the scope would refuse: nobody would see it. Ends the command when there is no
    such model."""
    commands = ctx.parent.command if ctx.parent is not None else None
    if flags and isinstance(commands, click.Group) and flags[0] in commands.list_commands(ctx):
        raise click.UsageError(f"serve shows the scope, not {flags[0]}. To ask it as a prompt: -p {flags[0]}")
    with scope_command.make_context("serve", list(flags), parent=ctx.parent) as scope:
        if scope.params["record"] is not None:
            raise click.UsageError("--record is one file, and serve may open several scopes: press ^o in one of them.")
        if scope.params["prompt_file"] == "-":
            raise click.UsageError("-f - reads standard input, which serve does not hand on.")
        models = scope.params["model"]
    from ...backends.launch import resolve
    from ...models.errors import ModelError

    try:
        for model in models:
            resolve(model)
    except ModelError as error:
        Messages().say(failure_text(error.what, error.reason, error.remedy))
        ctx.exit(ExitCode.NOT_LOADED)
