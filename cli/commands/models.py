"""``decodescope models``: what can be given to ``-m``, and the commands that change what there is."""

import json
import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ...backends.text import visible
from ...models.suggestions import did_you_mean, nearest
from ..exit_codes import ExitCode

if TYPE_CHECKING:
    from ...models.discovery import Found
    from ...models.errors import ModelError
    from ...models.facts import ModelFile

_HEADING = ("-m", "name", "architecture", "quant", "size", "context", "source")
_ELASTIC = (0, 1, 2)
_RIGHT = (4, 5)
_LIST = "list"


class _ListOrCommand(click.Group):
    """A group whose words, when the first one names no command, are places to be listed."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if not args or args[0] not in (*self.list_commands(ctx), "-h", "--help"):
            args = [_LIST, *args]
        return super().parse_args(ctx, args)

    def list_commands(self, ctx: click.Context) -> list[str]:
        return ["clean", "quantize"]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name == "clean":
            from .clean import clean_command

            return clean_command
        if cmd_name == "quantize":
            from .quantize import quantize_command

            return quantize_command
        return list_command if cmd_name == _LIST else None

    def format_usage(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        formatter.write_usage(ctx.command_path, "[OPTIONS] [FOLDER|FILE]...")
        formatter.write_usage(ctx.command_path, "COMMAND …", "   or: ")

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        self.format_commands(ctx, formatter)
        list_command.format_options(ctx, formatter)


class _Listing(click.Command):
    """Goes by the name of its group."""

    def get_help(self, ctx: click.Context) -> str:
        return super().get_help(ctx) if ctx.parent is None else ctx.parent.get_help()


@click.group("models", cls=_ListOrCommand, short_help="List models, describe them, make other quantizations of them.")
def models_command() -> None:
    """List models without loading them.

    Looks for the demo model, in FOLDER..., in the folders of DECODESCOPE_MODELS, in the caches of Hugging Face and
    llama.cpp, in the stores of Ollama and LM Studio, and for what was quantized here. What cannot be used is listed
    below, with the reason.

    With FILE... it describes the models in these files and looks nowhere else. A folder that is called like a command
    is named with its path, as in ./quantize. Exit status: 0 done, 2 there is no such folder or file, 3 a FILE cannot be
    used.
    """


@click.command(_LIST, cls=_Listing, hidden=True)
@click.argument("places", nargs=-1, metavar="[FOLDER|FILE]...", type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print a JSON array.")
def list_command(places: tuple[Path, ...], as_json: bool) -> None:
    """List the models of ``places`` and of this machine, or describe those in files."""
    from ...models.discovery import discover, examine_files
    from ..streams import Messages, data_width, print_data

    places = tuple(_located(place) for place in places)
    folders = [place for place in places if _is_folder(place)]
    files = [place for place in places if place not in folders]
    if files and folders:
        raise click.UsageError("Give folders or files, not both.")
    found = examine_files(files) if files else discover(folders)
    if as_json:
        print_data(json.dumps([_as_json(one) for one in found], ensure_ascii=False, indent=2) + "\n")
    elif files:
        print_data("\n".join(_described(one.model) for one in found if one.model is not None))
    else:
        lines = _as_lines(found, data_width())
        print_data("".join(line + "\n" for line in lines))
        if not lines:
            from ...models.demo import DEMO_REMEDY

            Messages().say(
                "No models were found; decodescope doctor lists the folders that were searched. "
                f"For the demo model: {DEMO_REMEDY}"
            )
    refused = [one.error for one in found if one.error is not None]
    if files and refused:
        from ..failure import failure_text

        for error in refused:
            Messages().say(failure_text(error.what, error.reason, error.remedy))
        click.get_current_context().exit(ExitCode.NOT_LOADED)


def _located(place: Path) -> Path:
    """Return the file behind ``demo``, ``hf:…``, ``ollama:…`` and ``MODEL:TYPE``; other places as they are."""
    from ...models.candidates import is_name
    from ...models.errors import ModelError
    from ...models.quantized import split_reference
    from ...models.references import resolve

    if place.exists() or not (is_name(str(place)) or split_reference(str(place))):
        return place
    try:
        return resolve(str(place)).path
    except ModelError as error:
        from ..failure import failure_text
        from ..streams import Messages

        Messages().say(failure_text(error.what, error.reason, error.remedy))
        click.get_current_context().exit(ExitCode.NOT_LOADED)


def _is_folder(place: Path) -> bool:
    """Raises click.UsageError when the place is not there or cannot be looked into."""
    try:
        is_folder = stat.S_ISDIR(place.stat().st_mode)
        if is_folder:
            os.scandir(place).close()
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else None
        commands = models_command.list_commands(click.get_current_context())
        meant = did_you_mean([f"`decodescope models {name}`" for name in nearest(str(place), commands, most=1)])
        raise click.UsageError(f"{place} cannot be looked into: {reason or error}. {meant}".rstrip()) from error
    return is_folder


def _described(model: "ModelFile") -> str:
    """Return all that the header tells, a fact a line."""
    from ...backends.model_sampling import model_sampling
    from ...backends.model_warnings import model_warnings
    from ...metrics import numbers
    from ...models.recipes import bits_per_weight, quantization_of

    facts = {
        "name": model.name,
        "title": model.title or "none",
        "architecture": model.architecture,
        "quantization": quantization_of(model),
        "size": numbers.size(model.bytes),
        "bits/weight": f"{bits_per_weight(model):.1f}",
        "parameters": f"{model.parameters:,}",
        "context": f"trained for {model.trained_context:,} tokens",
        "KV cache": f"{numbers.size(model.kv_bytes_per_token())} a token in f16",
        "layers": f"{model.layers:,}",
        "chat template": "yes" if model.has_template else "none: needs --raw",
    }
    if model.experts is not None:
        used = "" if model.experts_used is None else f", {model.experts_used:,} used"
        facts["experts"] = f"{model.experts:,}{used}"
    if model.sliding_window is not None:
        facts["window"] = f"{model.sliding_window:,} tokens in some layers"
    if own := model_sampling(model.sampling).values:
        facts["sampling"] = ", ".join(f"{name} {value:g}" for name, value in own.items())
    for number, path in enumerate(model.shards):
        facts["file" if len(model.shards) == 1 else f"part {number + 1}"] = _text(str(path))
    lines = [*facts.items(), *(("warning", warning) for warning in model_warnings(model))]
    width = max(len(name) for name, _ in lines)
    return "".join(f"{name:<{width}}  {visible(value)}\n" for name, value in lines)


def _as_lines(found: "list[Found]", width: int | None) -> list[str]:
    from ..columns import clip, table

    rows: list[tuple[str, ...]] = [_HEADING]
    refused: list[str] = []
    for one in found:
        if one.model is not None:
            rows.append(tuple(visible(cell) for cell in _row(one.reference, one.model, one.source)))
        if one.error is not None:
            refused += [f"  {visible(line)}" for line in _refusal(one.reference, one.error)]
    lines = table(rows, _ELASTIC, width, _RIGHT) if len(rows) > 1 else []
    if refused:
        lines += ["", "Cannot be used:"] if lines else ["Cannot be used:"]
        lines += refused if width is None else [clip(line, width) for line in refused]
    return lines


def _row(reference: str, model: "ModelFile", source: str) -> tuple[str, ...]:
    from ...metrics import numbers
    from ...models.recipes import quantization_of

    return (
        reference,
        model.name,
        model.architecture,
        quantization_of(model),
        numbers.size(model.bytes),
        f"{model.trained_context:,}",
        source,
    )


def _refusal(reference: str, error: "ModelError") -> list[str]:
    return [reference, *(f"  {part}" for part in (error.what, error.reason) if part)]


def _as_json(one: "Found") -> dict[str, Any]:
    from ...backends.model_sampling import model_sampling
    from ...backends.model_warnings import model_warnings
    from ...models.recipes import bits_per_weight

    model, error = one.model, one.error
    if model is None:
        reason = {} if error is None else {"what": error.what, "reason": error.reason, "remedy": error.remedy}
        return {"reference": _text(one.reference), "source": one.source, "error": reason}
    return {
        "reference": _text(one.reference),
        "source": one.source,
        "name": model.name,
        "title": model.title,
        "architecture": model.architecture,
        "quantization": model.quantization,
        "requantized_from": model.requantized_from or None,
        "dominant_type": model.dominant_type or None,
        "bits_per_weight": round(bits_per_weight(model), 3),
        "bytes": model.bytes,
        "parameters": model.parameters,
        "trained_context": model.trained_context,
        "layers": model.layers,
        "has_template": model.has_template,
        "sampling": model_sampling(model.sampling).values,
        "warnings": list(model_warnings(model)),
        "files": [_text(str(path)) for path in model.shards],
        "error": None,
    }


def _text(name: str) -> str:
    """Return a file system's name as text that JSON can hold."""
    return os.fsencode(name).decode("utf-8", "replace")
