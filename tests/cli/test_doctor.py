"""``doctor``: every section is there, also when something is broken."""

import json
import signal
import subprocess
from typing import Any

import pytest

from decodescope import __version__
from decodescope.cli import diagnosis

from ..conftest import RunCommand


def test_everything_a_report_needs(decodescope: RunCommand) -> None:
    done = decodescope(
        "doctor", "--json", env={"SSH_CONNECTION": "10.0.0.1 1 10.0.0.2 22", "TMUX": "x", "NO_COLOR": "1"}
    )
    assert done.returncode == 0
    assert done.stderr == b""
    report = json.loads(done.stdout)
    assert report["versions"]["decodescope"] == __version__
    for package in ("llama-cpp-python", "textual", "plotext", "numpy"):
        assert report["versions"][package][0].isdigit()
    assert report["llama.cpp"]["system info"]
    assert any(device.startswith("CPU: ") for device in report["llama.cpp"]["devices"])
    assert report["processor"]["threads"] >= 1
    assert report["processor"]["why"]
    assert report["terminal"]["over SSH"] == "yes"
    assert report["terminal"]["in tmux"] == "yes"
    assert report["terminal"]["in screen"] == "no"
    assert report["terminal"]["NO_COLOR"] == "1"
    assert report["demo model"]["file"].endswith(".gguf")
    assert b"10.0.0.1" not in done.stdout


def test_as_text(decodescope: RunCommand) -> None:
    lines = decodescope("doctor").stdout.decode().splitlines()
    for title in ("versions", "llama.cpp", "processor", "memory", "terminal", "folders", "demo model"):
        assert title in lines
    assert any(line.split() == ["decodescope", __version__] for line in lines)


@pytest.mark.parametrize(
    ("status", "said"),
    [(-int(signal.SIGILL), "SIGILL"), (1, "llama.cpp cannot be loaded.")],
    ids=["crash", "import error"],
)
def test_a_broken_llama_cpp_is_reported(monkeypatch: pytest.MonkeyPatch, status: int, said: str) -> None:
    def run(command: list[str], **options: Any) -> "subprocess.CompletedProcess[bytes]":
        return subprocess.CompletedProcess(command, status, b"", b"symbol not found\n")

    monkeypatch.setattr(subprocess, "run", run)
    report = diagnosis.diagnose()["llama.cpp"]
    assert said in report["problem"]
    assert report["reason"] == "symbol not found"
    assert report["remedy"]


def test_a_missing_demo_model_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(diagnosis, "find_demo", lambda: None)
    assert "pip install" in diagnosis.diagnose()["demo model"]["remedy"]
