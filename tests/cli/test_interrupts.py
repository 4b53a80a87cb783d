"""Ctrl+C and its relatives."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading

import psutil
import pytest

from decodescope.cli.interrupts import Interrupted, Interrupts

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
    assert f"stopped after {text.count('tok '):,} token" in said.decode()


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
    assert said.startswith(b"Stopping.")
    assert b"stopped after 1 token " in said
    assert not any(engine.is_running() for engine in engines)


def test_an_ignored_signal_stays_ignored(start: Starter, script: ScriptWriter) -> None:
    path = script({"text": "tok "}, {"text": "end", "ms": 300})
    process = start("run", "hi", "-m", f"script:{path}", prefix=("nohup",))
    assert process.stdout is not None
    first = process.stdout.read(4)
    process.send_signal(signal.SIGHUP)
    rest, _ = process.communicate(timeout=DEADLINE_SECONDS)
    assert (first + rest, process.returncode) == (b"tok end\n", 0)


_INTERRUPTED_IMPORT = """
import os, signal, sys

class Interrupting:
    def find_spec(self, name, path=None, target=None):
        if name == sys.argv[1]:
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Interrupting())
from decodescope.cli.main import main
main(["run", "hi", "-m", "/no/such.gguf"])
"""


@pytest.mark.parametrize("module", ["decodescope.cli.group", "click", "decodescope.cli.commands.run", "numpy"])
def test_ctrl_c_during_imports_is_quiet(module: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _INTERRUPTED_IMPORT, module], capture_output=True, timeout=DEADLINE_SECONDS, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, b"", b"")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=lambda value: str(value))
def test_work_that_hangs_is_left_to_itself(number: signal.Signals) -> None:
    never, begun = threading.Event(), threading.Event()

    def work() -> None:
        begun.set()
        os.kill(os.getpid(), number)
        never.wait()

    with Interrupts() as interrupts:
        with pytest.raises(Interrupted):
            interrupts.during(work)
        assert begun.is_set()
        assert interrupts.received is number
        assert interrupts.exit_code == 128 + number
    never.set()


def test_work_that_ends_gives_its_result_or_its_error() -> None:
    def fail() -> None:
        raise LookupError("x")

    with Interrupts() as interrupts:
        assert interrupts.during(lambda: 42) == 42
        with pytest.raises(LookupError):
            interrupts.during(fail)
        assert interrupts.received is None


_SLOW_LOOKUP = """
import signal, sys, os, threading
from decodescope.cli import headless
from decodescope.cli.group import run

def resolve(reference):
    os.kill(os.getpid(), signal.SIGTERM)
    threading.Event().wait()

headless.resolve = resolve
sys.exit(run(["run", "hi", "--json", "-m", "slow"]))
"""


def test_a_signal_while_the_model_is_looked_for() -> None:
    done = subprocess.run(
        [sys.executable, "-c", _SLOW_LOOKUP], input=b"", capture_output=True, timeout=DEADLINE_SECONDS, check=False
    )
    assert done.returncode == 143
    assert json.loads(done.stdout)["finish_reason"] == "cancelled"
    assert b"Cancelled before anything" in done.stderr
