"""What gcc before 13 needs for a processor with AMX: decided by CMake, seen in what the compiler makes of it."""

import json
import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from ..conftest import DEADLINE_SECONDS

ROOT = Path(__file__).parents[2]
FLAG = "-fno-dse"
AMX, NO_AMX = "-mamx-tile", "-mno-amx-tile"
NEWER_GCC = "-U__GNUC__ -D__GNUC__=13"
CLANG = "-D__clang__=1 -D__clang_major__=16 -D__clang_minor__=0 -D__clang_patchlevel__=6"
PROJECT = """\
cmake_minimum_required(VERSION 3.21)
project(outer)
add_subdirectory(inner)
"""
INNER = """\
project(inner)
add_library(tile OBJECT tile.cpp)
"""
SOURCE = """\
#include <immintrin.h>
#include <cstdint>
struct alignas(64) Tiles { uint8_t palette, start, reserved[14]; uint16_t bytes[16]; uint8_t rows[16]; };
void configure() {
    Tiles tiles = {};
    tiles.palette = 1;
    for (int tile = 0; tile < 8; ++tile) {
        tiles.bytes[tile] = 64;
        tiles.rows[tile] = 16;
    }
    _tile_loadconfig(&tiles);
}
"""


def _version(compiler: str) -> int | None:
    """The major version of a gcc for x86-64; ``None``: it is none."""
    if shutil.which(compiler) is None:
        return None
    told = subprocess.run([compiler, "-dM", "-E", "-x", "c++", os.devnull], capture_output=True, text=True, check=False)
    macros = dict(line.split(" ", 2)[1:] for line in told.stdout.splitlines() if line.count(" ") >= 2)
    return int(macros["__GNUC__"]) if "__x86_64__" in macros and "__clang__" not in macros else None


GCC = next((name for name in ("g++", "g++-12", "g++-11") if (_version(name) or 99) < 13), None)
pytestmark = [
    pytest.mark.skipif(GCC is None, reason="there is no gcc before 13 for x86-64 here"),
    pytest.mark.skipif(shutil.which("cmake") is None, reason="there is no CMake here"),
]


def posing_as(folder: Path, macros: str) -> Path:
    """A compiler with the name of another, of which ``macros`` tell."""
    path = folder / "bin" / "c++"
    path.parent.mkdir()
    path.write_text(f'#!/bin/sh\nexec {GCC} {macros} "$@"\n')
    path.chmod(0o755)
    return path


def compiling(folder: Path, *options: str, **environment: str) -> list[str]:
    """Return how CMake would compile the source, for a checkout in a folder with a space in its name."""
    inner = folder / "my checkout" / "inner"
    inner.mkdir(parents=True)
    (inner.parent / "CMakeLists.txt").write_text(PROJECT)
    (inner / "CMakeLists.txt").write_text(INNER)
    (inner / "tile.cpp").write_text(SOURCE)
    included = shutil.copy(ROOT / ".ci" / "amx.cmake", inner.parent)
    given = (f"-DCMAKE_PROJECT_INCLUDE={included}", "-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON")
    done = subprocess.run(
        ["cmake", "-S", inner.parent, "-B", folder / "made", *given, *options],
        env={**os.environ, "CXX": str(GCC), "CXXFLAGS": "", **environment},
        capture_output=True,
        text=True,
        timeout=DEADLINE_SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    (command,) = json.loads((folder / "made" / "compile_commands.json").read_text())
    return shlex.split(command["command"])


def stores(command: list[str], folder: Path) -> int:
    """Return how many of its stores come before the configuration is loaded."""
    assembly = folder / "tile.s"
    subprocess.run([*command[: command.index("-o")], "-S", "-o", assembly, command[-1]], check=True)
    before, loaded, _ = assembly.read_text().partition("ldtilecfg")
    assert loaded
    return len(re.findall(r"^\s*v?mov\w*\s+[^(\n]*, *-?\d*\(%[er][sb]p\)", before, re.MULTILINE))


def test_what_is_stored_stays(tmp_path: Path) -> None:
    faulty = compiling(tmp_path, CXXFLAGS=AMX)
    assert faulty.count(FLAG) == 1
    right = stores(faulty, tmp_path)
    faulty.remove(FLAG)
    assert stores(faulty, tmp_path) < right


@pytest.mark.parametrize("said", ["CXX", "-DCMAKE_CXX_COMPILER"])
@pytest.mark.parametrize("macros", [NEWER_GCC, CLANG], ids=["gcc 13", "clang"])
def test_another_compiler_needs_nothing(tmp_path: Path, macros: str, said: str) -> None:
    compiler = str(posing_as(tmp_path, macros))
    command = (
        compiling(tmp_path, CXXFLAGS=AMX, CXX=compiler)
        if said == "CXX"
        else compiling(tmp_path, f"{said}={compiler}", CXXFLAGS=AMX)
    )
    assert compiler in command
    assert FLAG not in command


def test_a_processor_without_amx_needs_nothing(tmp_path: Path) -> None:
    command = compiling(tmp_path, CXXFLAGS=NO_AMX)
    assert NO_AMX in command
    assert FLAG not in command


def test_flags_of_the_user_stay(tmp_path: Path) -> None:
    command = compiling(tmp_path, f"-DCMAKE_CXX_FLAGS={AMX} -DMINE=1", CXXFLAGS="-DLOST=1")
    assert FLAG in command
    assert "-DMINE=1" in command
