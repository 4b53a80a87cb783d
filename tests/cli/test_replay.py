"""Recordings opened again from the command line."""

import gzip
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from ..conftest import DEADLINE_SECONDS, ScriptWriter
from ..traces.samples import written
from .conftest import Starter
from .terminals import Terminal, take_terminal
from .test_imports import loaded_by


def ran(*arguments: str) -> "subprocess.CompletedProcess[bytes]":
    command = [sys.executable, "-m", "decodescope", *arguments]
    return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=DEADLINE_SECONDS)


@pytest.fixture
def recording(script: ScriptWriter, tmp_path: Path) -> Path:
    """Of a scripted answer."""
    path = tmp_path / "kept.jsonl.gz"
    lines: list[dict[str, Any]] = [{"prefill": 64, "ms": 5}, {"text": "It is "}, {"text": "blue."}, {"stop": "length"}]
    done = ran("run", "why", "-m", f"script:{script(*lines)}", "--record", str(path), "--temp", "0.5")
    assert done.returncode == 0, done.stderr
    return path


def test_the_text_and_the_figures_on_stderr(script: ScriptWriter, tmp_path: Path) -> None:
    path = tmp_path / "kept.jsonl"
    made = ran("run", "why", "-m", f"script:{script({'text': 'It is '}, {'text': 'blue.'})}", "--record", str(path))
    for arguments in ((str(path),), (str(path), "--plain")):
        again = ran("replay", *arguments)
        assert again.returncode == 0, again.stderr
        assert again.stdout == made.stdout == b"It is blue.\n"
        assert again.stderr == made.stderr


def test_the_summary_is_the_one_of_the_run(script: ScriptWriter, tmp_path: Path) -> None:
    path = tmp_path / "kept.jsonl.zst"
    lines: list[dict[str, Any]] = [
        {"prefill": 64, "cached": 8, "ms": 5},
        {"text": "a", "ms": 2},
        {"text": "b", "ms": 3},
    ]
    made = ran("run", "why", "-m", f"script:{script(*lines)}", "--record", str(path), "--json", "--temp", "0.5")
    again = ran("replay", str(path), "--json")
    assert again.stdout == made.stdout
    assert json.loads(again.stdout)["text"] == "ab"


def test_the_events_are_the_recorded_ones(recording: Path) -> None:
    lines = gzip.decompress(recording.read_bytes()).splitlines()
    assert ran("replay", str(recording), "--jsonl").stdout.splitlines() == lines[1:]


def test_several_answers(tmp_path: Path) -> None:
    path = written(tmp_path / "two.jsonl")
    whole = ran("replay", str(path), "--plain")
    assert whole.stdout == "The sky 🦙 is\n\nno\n".encode()
    assert b"It failed." in whole.stderr
    assert [line[:13] for line in whole.stderr.splitlines() if line.startswith(b"Answer ")] == [
        b"Answer 1 of 2",
        b"Answer 2 of 2",
    ]
    assert ran("replay", str(path), "--plain", "--generation", "2").stdout == b"no\n"
    assert json.loads(ran("replay", str(path), "--json").stdout)["finish_reason"] == "failed"
    assert json.loads(ran("replay", str(path), "--json", "--generation", "1").stdout)["finish_reason"] == "stop"
    refused = ran("replay", str(path), "--plain", "--generation", "3")
    assert refused.returncode == 2
    assert b"There is no answer 3: two.jsonl has 2 answers." in refused.stderr


def test_a_cut_is_said(recording: Path, tmp_path: Path) -> None:
    lines = gzip.decompress(recording.read_bytes())
    cut = tmp_path / "cut.jsonl"
    cut.write_bytes(lines[: lines.rindex(b'"event":"token"') + 20])
    done = ran("replay", str(cut), "--plain")
    assert done.returncode == 0
    assert done.stdout == b"It is \n"
    assert b"It was cut off" in done.stderr


@pytest.mark.parametrize(
    ("content", "said"), [(b"", b"empty"), (b"GGUF\x00", b"not a recording"), (b"\x1b[2J\n", b"not a recording")]
)
def test_what_is_no_recording(tmp_path: Path, content: bytes, said: bytes) -> None:
    path = tmp_path / "x.jsonl"
    path.write_bytes(content)
    done = ran("replay", str(path))
    assert done.returncode == 1
    assert done.stdout == b""
    assert said in done.stderr
    assert b"\x1b" not in done.stderr


def test_a_file_that_is_not_there() -> None:
    done = ran("replay", "/no/such.jsonl")
    assert done.returncode == 1
    assert b"/no/such.jsonl cannot be read." in done.stderr
    assert b"Check the path." in done.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("a", "--plain", "--json"),
        ("a", "b", "--plain"),
        ("a",) * 7,
        *(("a", "--speed", speed) for speed in ("0", "101", "nan")),
    ],
)
def test_wrong_usage(arguments: tuple[str, ...]) -> None:
    assert ran("replay", *arguments).returncode == 2


@pytest.mark.parametrize("form", ["--plain", "--json", "--jsonl"])
def test_without_a_screen_no_textual_and_never_a_model(recording: Path, form: str) -> None:
    assert not loaded_by("replay", str(recording), form) & {"textual", "rich", "plotext", "llama_cpp"}


def test_the_screen_loads_no_llama(start: Starter, recording: Path, terminal: Terminal) -> None:
    probe = (
        "import sys, atexit\n"
        "atexit.register(lambda: sys.stderr.write('LLAMA' if 'llama_cpp' in sys.modules else 'NONE'))\n"
        "from decodescope.cli.main import main\n"
        "main()\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", probe, "replay", str(recording), "--speed", "100"],
        stdin=terminal.slave,
        stdout=terminal.slave,
        stderr=subprocess.PIPE,
        start_new_session=True,
        preexec_fn=take_terminal,
    )
    try:
        terminal.read_until(lambda _: any("It is blue." in line for line in terminal.screen()))
        os.write(terminal.master, b"\x11")  # ctrl+q
        terminal.read_rest()
        assert process.wait(DEADLINE_SECONDS) == 0
        assert process.stderr is not None
        assert process.stderr.read() == b"NONE"
    finally:
        process.kill()
        process.wait()
        if process.stderr is not None:
            process.stderr.close()


def test_several_files_on_a_terminal(start: Starter, recording: Path, terminal: Terminal) -> None:
    process = start(
        *["replay", str(recording), str(recording), "--paused"],
        stdin=terminal.slave,
        stdout=terminal.slave,
        start_new_session=True,
        preexec_fn=take_terminal,
    )
    terminal.read_until(lambda _: any("kept.jsonl.gz (2)" in line for line in terminal.screen()))
    os.write(terminal.master, b"\x11")
    terminal.read_rest()
    assert process.wait(DEADLINE_SECONDS) == 0


def test_several_files_need_a_screen(recording: Path) -> None:
    done = ran("replay", str(recording), str(recording))
    assert done.returncode == 2
    assert b"standard output is not a terminal" in done.stderr


@pytest.mark.parametrize("speed", ["nan", "inf", "0", "101", "fast"])
def test_a_speed_that_is_none(tmp_path: Path, speed: str) -> None:
    done = ran("replay", str(tmp_path / "not-there.jsonl"), "--speed", speed)
    assert done.returncode == 2
    assert b"--speed" in done.stderr
    assert b"Traceback" not in done.stderr
