"""``decodescope config``: which defaults are in force, and where they come from."""

import json
from typing import Any

import click
from click.core import ParameterSource

from ..config_file import VARIABLE
from ..settings import ReportingCommand, Setting, problems, settings_of, used_file
from .scope import scope_command

_SOURCES = {
    ParameterSource.COMMANDLINE: "flag",
    ParameterSource.ENVIRONMENT: "environment",
    ParameterSource.DEFAULT_MAP: "file",
}
_HEADING = ("setting", "value", "source")
_ELASTIC = (1,)


@click.command(
    "config",
    cls=ReportingCommand,
    short_help="Show the settings in force and where they come from.",
    params=[
        click.Option(["--json", "as_json"], is_flag=True, help="Print one JSON object."),
        click.Option(["--path", "only_path"], is_flag=True, help="Print only the path of the file."),
        click.Option(["--example", "only_example"], is_flag=True, help="Print a file to start from."),
        *(one for one in scope_command.params if isinstance(one, Setting) or one.name == "config"),
    ],
)
@click.pass_context
def config_command(ctx: click.Context, /, as_json: bool, only_path: bool, only_example: bool, **values: Any) -> None:
    """Show the settings in force and where they come from.

    A flag wins over llama.cpp's environment variable (LLAMA_ARG_…), the variable over the file, the file over the
    model's own sampling defaults, and those over llama.cpp's. The file is TOML, and its names are the long names of
    the flags.
    """
    from ..streams import print_data

    if as_json + only_path + only_example > 1:
        raise click.UsageError("Only one of --json, --path and --example can be given.")
    if only_example:
        from ..example_config import example

        print_data(example(scope_command))
    elif only_path:
        print_data(f"{_file(ctx)['path']}\n")
    elif as_json:
        own = _of_model(values)
        report = {
            "file": _file(ctx),
            "settings": {one.key: _described(ctx, one, values, own) for one in settings_of(ctx.command)},
        }
        print_data(json.dumps(report, ensure_ascii=False, indent=2) + "\n")
    else:
        print_data("".join(f"{line}\n" for line in _as_lines(ctx, values)))


def _file(ctx: click.Context) -> dict[str, Any]:
    from ..options import valid_text

    file = used_file(ctx)
    assert file is not None
    return {"path": valid_text(str(file.path)), "exists": file.exists, "problem": problems(ctx).get(VARIABLE)}


def _of_model(values: dict[str, Any]) -> dict[str, Any]:
    """Return the sampling defaults of the model that is set; none if several are set, or it cannot be found now."""
    from ...backends.launch import resolve, sampling_of
    from ...models.errors import ModelError

    models = values["model"]
    if models is None or len(models) != 1:
        return {}
    try:
        return dict(sampling_of(resolve(models[0])).values)
    except ModelError:  # the commands that use the model report it
        return {}


def _described(ctx: click.Context, one: Setting, values: dict[str, Any], own: dict[str, Any]) -> dict[str, Any]:
    from ..options import valid_text

    value = values[one.name or ""]
    if one.name == "model" and value is not None and len(value) < 2:  # several can be given; one is usual
        value = value[0] if value else None
    source = one.source(ctx)
    named = "default" if source is None else _SOURCES.get(source, "default")
    if named == "default" and one.name in own:
        value, named = own[one.name], "model"
    return {
        "value": valid_text(value) if isinstance(value, str) else value,
        "source": named,
        "variable": one.variable if source is ParameterSource.ENVIRONMENT else None,
        "problem": problems(ctx).get(one.key),
    }


def _as_lines(ctx: click.Context, values: dict[str, Any]) -> list[str]:
    from ...backends.text import visible
    from ..columns import table
    from ..streams import data_width

    file = _file(ctx)
    rows = [_HEADING]
    wrong = [] if file["problem"] is None else [file["problem"]]
    own = _of_model(values)
    for one in settings_of(ctx.command):
        described = _described(ctx, one, values, own)
        value = "not set" if described["value"] is None else json.dumps(described["value"], ensure_ascii=False)
        if described["problem"] is not None:
            value = "wrong, see below"
            wrong.append(f"Invalid value for {one.get_error_hint(ctx)}: {described['problem']}")
        rows.append((one.key, visible(value), described["variable"] or described["source"]))
    lines = [visible(f"file: {file['path']}{'' if file['exists'] else ' (not there)'}"), ""]
    lines += table(rows, _ELASTIC, data_width())
    return [*lines, "", *(visible(line) for line in wrong)] if wrong else lines
