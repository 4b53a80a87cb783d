"""The real thing, end to end: the command on the demo model."""

import json
from pathlib import Path

import msgspec
import pytest

from decodescope.backends.events import Event, Finished, PrefillProgress, Token

from ..conftest import RunCommand

pytestmark = pytest.mark.slow
QUESTION = ("Why is the sky blue?", "-m", "demo", "-n", "16", "--temp", "0", "-c", "1024", "-t", "1")


def test_all_formats_tell_the_same(decodescope: RunCommand) -> None:
    plain = decodescope("run", *QUESTION)
    assert plain.returncode == 0, plain.stderr.decode()
    summary = json.loads(decodescope("run", *QUESTION, "--json").stdout)
    lines = decodescope("run", *QUESTION, "--jsonl").stdout.splitlines()
    events: list[Event] = [msgspec.json.decode(line, type=Event) for line in lines]
    tokens = [event for event in events if isinstance(event, Token)]

    assert summary["text"].strip()
    assert plain.stdout.decode() == summary["text"] + "\n"
    assert b"".join(token.piece for token in tokens).decode() == summary["text"]
    assert len(tokens) == summary["predicted_n"] == 16
    assert summary["finish_reason"] == "length"
    assert summary["prompt_n"] > 5
    assert summary["model"]["architecture"] == "llama"
    assert summary["model"]["context"] == 1024
    assert summary["ttft_ms"] > summary["prompt_ms"] > 0
    assert isinstance(events[-1], Finished)
    assert any(isinstance(event, PrefillProgress) for event in events)


def test_the_scope_without_a_terminal_answers_in_plain_text(decodescope: RunCommand) -> None:
    assert decodescope(*QUESTION).stdout == decodescope("run", *QUESTION).stdout


def test_a_seed_repeats_an_answer(decodescope: RunCommand) -> None:
    arguments = ("run", "Tell me a story.", "-m", "demo", "-n", "12", "--temp", "1.5", "-c", "512", "-t", "1")
    first = decodescope(*arguments, "-s", "42").stdout
    assert first == decodescope(*arguments, "-s", "42").stdout
    assert first != decodescope(*arguments, "-s", "43").stdout


def test_a_file_cut_in_half(decodescope: RunCommand, demo_model: Path, tmp_path: Path) -> None:
    cut = tmp_path / "cut.gguf"
    with demo_model.open("rb") as whole:
        cut.write_bytes(whole.read(demo_model.stat().st_size // 2))
    done = decodescope("run", "hi", "-m", str(cut))
    assert done.returncode == 3
    assert done.stdout == b""
    assert b"cut.gguf" in done.stderr
