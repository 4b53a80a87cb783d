"""What ``pip install .`` installs."""

import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from ..conftest import DEADLINE_SECONDS

ROOT = Path(__file__).parents[2]
ROOMS = ("models", "backends", "metrics", "traces", "comparison", "bench", "tui", "cli")


@pytest.fixture(scope="module")
def contents(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The wheel's files: name to text. Built from a copy, since building leaves files behind."""
    copy = tmp_path_factory.mktemp("a checkout") / "decodescope"
    copy.mkdir()
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, copy / name)
    for name in ("src", "tests", *ROOMS):
        skipped = shutil.ignore_patterns("__pycache__", "*.egg-info")
        shutil.copytree(ROOT / name, copy / name, symlinks=True, ignore=skipped)
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", "out", "."]
    done = subprocess.run(command, cwd=copy, capture_output=True, timeout=DEADLINE_SECONDS, check=False)
    assert done.returncode == 0, done.stderr.decode()
    (wheel,) = (copy / "out").iterdir()
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name).decode("utf-8", "replace") for name in archive.namelist()}


def test_one_import_name(contents: dict[str, str]) -> None:
    tops = {name.split("/")[0] for name in contents}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"decodescope"}


def test_all_rooms_are_whole(contents: dict[str, str]) -> None:
    for room in ROOMS:
        for kind in ("*.py", "*.tcss", "*.html", "*.css", "*.js"):
            for path in (ROOT / room).rglob(kind):
                assert f"decodescope/{path.relative_to(ROOT)}" in contents


def test_nothing_else_is_in_it(contents: dict[str, str]) -> None:
    expected = {"decodescope/__init__.py", "decodescope/__main__.py", "decodescope/py.typed"}
    for name in contents:
        if ".dist-info/" not in name and name not in expected:
            assert (ROOT / name.removeprefix("decodescope/")).is_file(), name


def test_it_is_typed_licensed_and_has_the_command(contents: dict[str, str]) -> None:
    assert "decodescope/py.typed" in contents
    (points,) = (text for name, text in contents.items() if name.endswith("/entry_points.txt"))
    assert "decodescope = decodescope.cli.main:main" in points
    assert any(name.endswith("/LICENSE") for name in contents)
    (metadata,) = (text for name, text in contents.items() if name.endswith("/METADATA"))
    assert "License-Expression: Apache-2.0" in metadata
    assert "Requires-Python: >=3.11" in metadata
