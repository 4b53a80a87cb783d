"""An example of the file of defaults: every setting with what it means and its default, commented out."""

import json
import textwrap
from typing import Any

import click

from .settings import Setting, settings_of

_WIDTH = 100
_BEGINNING = """\
# Defaults for decodescope. The names are those of the flags; a flag wins over an environment
# variable, a variable over this file. Take away the # before a name to set it.
"""
_SAMPLES = {
    "model": "hf:ORG/REPO/FILE.gguf",
    "system-prompt": "Answer in one paragraph.",
    "stop": ["###"],
    "threads": 4,
    "threads-batch": 8,
    "theme": "nord",
    "fps": 15,
}
"""Values to show for settings whose default is none."""


def example(command: click.Command) -> str:
    """Return the file for the settings of ``command``: they stand behind ``#``, everything else behind ``# ``."""
    with click.Context(command) as ctx:
        return "\n".join([_BEGINNING, *(_entry(ctx, one) for one in settings_of(command))])


def _entry(ctx: click.Context, one: Setting) -> str:
    variable = f" Variable: {one.envvar}." if one.envvar else ""
    comment = textwrap.wrap(f"{one.help}{variable}", _WIDTH, initial_indent="# ", subsequent_indent="# ")
    return "\n".join([*comment, f"#{one.key} = {json.dumps(_value(ctx, one))}", ""])


def _value(ctx: click.Context, one: Setting) -> Any:
    if one.key in _SAMPLES:
        return _SAMPLES[one.key]
    return one.type_cast_value(ctx, one.get_default(ctx))
