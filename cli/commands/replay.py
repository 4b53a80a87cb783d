"""``decodescope replay``: recordings opened again."""

import gc
from typing import TYPE_CHECKING

import click

from ..exit_codes import ExitCode
from ..failure import failure_text
from ..flag_types import FiniteRange
from ..inputs import recording_path
from ..reading import read_recording
from ..screen import check_theme, obstacle, screen_options
from ..streams import Messages

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...traces.generations import Take
    from ...traces.opened import Opened

MOST_FILES = 6


@click.command("replay", short_help="Open recordings again, without a model.")
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option("--plain", is_flag=True, help="Print the text at once; figures on stderr. Without a screen the default.")
@click.option(
    "--json", "as_json", is_flag=True, help="Print the figures, the settings and the text as one JSON object, as run."
)
@click.option("--jsonl", "as_jsonl", is_flag=True, help="Print every event, one JSON object a line.")
@click.option(
    "--generation",
    type=click.IntRange(min=1),
    metavar="N",
    help="Begin with the N-th answer of the recording; without a screen: that one. Default: the first; without a "
    "screen all, and with --json the last.",
)
@click.option("--speed", type=FiniteRange(0.1, 100), default=1.0, metavar="N", help="Play N times as fast, 0.1 to 100.")
@click.option("--loop", is_flag=True, help="Begin anew at the end.")
@click.option("--paused", is_flag=True, help="Wait at the start.")
@screen_options
def replay_command(
    files: tuple[str, ...],
    plain: bool,
    as_json: bool,
    as_jsonl: bool,
    generation: int | None,
    speed: float,
    loop: bool,
    paused: bool,
    theme: str | None,
    fps: int | None,
    low_bandwidth: bool,
) -> None:
    """Open recordings again, as they were made with --record.

    One file opens the scope, several open as lanes on one clock, and so does a comparison; - is standard input. No
    model is needed. Without a terminal the text is printed at once, as by --plain; of a comparison its table. Exit
    status: 0 done, 1 a file cannot be read, 2 wrong usage.
    """
    if plain + as_json + as_jsonl > 1:
        raise click.UsageError("Only one of --plain, --json and --jsonl can be given.")
    headless = plain or as_json or as_jsonl
    if len(files) > MOST_FILES:
        raise click.UsageError(f"At most {MOST_FILES} recordings are shown together.")
    if headless and len(files) > 1:
        raise click.UsageError("Without a screen one recording is taken at a time.")
    check_theme(theme)
    messages = Messages()
    without = obstacle()
    ctx = click.get_current_context()
    # Reading and importing make many objects and no garbage; the screen turns collection on again.
    gc.disable()
    opened = [_open(file, generation, messages) for file in files]
    compared = next((one for one in opened if one.trace.comparison is not None), None)
    if compared is not None and len(opened) > 1:
        raise click.UsageError(f"{compared.name} is a comparison, which has lanes of its own: it is replayed alone.")
    if headless or without is not None:
        if len(files) > 1:
            raise click.UsageError(f"Several recordings need a screen, and there is none: {without}.")
        if not headless and messages.terminal:
            messages.say(f"Plain text, since {without}.")
        from ..replaying import Form, print_recording

        form: Form = "json" if as_json else "jsonl" if as_jsonl else "plain"
        if opened[0].trace.comparison is not None:
            from ..replaying_comparison import print_comparison

            if generation is not None:
                raise click.UsageError("A comparison is printed as a whole; decodescope export takes one answer of it.")
            ctx.exit(print_comparison(opened[0], form, messages))
        ctx.exit(print_recording(opened[0], form, generation, messages))
    from ...tui.options import ScopeOptions
    from ...tui.replay.app import run_replay

    options = ScopeOptions(theme=theme, fps=fps, low_bandwidth=low_bandwidth)
    ctx.exit(run_replay(opened, options, speed=speed, loop=loop, paused=paused))


def _open(file: str, generation: int | None, messages: Messages) -> "Opened":
    """Read a file. Ends the command with the reason where it cannot be read."""
    from ...traces.errors import TraceError
    from ...traces.generations import takes
    from ...traces.opened import Opened

    path = recording_path(file)
    try:
        trace = read_recording(path, messages)
    except TraceError as error:
        messages.say(failure_text(error.what, error.reason, error.remedy))
        click.get_current_context().exit(ExitCode.FAILED)
    found = tuple(takes(trace.events))
    if trace.comparison is not None:
        # All lanes have the same rounds, as far as they have come.
        lanes = [tuple(takes(trace.of_lane(number).events)) for number in range(len(trace.comparison.lanes))]
        found = max(lanes, key=lambda lane: _answers(lane))
    answers = _answers(found)
    if generation is not None and generation > answers:
        what = "answer" if trace.comparison is None else "round"
        said = f"{answers:,} {what}{'' if answers == 1 else 's'}"
        raise click.UsageError(f"There is no {what} {generation:,}: {path.name} has {said}.")
    return Opened(path, trace, found, first=0 if generation is None else generation - 1)


def _answers(found: "Sequence[Take]") -> int:
    return sum(take.generation is not None for take in found)
