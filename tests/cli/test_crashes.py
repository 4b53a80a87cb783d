"""An engine that crashes before its first token: every command goes on with another one, and says so."""

import json
import signal
from pathlib import Path
from typing import Any

import pytest

from ..conftest import RunCommand, ScriptWriter

LOADING = {"load_signal": int(signal.SIGILL), "repack": True}
READING = {"signal": int(signal.SIGSEGV), "repack": True}
ANSWER: list[dict[str, Any]] = [
    {"prefill": 64, "ms": 2},
    {"text": "yes", "ms": 1},
    {"text": ".", "ms": 1},
    {"stop": "stop"},
]
STORIES = {
    "while loading": [LOADING, *ANSWER],
    "while reading": [READING, *ANSWER],
}
stories = pytest.mark.parametrize("lines", STORIES.values(), ids=STORIES)
Lines = list[dict[str, Any]]


@stories
def test_run(decodescope: RunCommand, script: ScriptWriter, lines: Lines) -> None:
    done = decodescope("run", "hi", "-m", f"script:{script(*lines)}")
    assert done.returncode == 0
    assert done.stdout == b"yes.\n"
    assert done.stderr.count(b"warning: ") == 1
    assert b"--no-repack" in done.stderr


@stories
def test_a_recording_tells_one_story(
    decodescope: RunCommand, script: ScriptWriter, tmp_path: Path, lines: Lines
) -> None:
    path = tmp_path / "recorded.jsonl"
    model = f"script:{script({'load_ms': 5}, *lines)}"
    done = decodescope("run", "hi", "-m", model, "--record", str(path), "--json")
    assert done.returncode == 0, done.stderr
    events = [json.loads(line) for line in path.read_text().splitlines()]
    (warning,) = (event["text"] for event in events if event["event"] == "log")
    assert "--no-repack" in warning
    for kind in ("model_ready", "request_taken", "finished"):
        assert sum(event["event"] == kind for event in events) == 1
    again = decodescope("replay", str(path), "--json")
    assert again.returncode == 0, again.stderr
    assert json.loads(again.stdout)["text"] == json.loads(done.stdout)["text"] == "yes."
    assert b"impossible" not in again.stderr
    assert b"back in time" not in again.stderr


@stories
def test_compare(decodescope: RunCommand, script: ScriptWriter, lines: Lines) -> None:
    good, bad = script(*ANSWER), script(*lines, name="bad.jsonl")
    done = decodescope("compare", "hi", "-m", f"script:{good}", "-m", f"script:{bad}", "--json")
    assert done.returncode == 0, done.stderr
    assert b"--no-repack" in done.stderr
    assert [len(lane["warnings"]) for lane in json.loads(done.stdout)["lanes"]] == [0, 1]
    # The round that had to wait for another engine may be taken for a cold one.
    assert [lane["rounds"] >= 2 for lane in json.loads(done.stdout)["lanes"]] == [True, True]


@stories
def test_bench(decodescope: RunCommand, script: ScriptWriter, lines: Lines) -> None:
    model = f"script:{script(*lines)}"
    small = ("-p", "64", "-n", "2", "-r", "2")
    done = decodescope("bench", "-m", model, *small, "-o", "json")
    assert done.returncode == 0, done.stderr
    assert done.stderr.count(b"--no-repack") == 1
    rows = json.loads(done.stdout)
    assert [row["repack"] for row in rows] == [False, False]
    asked = decodescope("bench", "-m", model, *small, "--no-repack")
    assert asked.returncode == 0, asked.stderr
    assert b"started again" not in asked.stderr
    assert "repack" in asked.stdout.decode().splitlines()[0]


def test_bench_takes_both(decodescope: RunCommand, script: ScriptWriter, tmp_path: Path) -> None:
    done = decodescope(
        "bench", "-m", f"script:{script(*ANSWER)}", "-p", "64", "-n", "0", "-r", "2", "--repack", "0,1", "-o", "json"
    )
    assert done.returncode == 0, done.stderr
    assert [row["repack"] for row in json.loads(done.stdout)] == [False, True]


def test_asked_for_from_the_start(decodescope: RunCommand, script: ScriptWriter, tmp_path: Path) -> None:
    model = f"script:{script(LOADING, *ANSWER)}"
    settings = tmp_path / "settings.toml"
    settings.write_text("repack = false\n")
    for arguments, env in (
        (("--no-repack",), {}),
        (("-nr",), {}),
        (("--config", str(settings)), {}),
        ((), {"LLAMA_ARG_REPACK": "0"}),
        ((), {"LLAMA_ARG_NO_REPACK": "1"}),
    ):
        done = decodescope("run", "hi", "-m", model, "--json", *arguments, env=env)
        assert done.returncode == 0
        assert b"warning" not in done.stderr
        assert json.loads(done.stdout)["settings"]["no_repack"] is True
