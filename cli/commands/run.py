"""``decodescope run``: one answer without a screen."""

from typing import Any

import click

from ..options import collect, generation_options
from ..prompt import read_prompt
from ..recording import open_recording, recording_options
from ..streams import Messages


@click.command("run", short_help="Generate without a screen: text, a JSON summary or every event.")
@click.argument("prompt_argument", required=False, metavar="[PROMPT]")
@click.option("--plain", is_flag=True, help="Stream the text; figures on stderr. The default.")
@click.option(
    "--json", "as_json", is_flag=True, help="Print the figures, the settings and the text as one JSON object."
)
@click.option("--jsonl", "as_jsonl", is_flag=True, help="Print every event as it comes, one JSON object a line.")
@recording_options
@generation_options
def run_command(
    prompt_argument: str | None,
    plain: bool,
    as_json: bool,
    as_jsonl: bool,
    record: str | None,
    no_text: bool,
    overwrite: bool,
    prompt_option: str | None,
    prompt_file: str | None,
    **values: Any,
) -> None:
    """Generate an answer without a screen.

    The prompt is an argument, or the text of a file (-f), or what comes through a pipe. stdout gets the data, stderr
    everything else. Exit status: 0 done, 1 the generation failed or its recording broke off, 2 wrong usage, 3 the model
    could not be loaded, 130 cancelled.
    """
    if plain + as_json + as_jsonl > 1:
        raise click.UsageError("Only one of --plain, --json and --jsonl can be given.")
    if no_text and record is None:
        raise click.UsageError("--no-text goes with --record FILE.")
    options = collect(values)
    if options.probabilities and not as_jsonl and record is None:
        raise click.UsageError("--probabilities goes with --jsonl or --record FILE: nothing else shows them.")
    if len(options.models) > 1:
        raise click.UsageError("run takes one model; several are compared by decodescope compare.")
    messages = Messages()
    prompt = read_prompt(prompt_argument, prompt_option, prompt_file, messages)
    if prompt is None:
        raise click.UsageError("There is no prompt: give it as an argument, with -f FILE, or through a pipe.")

    from ..headless import generate
    from ..outputs import JsonLinesOutput, JsonOutput, PlainOutput
    from ..streams import Data

    data = Data()
    output = JsonOutput(data) if as_json else JsonLinesOutput(data) if as_jsonl else PlainOutput(data, messages)
    recording = open_recording(record, options.described(), no_text=no_text, overwrite=overwrite)
    click.get_current_context().exit(generate(options, prompt, output, data, messages, recording))
