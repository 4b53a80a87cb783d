"""``decodescope models``: what can be given to ``-m``."""

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from ...models.discovery import Found
    from ...models.errors import ModelError
    from ...models.facts import ModelFile

_HEADING = ("-m", "name", "architecture", "quant", "size", "context", "source")
_ELASTIC = (0, 1, 2)
_RIGHT = (4, 5)


@click.command("models", short_help="List the models that are found.")
@click.argument("folders", nargs=-1, metavar="[FOLDER]...", type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print a JSON array.")
def models_command(folders: tuple[Path, ...], as_json: bool) -> None:
    """List models without loading them.

    Looks for the demo model, in FOLDER..., in the folders of DECODESCOPE_MODELS, in the caches of Hugging Face and
    llama.cpp, and in the stores of Ollama and LM Studio. What cannot be used is listed below, with the reason.
    """
    from ...models.discovery import discover
    from ..streams import Messages, data_width, print_data

    found = discover(folders)
    if as_json:
        print_data(json.dumps([_as_json(one) for one in found], ensure_ascii=False, indent=2) + "\n")
        return
    lines = _as_lines(found, data_width())
    print_data("".join(line + "\n" for line in lines))
    if not lines:
        from ...models.demo import DEMO_REMEDY

        Messages().say(f"No models were found. For the demo model: {DEMO_REMEDY}")


def _as_lines(found: "list[Found]", width: int | None) -> list[str]:
    from ...backends.text import visible
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
    from ..sizes import size

    return (
        reference,
        model.name,
        model.architecture,
        model.quantization,
        size(model.bytes),
        f"{model.trained_context:,}",
        source,
    )


def _refusal(reference: str, error: "ModelError") -> list[str]:
    return [reference, *(f"  {part}" for part in (error.what, error.reason) if part)]


def _as_json(one: "Found") -> dict[str, Any]:
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
        "bytes": model.bytes,
        "parameters": model.parameters,
        "trained_context": model.trained_context,
        "layers": model.layers,
        "has_template": model.has_template,
        "files": [_text(str(path)) for path in model.shards],
        "error": None,
    }


def _text(name: str) -> str:
    """Return a file system's name as text that JSON can hold."""
    return os.fsencode(name).decode("utf-8", "replace")
