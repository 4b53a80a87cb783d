"""``decodescope models quantize``: other quantizations of a model, made here."""

import json
import select
import time
from typing import TYPE_CHECKING, Any

import click

from ..exit_codes import ExitCode
from ..failure import failure_text
from ..interrupts import Interrupted, Interrupts
from ..options import complete_model, valid_text
from ..streams import Messages

if TYPE_CHECKING:
    from ...backends.events import Failed, Quantized
    from ...models.errors import ModelError
    from ...models.facts import ModelFile


@click.command("quantize", short_help="Make other quantizations of a model.")
@click.argument("reference", metavar="MODEL", shell_complete=complete_model)
@click.option(
    "--to",
    "wanted",
    required=True,
    metavar="TYPE[,TYPE]...",
    help="What to make: F16, Q8_0, Q6_K, Q5_K_M, Q4_K_M, Q4_0, Q3_K_M, Q2_K, IQ4_XS and so on, as llama-quantize "
    "names them.",
)
@click.option("--json", "as_json", is_flag=True, help="Print a JSON array.")
def quantize_command(reference: str, wanted: str, as_json: bool) -> None:
    """Make other quantizations of MODEL, which is what -m takes: a path, demo, hf:… or ollama:….

    They are kept in your cache and stay valid as long as MODEL is unchanged: -m takes them as MODEL:TYPE, such as
    demo:Q2_K. decodescope models lists them, and decodescope models clean removes them.

    The best source is a model in F16, BF16 or F32: what is made from a quantized
    one has the losses of both, and says what it was made from wherever it is shown.

    Exit status: 0 done, 1 something could not be made, 2 wrong usage, 3 MODEL cannot be used, 130 cancelled.
    """
    recipes = _recipes(wanted)
    messages = Messages()
    with Interrupts() as interrupts:
        click.get_current_context().exit(_quantize(reference, recipes, messages, interrupts, as_json=as_json))


def _recipes(wanted: str) -> list[str]:
    """Raises click.UsageError for what cannot be made."""
    from ...models.errors import ModelError
    from ...models.recipes import recipe_named

    try:
        return list(dict.fromkeys(recipe_named(one) for one in wanted.split(",")))
    except ModelError as error:
        raise click.UsageError(f"Invalid value for '--to': {error}") from error


def _quantize(
    reference: str, recipes: list[str], messages: Messages, interrupts: Interrupts, *, as_json: bool
) -> ExitCode:
    from ...models.errors import ModelError
    from ...models.references import resolve

    made: list[dict[str, Any]] = []
    status = ExitCode.DONE
    try:
        source = interrupts.during(lambda: resolve(reference))
        for recipe in recipes:
            if recipe == source.quantization:
                messages.say(f"{valid_text(source.name)} is {recipe} already: nothing is made of it.")
                continue
            outcome = _make(source, recipe, messages, interrupts)
            made.append(_as_json(f"{reference}:{recipe}", recipe, outcome))
            if made[-1]["error"] is not None:
                status = ExitCode.FAILED
            elif not as_json:
                _print_line(made[-1])
    except Interrupted:
        status = interrupts.exit_code
        messages.say("Cancelled; what was not complete is gone.")
    except ModelError as error:
        messages.say(failure_text(error.what, error.reason, error.remedy))
        return ExitCode.NOT_LOADED
    if as_json:
        from ..streams import print_data

        print_data(json.dumps(made, ensure_ascii=False, indent=2) + "\n")
    return status


def _make(
    source: "ModelFile", recipe: str, messages: Messages, interrupts: Interrupts
) -> "Quantized | Failed | ModelError":
    """Return what came of it; a failure has been said. Raises Interrupted."""
    from ...backends.events import Failed, Quantized
    from ...backends.quantizing import start_quantizing
    from ...models.errors import ModelError
    from ..progress import ProgressLine

    progress = ProgressLine(messages, f"quantize {recipe}")
    outcome: Quantized | Failed | ModelError | None = None
    try:
        making = start_quantizing(source, recipe)
    except OSError as error:
        outcome = Failed(
            t=time.perf_counter_ns(), stage="load", what="The quantizer cannot be started.", reason=str(error)
        )
    except ModelError as error:
        outcome = error
    else:
        try:
            poll = select.poll()
            poll.register(making.fileno(), select.POLLIN)
            poll.register(interrupts.fileno(), select.POLLIN)
            while not making.closed:
                poll.poll()
                for event in making.receive():
                    progress.update(event)
                    if isinstance(event, Quantized | Failed):
                        outcome = event
                if interrupts.received is not None:
                    raise Interrupted
        finally:
            progress.clear()
            making.close()
    assert outcome is not None, "a making ends with an outcome"
    if not isinstance(outcome, Quantized):
        messages.say(failure_text(outcome.what, outcome.reason, outcome.remedy))
    return outcome


def _as_json(reference: str, recipe: str, outcome: "Quantized | Failed | ModelError") -> dict[str, Any]:
    from ...backends.events import Quantized
    from ...models.recipes import FULL_PRECISION

    if not isinstance(outcome, Quantized):
        error = {"what": outcome.what, "reason": outcome.reason, "remedy": outcome.remedy}
        return {"quantization": recipe, "error": error}
    return {
        "reference": valid_text(reference),
        "quantization": outcome.quantization,
        "file": outcome.path.decode("utf-8", "replace"),
        "bytes": outcome.bytes,
        "source_quantization": outcome.source_quantization,
        "requantized": outcome.source_quantization not in FULL_PRECISION,
        "reused": outcome.reused,
        "fallbacks": list(outcome.fallbacks),
        "error": None,
    }


def _print_line(made: dict[str, Any]) -> None:
    from ...models.sizes import size
    from ..streams import print_data

    origin = f"{'requantized' if made['requantized'] else 'made'} from {made['source_quantization']}"
    facts = [made["quantization"], size(made["bytes"]), origin, *(["already there"] if made["reused"] else [])]
    told = [" · ".join(facts), *made["fallbacks"], made["file"]]
    lines = [made["reference"], *(f"  {fact}" for fact in told)]
    print_data("".join(f"{line}\n" for line in lines))
