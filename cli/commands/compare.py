"""``decodescope compare``: several models on one prompt."""

from functools import partial
from typing import Any

import click

from ...traces.versions import SEVERAL_ENGINES
from ..options import collect, comparison_options, valid_text
from ..prompt import read_prompt, read_text
from ..recording import check_recording, open_recording, recording_options
from ..screen import check_theme, screen_options
from ..streams import Messages

_MOST_ROUNDS = 1000


def _quants(ctx: click.Context, parameter: click.Parameter, text: str | None) -> tuple[str, ...]:
    from ..lanes import quantizations

    return () if text is None else quantizations(valid_text(text))


@click.command("compare", short_help="Compare two to six models, or quantizations of one, on speed and quality.")
@click.argument("prompt_argument", required=False, metavar="[PROMPT]")
@click.option(
    "--quants",
    callback=_quants,
    metavar="TYPE,…",
    help="Compare each -m in these types, such as Q8_0,Q4_K_M,Q4_0; what is not there is made and kept.",
)
@click.option(
    "--rounds",
    type=click.IntRange(1, _MOST_ROUNDS),
    default=3,
    metavar="N",
    help="Let every model write N times, each round in another order.",
)
@click.option("--together", is_flag=True, help="Run all models at once, so that they disturb each other.")
@click.option(
    "--text",
    "text_file",
    type=click.Path(),
    metavar="FILE",
    help="Measure the quality on this text. Default: on the prompt and the first model's first answer.",
)
@click.option("--quality/--no-quality", default=True, show_default=False, help="Leave the quality out.")
@click.option("--json", "as_json", is_flag=True, help="Print all figures as one JSON object.")
@click.option("--csv", "as_csv", is_flag=True, help="Print the figures as comma-separated values, a line per model.")
@click.option("--md", "as_md", is_flag=True, help="Print the table in Markdown.")
@recording_options
@comparison_options
@screen_options
def compare_command(
    prompt_argument: str | None,
    quants: tuple[str, ...],
    rounds: int,
    together: bool,
    text_file: str | None,
    quality: bool,
    as_json: bool,
    as_csv: bool,
    as_md: bool,
    record: str | None,
    no_text: bool,
    overwrite: bool,
    prompt_option: str | None,
    prompt_file: str | None,
    theme: str | None,
    fps: int | None,
    low_bandwidth: bool,
    **values: Any,
) -> None:
    """Compare models on the same prompt: which one is faster, is that real, and what did it cost in quality?

    Give -m twice to six times, or one -m and --quants. The first model is the reference. One at a time writes, after
    its own warm-up, in every round; then each scores the same text. On a terminal this is a screen, with
    --json, --csv, --md or stdout elsewhere the result is printed and stderr says how it is getting on.

    Exit status: 0 done, 1 a generation failed, 2 wrong usage, 3 a model could not be loaded (the others are compared
    all the same), 130 cancelled, with the results so far.
    """
    if as_json + as_csv + as_md > 1:
        raise click.UsageError("Only one of --json, --csv and --md can be given.")
    if text_file is not None and not quality:
        raise click.UsageError("--text is what the quality is measured on, and --no-quality leaves it out.")
    if no_text and record is None and as_json + as_csv + as_md:
        raise click.UsageError("--no-text goes with --record FILE.")
    check_recording(record, overwrite=overwrite)
    options = collect(values)
    check_theme(theme)
    messages = Messages()
    prompt = read_prompt(prompt_argument, prompt_option, prompt_file, messages)
    text = None if text_file is None else read_text(text_file, messages)

    from ..comparing import compare
    from ..comparison_outputs import Form
    from ..comparison_plan import Asked

    asked = Asked(options, prompt, quants, rounds, together, quality, text)
    form = Form.JSON if as_json else Form.CSV if as_csv else Form.MD if as_md else None
    status = compare(
        asked,
        messages,
        form=form,
        record=partial(open_recording, record, no_text=no_text, overwrite=overwrite, format=SEVERAL_ENGINES),
        text=not no_text,
        theme=theme,
        fps=fps,
        low_bandwidth=low_bandwidth,
    )
    click.get_current_context().exit(status)
