"""README and reference say what is true."""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from decodescope.cli.commands.models import list_command
from decodescope.cli.commands.scope import scope_command
from decodescope.cli.config_file import read_config
from decodescope.cli.group import cli
from decodescope.cli.settings import settings_of
from decodescope.tui.keys import KEYS

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_reference_is_up_to_date() -> None:
    done = subprocess.run([sys.executable, ROOT / "docs" / "reference.py", "--check"], check=False)
    assert done.returncode == 0, "run docs/reference.py"


def _flags() -> set[str]:
    commands = [cli, scope_command, list_command, *_below(cli)]
    return {flag for command in commands for parameter in command.params for flag in parameter.opts} | {"--help", "-h"}


def _below(group: click.Group) -> Iterator[click.Command]:
    with click.Context(group) as context:
        for name in group.list_commands(context):
            command = group.get_command(context, name)
            assert command is not None
            yield command
            if isinstance(command, click.Group):
                yield from _below(command)


def test_every_flag_in_the_readme_exists() -> None:
    lines = re.findall(r"^(?:decodescope|cat .*\| decodescope) .*$", README, flags=re.MULTILINE)
    spans = [span for span in re.findall(r"`([^`\n]+)`", README) if span.startswith(("-", "decodescope"))]
    assert len(lines) >= 8
    named = {word for text in [*lines, *spans] for word in re.findall(r"(?<![\w-])--?[a-z][\w-]*", text.split("#")[0])}
    assert named - _flags() == set()


def test_every_command_in_the_readme_exists() -> None:
    for name in ("run", "models", "config", "doctor"):
        with click.Context(cli) as context:
            assert cli.get_command(context, name) is not None
        assert f"decodescope {name}" in README


@pytest.mark.parametrize("key", KEYS, ids=lambda key: key.action)
def test_every_key_is_in_the_readme(key: object) -> None:
    assert f"`{key.display}`" in README  # type: ignore[attr-defined]


def test_links_lead_somewhere() -> None:
    for page in (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").glob("*.md")):
        for target in re.findall(r"\]\(([^)#]+)\)", page.read_text(encoding="utf-8")):
            assert "://" in target or (page.parent / target).exists(), f"{page.name} links to {target}"


SETTINGS = (ROOT / "docs" / "settings.md").read_text(encoding="utf-8")


def test_every_variable_is_in_the_table() -> None:
    table = re.findall(r"^\| `(LLAMA_ARG_\w+)` \| `([\w-]+)` \|", SETTINGS, flags=re.MULTILINE)
    assert table == [(one.envvar, one.key) for one in settings_of(scope_command) if one.envvar]


def test_the_file_of_settings_in_the_page_can_be_read(tmp_path: Path) -> None:
    [shown] = re.findall(r"```toml\n(.*?)```", SETTINGS, flags=re.DOTALL)
    file = tmp_path / "config.toml"
    file.write_text(shown, encoding="utf-8")
    read = read_config(str(file))
    assert len(read.arguments) == len(shown.splitlines())
    # With the group's settings: a command keeps the names of its help option as it was first asked with.
    with scope_command.make_context("decodescope", ["--config", str(file)], **cli.context_settings) as ctx:
        assert ctx.params["stop"] == ("###", "\n\n")
        assert ctx.params["gpu_layers"] == -1
