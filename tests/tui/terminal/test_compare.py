"""The compare screen on a real terminal, with real engines that play scripts."""

import os
import re
import signal
import sys
from collections.abc import Callable

from ...conftest import ScriptWriter
from .pty_process import PtyProcess
from .test_restored import MODES

OPEN_COMPARE = """
import sys
from pathlib import Path
from decodescope.backends.launch import ScriptFile
from decodescope.backends.requests import EngineSettings, Request
from decodescope.comparison.plan import ComparisonPlan, LanePlan
from decodescope.tui.app import run_compare
lanes = tuple(LanePlan(f"lane {place}", ScriptFile(Path(path))) for place, path in enumerate(sys.argv[1:], start=1))
plan = ComparisonPlan(lanes=lanes, settings=EngineSettings(), request=Request(prompt="hi"), rounds=1, quality=False)
sys.exit(run_compare(plan))
"""
QUIT = b"\x11"


def opened(*paths: object) -> PtyProcess:
    command = [sys.executable, "-c", OPEN_COMPARE, *(str(path) for path in paths)]
    return PtyProcess(command, size=(120, 40), env={"TERM": "xterm-256color"})


def restored(process: PtyProcess) -> bool:
    output = process.output.decode(errors="replace")
    return process.attributes() == process.attributes_before and all(
        output.rfind(off) > output.rfind(on) for on, off in MODES.items() if on in output
    )


def test_lanes_run_and_race_and_the_terminal_is_restored(script: ScriptWriter) -> None:
    quick = script({"prefill": 10, "ms": 5}, {"repeat": 20, "text": " quick", "ms": 2}, name="a.jsonl")
    slow = script({"prefill": 10, "ms": 5}, {"repeat": 20, "text": " slow", "ms": 6}, name="b.jsonl")
    process = opened(quick, slow)
    shown: Callable[[], str] = lambda: "\n".join(process.screen())  # noqa: E731
    process.read_until(lambda _: "1st" in shown() and "2nd" in shown())
    assert re.search(r"1st 20 tokens", shown())
    process.type(QUIT)
    assert process.wait() == 0
    assert restored(process)
    process.close()


def test_none_can_be_loaded(script: ScriptWriter) -> None:
    bad = script({"prefill": 1}).with_name("none.jsonl")
    process = opened(bad, bad)
    # Side by side: the table tells of one lane as well.
    process.read_until(lambda _: any(line.count("failed") >= 2 for line in process.screen()))
    process.type(QUIT)
    assert process.wait() == 3
    assert restored(process)
    process.close()


def test_ended_by_a_signal(script: ScriptWriter) -> None:
    endless = script({"prefill": 10, "ms": 5}, {"repeat": 1_000_000, "text": " tok", "ms": 5}, name="a.jsonl")
    process = opened(endless, endless)
    process.read_until(lambda _: "writing" in "\n".join(process.screen()))
    os.kill(process.pid, signal.SIGTERM)
    assert process.wait() == 128 + signal.SIGTERM
    assert restored(process)
    process.close()
