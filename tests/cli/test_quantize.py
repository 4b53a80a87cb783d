"""``models quantize`` and ``models clean``."""

import json
import os
import resource
import signal
from pathlib import Path

import pytest

from ..conftest import DEADLINE_SECONDS, RunCommand
from .conftest import Starter
from .terminals import Terminal


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "decodescope" / "quantized"


@pytest.mark.slow
def test_from_making_to_cleaning(decodescope: RunCommand, cache: Path) -> None:
    done = decodescope("models", "quantize", "demo", "--to", "Q4_0,q8_0,Q4_0")
    assert (done.returncode, done.stderr) == (0, b"")
    first, second = sorted(cache.iterdir())
    assert done.stdout.decode().splitlines() == [
        "demo:Q4_0",
        "  Q4_0 · 86 MiB · requantized from Q4_1",
        "  1 tensor as Q8_0 instead of Q6_K",
        f"  {first}",
        "demo:Q8_0",
        "  Q8_0 · 136 MiB · requantized from Q4_1",
        f"  {second}",
    ]
    again = decodescope("models", "quantize", "demo", "--to", "Q4_0")
    assert "requantized from Q4_1 · already there" in again.stdout.decode()
    (made,) = json.loads(decodescope("models", "quantize", "demo", "--to", "Q4_0", "--json").stdout)
    assert (made["reference"], made["file"], made["reused"], made["error"]) == ("demo:Q4_0", str(first), True, None)
    assert made["fallbacks"] == ["1 tensor as Q8_0 instead of Q6_K"]

    listed = decodescope("models").stdout.decode().splitlines()
    assert [line.split()[-1] for line in listed] == ["source", "demo", "quantized", "quantized"]
    assert "Q4_0 from Q4_1" in listed[2]
    assert [line.split()[0] for line in listed[1:]] == ["demo", "demo:Q4_0", "demo:Q8_0"]
    described = decodescope("models", str(first)).stdout.decode()
    assert decodescope("models", "demo:Q4_0").stdout.decode() == described
    assert "Q4_0 from Q4_1" in described
    found = json.loads(decodescope("models", "--json").stdout)
    assert [one["requantized_from"] for one in found] == [None, "Q4_1", "Q4_1"]

    summary = json.loads(decodescope("run", "hi", "-n", "1", "-t", "1", "--json", "-m", "demo:q4_0").stdout)
    assert (summary["model"]["quantization"], summary["model"]["requantized_from"]) == ("Q4_0", "Q4_1")

    would = decodescope("models", "clean", "--dry-run").stdout.decode()
    assert "would be freed" in would
    assert len(list(cache.iterdir())) == 2
    cleaned = decodescope("models", "clean").stdout.decode().splitlines()
    assert [line.split("  ")[0] for line in cleaned[:2]] == [str(first), str(second)]
    assert cleaned[2].endswith(" freed.")
    assert list(cache.iterdir()) == []
    assert decodescope("models", "clean").stdout.decode() == "There is nothing to remove.\n"
    report = json.loads(decodescope("models", "clean", "--json").stdout)
    assert (report["folder"], report["files"], report["bytes"]) == (str(cache), [], 0)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=lambda number: number.name)
@pytest.mark.slow
def test_a_signal_leaves_nothing(start: Starter, terminal: Terminal, cache: Path, number: signal.Signals) -> None:
    process = start("models", "quantize", "demo", "--to", "IQ3_S", stderr=terminal.slave)
    terminal.read_until(lambda output: b"quantize" in output)
    process.send_signal(number)
    out, _ = process.communicate(timeout=DEADLINE_SECONDS)
    assert (process.returncode, out) == (128 + number, b"")
    assert list(cache.iterdir()) == []


@pytest.mark.slow
def test_a_disk_that_takes_no_more(start: Starter, cache: Path) -> None:
    limit = 20 << 20
    process = start(
        "models", "quantize", "demo", "--to", "Q4_0",
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)),
    )  # fmt: skip
    out, said = process.communicate(timeout=DEADLINE_SECONDS)
    assert (process.returncode, out) == (1, b"")
    assert "llama.cpp could not make Q4_0" in said.decode()
    assert "failed to quantize" in said.decode()
    assert list(cache.iterdir()) == []


def test_what_cannot_be_made_does_not_keep_the_others_from_being(decodescope: RunCommand, cache: Path) -> None:
    cache.parent.parent.write_bytes(b"")
    done = decodescope("models", "quantize", "demo", "--to", "Q4_0,Q8_0", "--json")
    assert done.returncode == 1
    assert [one["error"]["reason"].split(":")[0] for one in json.loads(done.stdout)] == ["Not a directory"] * 2
    assert done.stderr.count(b"cannot be kept in") == 2


@pytest.mark.parametrize(
    ("to", "said"),
    [
        ("IQ2_XS", "importance matrix"),
        ("Q4_0,Q9", "There is no quantization 'Q9'"),
        ("", "There is no quantization ''"),
    ],
)
def test_types_that_cannot_be_made(decodescope: RunCommand, cache: Path, to: str, said: str) -> None:
    done = decodescope("models", "quantize", "demo", "--to", to)
    assert (done.returncode, done.stdout) == (2, b"")
    assert said in done.stderr.decode()
    assert not cache.exists()


def test_a_model_that_is_not_there(decodescope: RunCommand) -> None:
    done = decodescope("models", "quantize", "no.gguf", "--to", "Q4_0")
    assert (done.returncode, done.stdout) == (3, b"")
    assert b"There is no model 'no.gguf'." in done.stderr


def test_a_folder_that_is_called_like_a_command(decodescope: RunCommand, tmp_path: Path) -> None:
    (tmp_path / "quantize").mkdir()
    (tmp_path / "quantize" / "x.gguf").write_bytes(b"nothing")
    done = decodescope("models", f".{os.sep}quantize", cwd=tmp_path)
    assert done.returncode == 0
    assert b"x.gguf is not a GGUF file" in done.stdout


def test_the_listing_goes_by_the_name_of_the_group(decodescope: RunCommand) -> None:
    help_texts = {decodescope("models", *words).stdout for words in (["--help"], [".", "--help"], ["-h"])}
    assert len(help_texts) == 1
    assert b"Usage: decodescope models [OPTIONS] [FOLDER|FILE]..." in help_texts.pop()
    assert decodescope("models", "/no/such").stderr.endswith(b"Try 'decodescope models --help'.\n")


def test_clean_leaves_what_is_not_its_own(decodescope: RunCommand, cache: Path) -> None:
    cache.mkdir(parents=True)
    (cache / "mine.gguf").write_bytes(b"x")
    (cache / ".making-0123456789abcdef.part").write_bytes(b"left by a process that died")
    (cache / "X-Q2_K.from-F16.0123456789.gguf").write_bytes(b"x")
    done = decodescope("models", "clean")
    assert done.returncode == 0
    assert done.stdout.decode().endswith("28 B freed.\n")
    assert [path.name for path in cache.iterdir()] == ["mine.gguf"]


def test_its_own_type_is_not_made_again(decodescope: RunCommand) -> None:
    done = decodescope("models", "quantize", "demo", "--to", "Q4_1")
    assert (done.returncode, done.stdout) == (0, b"")
    assert b"is Q4_1 already" in done.stderr
