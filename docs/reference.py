"""Writes docs/command-line.md from the help texts: ``python docs/reference.py``; ``--check`` only compares."""

import sys
from pathlib import Path

import click

from decodescope.cli.group import cli

PAGE = Path(__file__).with_name("command-line.md")
_WIDTH = 100
_BEGINNING = """# The command line

The help texts of all commands, as `decodescope --help` and the like print them. This page is generated.
"""


def page() -> str:
    """Return the page as it should be."""
    with click.Context(cli, info_name="decodescope", terminal_width=_WIDTH, **cli.context_settings) as top:
        parts = [_BEGINNING, _section("decodescope", cli.get_help(top))]
        parts += _sections(cli, top)
    return "\n".join(parts)


def _sections(group: click.Group, parent: click.Context) -> list[str]:
    """Return the sections of the commands of ``group``, each followed by those of its own commands."""
    sections = []
    for name in group.list_commands(parent):
        command = group.get_command(parent, name)
        assert command is not None
        with click.Context(command, info_name=name, parent=parent, terminal_width=_WIDTH) as context:
            sections.append(_section(context.command_path, command.get_help(context)))
            if isinstance(command, click.Group):
                sections += _sections(command, context)
    return sections


def _section(title: str, text: str) -> str:
    return f"## {title}\n\n```text\n{text}\n```\n"


def main() -> int:
    """Write the page, or with ``--check`` tell by the exit status whether it is up to date."""
    if "--check" in sys.argv[1:]:
        return int(PAGE.read_text(encoding="utf-8") != page())
    PAGE.write_text(page(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
