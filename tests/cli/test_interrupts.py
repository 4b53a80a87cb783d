"""Ctrl+C and its relatives."""

import contextlib
import json
import signal
import subprocess

import psutil
import pytest

from ..conftest import DEADLINE_SECONDS, ScriptWriter
from .conftest import Starter
from .terminals import Terminal

ENDLESS = {"repeat": 1_000_000, "text": "tok ", "ms": 5}


@pytest.mark.parametrize(
    ("number", "status"),
    [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)],
    ids=lambda value: str(value),
)
def test_what_was_generated_is_kept(start: Starter, script: ScriptWriter, number: signal.Signals, status: int) -> None:
    process = start("run", "hi", "-m", f"script:{script(ENDLESS)}")
    assert process.stdout is not None
    first = process.stdout.read(8)
    process.send_signal(number)
    rest, said = process.communicate(timeout=DEADLINE_SECONDS)
    text = (first + rest).decode()
    assert process.returncode == status
    assert text == "tok " * text.count("tok ") + "\n"
    assert "cancelled" in said.decode()
    assert f"{text.count('tok '):,} tokens" in said.decode()


def test_json_is_whole_after_ctrl_c(start: Starter, terminal: Terminal, script: ScriptWriter) -> None:
    process = start(
        "run", "hi", "--json", "-m", f"script:{script({'prefill': 9, 'ms': 3_600_000})}", stderr=terminal.slave
    )
    terminal.read_until(lambda output: b"read" in output)
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=DEADLINE_SECONDS)
    assert process.returncode == 130
    summary = json.loads(out)
    assert summary["finish_reason"] == "cancelled"
    assert summary["predicted_n"] == 0


@pytest.mark.parametrize("form", ["--plain", "--json", "--jsonl"])
def test_ctrl_c_while_loading(start: Starter, terminal: Terminal, script: ScriptWriter, form: str) -> None:
    process = start("run", "hi", form, "-m", f"script:{script({'load_ms': 3_600_000})}", stderr=terminal.slave)
    terminal.read_until(lambda output: b"load" in output)
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=DEADLINE_SECONDS)
    assert process.returncode == 130
    assert "Cancelled" in terminal.read_rest().decode()
    if form == "--json":
        assert json.loads(out)["finish_reason"] == "cancelled"
    elif form == "--jsonl":
        last = json.loads(out.splitlines()[-1])
        assert (last["event"], last["reason"]) == ("finished", "cancelled")
    else:
        assert out == b""


def test_the_second_ctrl_c_ends_at_once(start: Starter, script: ScriptWriter) -> None:
    # An engine that has stopped itself cannot answer a cancel.
    process = start("run", "hi", "-m", f"script:{script({'text': 'tok '}, {'signal': int(signal.SIGSTOP)})}")
    assert process.stdout is not None
    assert process.stdout.read(4) == b"tok "
    engines = psutil.Process(process.pid).children()
    try:
        while process.poll() is None:
            process.send_signal(signal.SIGINT)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(0.3)
        process.communicate()
        assert process.returncode == -signal.SIGINT
    finally:
        for engine in engines:
            with contextlib.suppress(psutil.NoSuchProcess):
                engine.kill()


def test_an_engine_that_does_not_answer_is_given_up(start: Starter, script: ScriptWriter) -> None:
    process = start("run", "hi", "-m", f"script:{script({'text': 'tok '}, {'signal': int(signal.SIGSTOP)})}")
    assert process.stdout is not None
    assert process.stdout.read(4) == b"tok "
    engines = psutil.Process(process.pid).children()
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=DEADLINE_SECONDS)
    assert process.returncode == 130
    assert b"cancelled" in said
    assert not any(engine.is_running() for engine in engines)


def test_an_ignored_signal_stays_ignored(start: Starter, script: ScriptWriter) -> None:
    path = script({"text": "tok "}, {"text": "end", "ms": 300})
    process = start("run", "hi", "-m", f"script:{path}", prefix=("nohup",))
    assert process.stdout is not None
    first = process.stdout.read(4)
    process.send_signal(signal.SIGHUP)
    rest, _ = process.communicate(timeout=DEADLINE_SECONDS)
    assert (first + rest, process.returncode) == (b"tok end\n", 0)
