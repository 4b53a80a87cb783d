"""Screens on terminals, as jobs of a shell."""

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ...conftest import ScriptWriter
from .pty_process import PtyProcess
from .test_compare import OPEN_COMPARE
from .test_restored import OPEN_SCOPE

Open = Callable[..., PtyProcess]
SCREENS = ["scope", "compare", "replay", "picker"]
SHELL = str(Path(__file__).with_name("job_shell.py"))
SHORT = ({"prefill": 10, "ms": 5}, {"repeat": 20, "text": " ⚠️ word", "ms": 2}, {"stop": "stop"})
OPEN_REPLAY = "import sys; from decodescope.cli.main import main; main(['replay', '--paused', *sys.argv[1:]])"
OPEN_PICKER = "from decodescope.tui.app import ScopeOptions, run_scope; run_scope(ScopeOptions(model=None))"


@pytest.fixture
def start() -> Iterator[Open]:
    """Run a screen, as the job of a shell or in its place, and wait until it shows a text."""
    running: list[PtyProcess] = []

    def begin(code: str, *arguments: object, until: str, job: bool = True) -> PtyProcess:
        screen = [sys.executable, "-c", code, *(str(argument) for argument in arguments)]
        process = PtyProcess([sys.executable, SHELL, *screen] if job else screen, size=(100, 30))
        running.append(process)
        process.read_until(lambda _: until in "\n".join(process.screen()))
        return process

    yield begin
    for process in running:
        process.close()


@pytest.fixture
def open_screen(start: Open, script: ScriptWriter, tmp_path: Path) -> Open:
    """Open one of ``SCREENS`` on which nothing moves any longer."""

    def begin(which: str, *, job: bool = True) -> PtyProcess:
        played = script(*SHORT, name="a.jsonl")
        match which:
            case "scope":
                return start(OPEN_SCOPE, played, job=job, until="done    ")
            case "compare":
                return start(OPEN_COMPARE, played, script(*SHORT, name="b.jsonl"), job=job, until="2nd")
            case "picker":
                return start(OPEN_PICKER, job=job, until="Choose a model")
            case _:
                recording = tmp_path / "r.jsonl"
                run = [sys.executable, "-m", "decodescope", "run", "hi", "-m", f"script:{played}"]
                subprocess.run([*run, "--record", str(recording)], check=True, capture_output=True)
                return start(OPEN_REPLAY, recording, job=job, until="paused")

    return begin
