"""``models``: the table, its width, and what is refused."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from decodescope.cli.columns import cells, clip, table

from ..conftest import DEADLINE_SECONDS, RunCommand
from .conftest import Starter
from .terminals import Terminal


@pytest.fixture
def folder(tmp_path: Path, demo_model: Path) -> Path:
    """A folder with a model, and with a file that is none and has a hostile name."""
    folder = tmp_path / "weights"
    folder.mkdir()
    (folder / "a-copy-of-the-demo-model-under-a-name-that-is-much-too-long-for-any-table.gguf").symlink_to(demo_model)
    (folder / "x\x1b[2J[red].gguf").write_bytes(b"nothing")
    return folder


def test_the_demo_model_is_listed(decodescope: RunCommand) -> None:
    done = decodescope("models")
    assert done.returncode == 0
    heading, row = done.stdout.decode().splitlines()
    assert heading.split() == ["-m", "name", "architecture", "quant", "size", "context", "source"]
    assert row.split() == ["demo", "SmolLM2-135M-Instruct", "llama", "Q4_1", "92", "MiB", "8,192", "demo"]


def test_what_is_refused_is_listed_with_its_reason(decodescope: RunCommand, folder: Path) -> None:
    done = decodescope("models", str(folder))
    listed = done.stdout.decode().split("Cannot be used:")[1]
    assert "[red].gguf" in listed
    assert "not a GGUF" in listed


def test_json(decodescope: RunCommand, folder: Path) -> None:
    found = json.loads(decodescope("models", "--json", str(folder)).stdout)
    demo = next(one for one in found if one["reference"] == "demo")
    assert demo["error"] is None
    assert demo["architecture"] == "llama"
    assert demo["quantization"] == "Q4_1"
    assert demo["trained_context"] == 8192
    refused = [one for one in found if one["error"] is not None]
    assert [set(one["error"]) for one in refused] == [{"what", "reason", "remedy"}]


def test_the_table_fits_the_terminal_and_is_sanitised(
    start: Starter, folder: Path, terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DECODESCOPE_MODELS", str(folder))
    process = start("models", stdout=terminal.slave, stderr=subprocess.DEVNULL)
    assert process.wait(DEADLINE_SECONDS) == 0
    output = terminal.read_rest().decode()
    assert "\x1b" not in output
    assert "␛[2J" in output
    lines = output.splitlines()
    assert all(cells(line) <= terminal.columns for line in lines)
    assert any("8,192" in line for line in lines)


def test_widths() -> None:
    assert cells("abc") == 3
    assert cells("日本") == 4
    assert cells("é") == cells("e\u0301") == 1


def test_clipping_keeps_both_ends() -> None:
    assert clip("abcdefghij", 10) == "abcdefghij"
    assert clip("abcdefghij", 5) == "ab…ij"
    assert clip("abcdefghij", 1) == "…"
    assert cells(clip("日本語日本語", 6)) <= 6


def test_the_widest_elastic_column_gives_way() -> None:
    rows = [("a", "b", "c"), ("x" * 30, "y" * 12, "z" * 8)]
    lines = table(rows, elastic=(0, 1), width=40, right=(2,))
    assert [len(line) for line in lines] == [40, 40]
    assert lines[0].endswith(" c")
    assert lines[1] == "x" * 8 + "…" + "x" * 7 + "  " + "y" * 12 + "  " + "z" * 8
    assert table(rows, elastic=(0, 1), width=None)[1] == f"{'x' * 30}  {'y' * 12}  {'z' * 8}"


@pytest.mark.parametrize("arguments", [(), ("--json",)])
def test_a_place_that_is_not_there_is_an_error(decodescope: RunCommand, arguments: tuple[str, ...]) -> None:
    done = decodescope("models", "/no/such", *arguments)
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"/no/such cannot be looked into: No such file or directory." in done.stderr


def test_a_file_is_described(decodescope: RunCommand, demo_model: Path) -> None:
    done = decodescope("models", str(demo_model))
    assert done.returncode == 0
    facts = dict(line.split("  ", 1) for line in done.stdout.decode().splitlines())
    facts = {name: value.strip() for name, value in facts.items()}
    assert facts["architecture"] == "llama"
    assert facts["size"] == "92 MiB"
    # 30 layers x 3 heads x 64 values x 2 (keys and values) x 2 bytes = 23,040 bytes = 22.5 KiB
    assert facts["KV cache"] == "22 KiB a token in f16"
    assert facts["file"] == str(demo_model)


def test_a_name_is_described_like_its_file(decodescope: RunCommand, demo_model: Path) -> None:
    assert decodescope("models", "demo").stdout == decodescope("models", str(demo_model)).stdout


def test_a_name_that_leads_nowhere(decodescope: RunCommand) -> None:
    result = decodescope("models", "hf:nobody/nothing")
    assert result.returncode == 3
    assert b"nobody/nothing" in result.stderr


def test_a_file_as_json(decodescope: RunCommand, demo_model: Path) -> None:
    found = json.loads(decodescope("models", "--json", str(demo_model)).stdout)
    assert [one["files"] for one in found] == [[str(demo_model)]]


def test_a_file_that_cannot_be_used(decodescope: RunCommand, tmp_path: Path) -> None:
    path = tmp_path / "x.gguf"
    path.write_bytes(b"nothing")
    done = decodescope("models", str(path))
    assert (done.returncode, done.stdout) == (3, b"")
    assert b"x.gguf is not a GGUF file." in done.stderr


def test_folders_and_files_do_not_mix(decodescope: RunCommand, folder: Path, demo_model: Path) -> None:
    done = decodescope("models", str(folder), str(demo_model))
    assert done.returncode == 2
    assert b"not both" in done.stderr


@pytest.mark.parametrize("command", ["models", "doctor", "--help"])
def test_a_reader_that_has_gone(start: Starter, command: str) -> None:
    read, write = os.pipe()
    os.close(read)
    process = start(command, stdout=write)
    os.close(write)
    _, said = process.communicate(timeout=DEADLINE_SECONDS)
    assert (process.returncode, said) == (141, b"")
