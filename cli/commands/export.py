"""``decodescope export``: a recording as figures, table, timeline, page, picture or film."""

import gc

import click

from ..flag_types import Word
from ..streams import Messages

_FORMS = ("csv", "json", "perfetto", "html", "svg", "cast", "md")


class _Size(click.ParamType[tuple[int, int]]):
    name = "size"

    def convert(
        self, value: str | tuple[int, int], param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[int, int]:
        if isinstance(value, tuple):
            return value
        columns, _, lines = value.partition("x")
        try:
            size = int(columns), int(lines)
        except ValueError:
            self.fail(f"{value!r} is no size such as 120x40.", param, ctx)
        if not (40 <= size[0] <= 400 and 10 <= size[1] <= 200):
            self.fail("a screen has 40 to 400 columns and 10 to 200 lines.", param, ctx)
        return size


@click.command("export", short_help="Turn a recording into a table, a page, a timeline, a picture or a film.")
@click.argument("recording", metavar="FILE")
@click.option(
    "--to",
    "form",
    type=Word(_FORMS),
    required=True,
    help="csv: a row per token. json: the summary, as run --json. perfetto: a timeline for ui.perfetto.dev and "
    "chrome://tracing. html: a page with text, plots and table. svg: the screen. cast: the screen, for asciinema. "
    "md: figures for an issue.",
)
@click.option("-o", "--output", default="-", metavar="FILE", help="Where to write it; -: standard output.")
@click.option("--overwrite", is_flag=True, help="Let -o replace a file that is there already.")
@click.option(
    "--generation",
    type=click.IntRange(min=1),
    metavar="N",
    help="Only the Nth answer of the recording; default: all of them.",
)
@click.option(
    "--lane",
    type=click.IntRange(min=1),
    metavar="N",
    help="Only the Nth lane of a comparison. Default: csv and perfetto have all, json and md are what compare printed, "
    "svg has all beside each other, the others show the first.",
)
@click.option("--size", type=_Size(), default="120x40", metavar="WxH", help="Columns and lines of svg and cast.")
@click.option("--theme", metavar="NAME", help="Colours of svg and cast: one of Textual's themes.")
def export_command(
    recording: str,
    form: str,
    output: str,
    overwrite: bool,
    generation: int | None,
    lane: int | None,
    size: tuple[int, int],
    theme: str | None,
) -> None:
    """Turn a recording into another form.

    FILE is a recording, or - for standard input. The same figure has the same digits in every form. No model is needed.
    Exit status: 0 done, 1 it could not be written, 2 wrong usage or no recording.
    """
    from ..exporting import Form, deliver, drawn, exported, recorded, text_of
    from ..exporting_lanes import comparison_as, comparison_picture, lane_of
    from ..inputs import recording_path
    from ..options import valid_text
    from ..screen import check_theme

    if overwrite and output == "-":
        raise click.UsageError("--overwrite goes with -o FILE.")
    if output == "":
        raise click.UsageError("-o needs the name of a file, or -.")
    to = Form(form)
    ctx = click.get_current_context()
    named = [name for name in ("size", "theme") if ctx.get_parameter_source(name) is not _DEFAULT]
    if named and not to.drawn:
        raise click.UsageError(f"--{named[0]} goes with --to svg and --to cast.")
    check_theme(theme)
    messages = Messages()
    path = recording_path(recording)
    name = valid_text(path.name)
    gc.disable()  # a long recording makes many objects and no garbage
    trace = recorded(path, messages)
    text = None
    if lane is None and to is Form.SVG:
        text = comparison_picture(trace, path, generation, size, theme, messages)
    elif lane is None:
        text = comparison_as(to, trace, generation, name, messages)
    if text is None:
        export = exported(lane_of(trace, lane, name, messages), generation)
        text = drawn(export, to, name, size, theme, messages) if to.drawn else text_of(export, to, messages)
    deliver(text, output, path, messages, overwrite=overwrite)


_DEFAULT = click.core.ParameterSource.DEFAULT
