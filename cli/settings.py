"""Flags whose defaults can be set: by llama.cpp's environment variables and in a file.

A flag wins over the environment, the environment over the file, the file over the model's own sampling
defaults, and those over the built-in ones. The order is
click's own: the variable is the flag's ``envvar``, the file becomes the context's ``default_map``.
"""

import os
from collections.abc import Callable
from functools import partial
from typing import Any

import click
from click.core import ParameterSource

from .config_file import KEYS, OTHER_NAMES, VARIABLE, ConfigError, ConfigFile, config_path, read_config

_FILE = "decodescope.config"
_PROBLEMS = "decodescope.problems"
_REMEDY = "decodescope config shows every setting and where it comes from."
_ELSEWHERE = (ParameterSource.ENVIRONMENT, ParameterSource.DEFAULT_MAP)
"""Not on the command line."""


class Setting(click.Option):
    """A flag with a key in the file.

    ``from_variable`` turns what its environment variable says into the flag's words. ``off_variable``: a variable that
    switches the flag off, whatever its value, and wins over the other, as in llama.cpp.
    """

    def __init__(
        self,
        *arguments: Any,
        from_variable: Callable[[str], str] | None = None,
        off_variable: str | None = None,
        **options: Any,
    ) -> None:
        super().__init__(*arguments, **options)
        self._from_variable = from_variable
        self._off_variable = off_variable

    @property
    def key(self) -> str:
        """The flag's name in the file."""
        names = [name.removeprefix("--") for name in self.opts]
        return next(OTHER_NAMES.get(name, name) for name in names if name in KEYS or name in OTHER_NAMES)

    def source(self, ctx: click.Context) -> ParameterSource | None:
        """Return what has set the value; ``None`` before the command line is parsed."""
        return None if self.name is None else ctx.get_parameter_source(self.name)

    @property
    def variable(self) -> str | None:
        """The environment variable that counts; ``None``: the flag has none."""
        assert self.envvar is None or isinstance(self.envvar, str)
        return self._off_variable if self._off_variable and os.environ.get(self._off_variable) else self.envvar

    def resolve_envvar_value(self, ctx: click.Context) -> str | None:
        """Return the variable's value; ``None``: it has none."""
        return super().resolve_envvar_value(ctx) if self.variable == self.envvar else "false"

    def value_from_envvar(self, ctx: click.Context) -> Any:
        """Return the variable's value in the flag's words; it is one value, also where a flag can be repeated."""
        if self.multiple:
            whole = self.resolve_envvar_value(ctx)
            return None if whole is None else (whole,)
        value = super().value_from_envvar(ctx)
        return value if value is None or self._from_variable is None else self._from_variable(value)

    def type_cast_value(self, ctx: click.Context, value: Any) -> Any:
        """Convert the value; a bad one that is not on the command line is noted where problems are collected."""
        try:
            return super().type_cast_value(ctx, value)
        except click.BadParameter as error:
            problems = ctx.meta.get(_PROBLEMS)
            if self.source(ctx) not in _ELSEWHERE:
                raise
            if problems is None:
                raise refused(ctx, self.name, error.message) from error
            problems[self.key] = error.message
            return None

    def get_error_hint(self, ctx: click.Context | None) -> str:
        """Name the flag, the variable or the line of the file that has set the value."""
        source = None if ctx is None else self.source(ctx)
        if source is ParameterSource.ENVIRONMENT:
            return f"the environment variable {self.variable}"
        file = None if ctx is None else used_file(ctx)
        if source is ParameterSource.DEFAULT_MAP and file is not None:
            return file.place(self.key)
        return " / ".join(f"'{name}'" for name in self.opts)


def refused(ctx: click.Context, name: str | None, why: str) -> click.BadParameter:
    """Return the error for the value of the parameter ``name``, which says where it was set and what to do there."""
    parameter = next(one for one in ctx.command.params if one.name == name)
    if isinstance(parameter, Setting) and parameter.source(ctx) in _ELSEWHERE:
        why = f"{why} Correct it there; {_REMEDY}"
    return click.BadParameter(why, ctx, parameter)


setting = partial(click.option, cls=Setting)
"""``click.option`` for a flag with a key in the file."""


def _use_file(ctx: click.Context, parameter: click.Parameter, named: str | None) -> None:
    problems = ctx.meta.get(_PROBLEMS)
    try:
        file = read_config(named)
    except ConfigError as error:
        if problems is None:
            raise click.UsageError(str(error), ctx) from error
        problems[VARIABLE] = str(error)
        path = config_path(named)
        file = ConfigFile(path, exists=path.exists())
    arguments = file.arguments
    ctx.meta[_FILE] = file
    ctx.default_map = {
        one.name: arguments[one.key]
        for one in settings_of(ctx.command)
        if one.name is not None and one.key in arguments
    }


config_option = click.option(
    "--config",
    metavar="FILE",
    envvar=VARIABLE,
    show_envvar=True,
    expose_value=False,
    callback=_use_file,
    help="A TOML file with your defaults, instead of the one that decodescope config shows.",
)
"""Comes before all settings: click goes by the order of the flags, and these look into the file."""


def used_file(ctx: click.Context) -> ConfigFile | None:
    """Return the file that the settings of ``ctx`` are looked up in; ``None`` as long as it is not read."""
    file = ctx.meta.get(_FILE)
    assert file is None or isinstance(file, ConfigFile)
    return file


class ReportingCommand(click.Command):
    """A command that runs although the environment or the file is wrong; ``problems`` says what."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the flags; those on the command line still have to be right."""
        ctx.meta[_PROBLEMS] = {}
        return super().parse_args(ctx, args)


def problems(ctx: click.Context) -> dict[str, str]:
    """Return what is wrong by key; what is wrong with the file as a whole is under ``DECODESCOPE_CONFIG``."""
    return dict(ctx.meta.get(_PROBLEMS, {}))


def given(ctx: click.Context, name: str) -> bool:
    """Whether the parameter is on the command line itself."""
    return ctx.get_parameter_source(name) is ParameterSource.COMMANDLINE


def settings_of(command: click.Command) -> list[Setting]:
    """Return the settings among the flags of a command, in the order of the flags."""
    return [one for one in command.params if isinstance(one, Setting)]


def set_elsewhere(ctx: click.Context) -> str:
    """Say which settings of ``ctx`` come from the environment or the file; empty when none do."""
    keys = [
        f"{one.key} ({one.variable if one.source(ctx) is ParameterSource.ENVIRONMENT else 'file'})"
        for one in settings_of(ctx.command)
        if one.source(ctx) in _ELSEWHERE
    ]
    return f"Not set on the command line: {', '.join(keys)}. {_REMEDY}" if keys else ""
