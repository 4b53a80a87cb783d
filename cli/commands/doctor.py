"""``decodescope doctor``: what a bug report needs."""

import json
from typing import Any

import click


@click.command("doctor", short_help="Print what a bug report needs.")
@click.option("--json", "as_json", is_flag=True, help="Print it as one JSON object.")
@click.option("--measure", is_flag=True, help="Measure the memory bandwidth anew; best while nothing else runs.")
def doctor_command(as_json: bool, measure: bool) -> None:
    """Print versions, llama.cpp's devices, threads and why so many, memory, terminal, and the folders in use.

    The demo model, if it is installed, answers once to show whether this build of llama.cpp works on this processor.

    Exit status: 0 it works or could not be checked, 1 it does not work.
    """
    from ..diagnosis import diagnose, works
    from ..exit_codes import ExitCode
    from ..streams import print_data

    sections = diagnose(measure=measure)
    print_data(json.dumps(sections, ensure_ascii=False, indent=2) + "\n" if as_json else _as_text(sections))
    if not works(sections):
        click.get_current_context().exit(ExitCode.FAILED)


def _as_text(sections: dict[str, dict[str, Any]]) -> str:
    width = max(len(name) for section in sections.values() for name in section)
    lines: list[str] = []
    for title, section in sections.items():
        lines += ["", title] if lines else [title]
        for name, value in section.items():
            values = value if isinstance(value, list) else str(value).splitlines()
            for number, line in enumerate(values or ["none"]):
                lines.append(f"  {name if number == 0 else '':<{width}}  {line}")
    return "\n".join(lines) + "\n"
