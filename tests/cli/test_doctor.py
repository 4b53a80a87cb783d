"""``doctor``: every section is there, also when something is broken."""

import json
import os
import re
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from decodescope import __version__
from decodescope.backends.bandwidth import Bandwidth, BandwidthError
from decodescope.backends.build_check import BuildCheck, Verdict
from decodescope.cli import diagnosis
from decodescope.cli.group import cli

from ..conftest import RunCommand

Check = Callable[[Verdict], None]


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
    assert report["llama.cpp"]["decode"]
    assert report["processor"]["threads"] >= 1
    assert report["processor"]["features"]
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


CHECKED: dict[Verdict, BuildCheck] = {
    "works": BuildCheck("works", "It answered."),
    "broken": BuildCheck("broken", "It died.", "signal", "Build it again."),
    "unknown": BuildCheck("unknown", "There is no model."),
}


@pytest.fixture
def check(monkeypatch: pytest.MonkeyPatch) -> Check:
    """Say what came of the check of the build; it works where nothing else is said."""

    def say(verdict: Verdict) -> None:
        monkeypatch.setattr(diagnosis, "check_build", lambda: CHECKED[verdict])

    say("works")
    return say


@pytest.mark.parametrize(("verdict", "status"), [("works", 0), ("broken", 1), ("unknown", 0)])
def test_whether_the_build_suits_the_processor(check: Check, verdict: Verdict, status: int) -> None:
    check(verdict)
    result = CliRunner().invoke(cli, ["doctor", "--json"])
    assert result.exit_code == status
    section = json.loads(result.stdout)["llama.cpp"]
    assert section["system info"]
    if verdict == "broken":
        assert (section["problem"], section["remedy"]) == ("It died.", "Build it again.")
    else:
        assert section["decode"] == CHECKED[verdict].what


def test_every_folder_and_why_it_gave_nothing(decodescope: RunCommand, tmp_path: Path) -> None:
    studio = tmp_path / ".lmstudio"
    studio.mkdir()
    (studio / "settings.json").write_text("{broken \x1b[2J")
    (studio / "models").symlink_to(tmp_path / "gone")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "a.gguf").write_bytes(b"x")
    set_here = {
        "HOME": str(tmp_path), "XDG_STATE_HOME": "relative", "OLLAMA_MODELS": str(tmp_path / "absent"),
        "DECODESCOPE_MODELS": os.pathsep.join([str(tmp_path / "mine"), str(studio)]),
    }  # fmt: skip
    done = decodescope("doctor", "--json", env=set_here)
    folders = json.loads(done.stdout)["folders"]
    assert folders["home"][0] == str(tmp_path)
    assert "XDG_STATE_HOME" in folders["home"][1]
    assert folders["prompt history"].startswith(str(tmp_path / ".local"))
    first, second, *problems = folders["DECODESCOPE_MODELS"]
    assert first == f"{tmp_path / 'mine'} (DECODESCOPE_MODELS): 1 model"
    assert second == f"{studio} (DECODESCOPE_MODELS): no models"
    assert any(str(tmp_path / "gone") in problem for problem in problems)
    assert folders["Ollama"] == [f"{tmp_path / 'absent'} (OLLAMA_MODELS): no such file or directory"]
    assert any(line.startswith(f"{studio / 'models'} (default): ") and "gone" in line for line in folders["LM Studio"])
    assert any(f"{studio / 'settings.json'} is not used" in line for line in folders["LM Studio"])
    assert all(line.endswith(": not there") for line in folders["Hugging Face"])
    assert b"\x1b" not in decodescope("doctor", env=set_here).stdout


@pytest.mark.parametrize(
    ("status", "said"),
    [(-int(signal.SIGILL), "SIGILL"), (1, "llama.cpp cannot be loaded.")],
    ids=["crash", "import error"],
)
def test_a_broken_llama_cpp_is_reported(monkeypatch: pytest.MonkeyPatch, status: int, said: str) -> None:
    def run(command: list[str], **options: Any) -> "subprocess.CompletedProcess[bytes]":
        return subprocess.CompletedProcess(command, status, b"", b"symbol not found\n")

    monkeypatch.setattr(subprocess, "run", run)
    sections = diagnosis.diagnose()
    assert not diagnosis.works(sections)
    report = sections["llama.cpp"]
    assert said in report["problem"]
    assert report["reason"] == "symbol not found"
    assert report["remedy"]


def test_the_memory_bandwidth_is_measured_when_asked_and_shown_from_then_on(check: Check) -> None:
    def said(*arguments: str) -> Any:
        result = CliRunner().invoke(cli, ["doctor", "--json", *arguments])
        return json.loads(result.stdout)["memory"]["read bandwidth"]

    assert said() == "not measured yet: decodescope doctor --measure"
    (measured,) = said("--measure")
    assert re.fullmatch(r"[\d.]+ GB/s with \d+ threads?, measured \d{4}-\d\d-\d\d \d\d:\d\d UTC \(just now\)", measured)
    (again,) = said()
    assert again.split(" (")[0] == measured.split(" (")[0]


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (0, "just now"),
        (59, "just now"),
        (60, "1 minute ago"),
        (7_199, "1 hour ago"),
        (86_400 * 3.5, "3 days ago"),
        (-3_600, "ahead of this machine's clock"),
    ],
)
def test_how_long_ago_it_was_measured(check: Check, monkeypatch: pytest.MonkeyPatch, seconds: float, said: str) -> None:
    measured = Bandwidth(bytes_per_second=12.34e9, threads=1, block_bytes=1, measured_at=1_700_000_000)
    monkeypatch.setattr(diagnosis, "cached_bandwidths", lambda: [measured])
    monkeypatch.setattr(time, "time", lambda: 1_700_000_000 + seconds)
    shown = diagnosis.diagnose()["memory"]["read bandwidth"]
    assert shown == [f"12.3 GB/s with 1 thread, measured 2023-11-14 22:13 UTC ({said})"]


def test_too_little_memory_to_measure_is_said(check: Check, monkeypatch: pytest.MonkeyPatch) -> None:
    def measure(threads: int) -> Bandwidth:
        raise BandwidthError(f"No room for {threads}.")

    monkeypatch.setattr(diagnosis, "measure_bandwidth", measure)
    memory = diagnosis.diagnose(measure=True)["memory"]
    assert memory["problem"].startswith("No room for")
    assert memory["read bandwidth"].startswith("not measured yet")


def test_a_missing_demo_model_says_how_to_get_it(check: Check, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(diagnosis, "find_demo", lambda: None)
    assert "pip install" in diagnosis.diagnose()["demo model"]["remedy"]
