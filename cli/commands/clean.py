"""``decodescope models clean``: frees what quantizations take."""

import json
import os
from typing import TYPE_CHECKING

import click

from ..exit_codes import ExitCode

if TYPE_CHECKING:
    from ...models.quantized import Kept
    from ..streams import Messages


@click.command("clean", short_help="Remove the quantizations that were made here.")
@click.option("--dry-run", is_flag=True, help="Only say what would be removed.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def clean_command(dry_run: bool, as_json: bool) -> None:
    """Remove what decodescope models quantize has made, and what was left by one that was killed.

    All of it can be made again. What is being made at the moment stays, and so does every model that came from
    elsewhere. Exit status: 0 done, 1 something could not be removed.
    """
    from ...models.quantized import being_made, kept, leftovers, quantized_folder
    from ...models.sizes import size
    from ..streams import Messages, print_data

    messages = Messages()
    folder = quantized_folder()
    try:
        found = [] if folder is None else [*kept(folder), *leftovers(folder)]
        busy = [] if folder is None else being_made(folder)
    except OSError as error:
        messages.say(f"{folder} cannot be looked into: {error.strerror or error}.")
        click.get_current_context().exit(ExitCode.FAILED)
    removed = found if dry_run else [one for one in found if _removed(one, messages)]
    freed = sum(one.bytes for one in removed)
    if as_json:
        files = [{"file": _text(one), "bytes": one.bytes} for one in removed]
        report = {"folder": os.fsencode(folder or "").decode("utf-8", "replace"), "files": files, "bytes": freed}
        print_data(json.dumps({**report, "dry_run": dry_run}, ensure_ascii=False, indent=2) + "\n")
    else:
        lines = [f"{_text(one)}  {size(one.bytes)}" for one in removed]
        total = f"{size(freed)} would be freed." if dry_run else f"{size(freed)} freed."
        print_data("".join(f"{line}\n" for line in [*lines, total if removed else "There is nothing to remove."]))
    if busy:
        messages.say(f"{len(busy)} being made at the moment: left alone.")
    if len(removed) < len(found):
        click.get_current_context().exit(ExitCode.FAILED)


def _removed(one: "Kept", messages: "Messages") -> bool:
    try:
        one.path.unlink(missing_ok=True)
    except OSError as error:
        messages.say(f"{one.path} cannot be removed: {error.strerror or error}.")
        return False
    return True


def _text(one: "Kept") -> str:
    return os.fsencode(one.path).decode("utf-8", "replace")
