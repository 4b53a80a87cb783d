"""A terminal that takes little at a time: frames slow down, the engine does not, and it is said."""

import re
import sys
import time
from collections.abc import Callable, Iterator

import pytest

from ...conftest import DEADLINE_SECONDS, ScriptWriter
from .pty_process import PtyProcess
from .test_restored import ENDLESS

OPEN = """
import sys
from pathlib import Path
from decodescope.backends.launch import ScriptFile
from decodescope.tui.app import ScopeOptions, run_scope
sys.exit(run_scope(ScopeOptions(ScriptFile(Path(sys.argv[1])), prompt="hi", low_bandwidth="low" in sys.argv)))
"""
BEHIND = "The terminal takes frames more slowly"
QUIT, COST = b"\x11", b"\x1b[17~"

Open = Callable[..., PtyProcess]


@pytest.fixture
def start(script: ScriptWriter) -> Iterator[Open]:
    """Open the scope on a pty with an endless answer, and wait until it is being written."""
    running: list[PtyProcess] = []

    def begin(*arguments: str) -> PtyProcess:
        path = script({"prefill": 10, "ms": 5}, ENDLESS)
        process = PtyProcess([sys.executable, "-c", OPEN, str(path), *arguments], size=(120, 30))
        running.append(process)
        process.read_until(lambda output: b"tok tok" in output)
        return process

    yield begin
    for process in running:
        process.close()


def shown(process: PtyProcess) -> str:
    return "\n".join(process.screen())


def tokens(process: PtyProcess) -> int:
    """The number of tokens that the screen counts."""
    found = re.search(r"tokens +([\d,]+)", shown(process))
    return 0 if found is None else int(found.group(1).replace(",", ""))


def test_a_terminal_that_falls_behind_is_told_and_the_engine_goes_on(start: Open) -> None:
    process = start()
    deadline = time.monotonic() + DEADLINE_SECONDS
    while BEHIND not in shown(process):
        assert time.monotonic() < deadline, shown(process)
        process.hold()
        time.sleep(0.5)
        before = len(process.output)
        process.release()
        process.read_until(lambda output: len(output) > before)  # noqa: B023 (called at once)
    counted = tokens(process)
    process.read_until(lambda output: tokens(process) > counted)
    process.type(QUIT)
    assert process.wait() == 0


def test_the_meter_shows_figures_of_this_very_screen(start: Open) -> None:
    process = start("low")
    process.type(COST)
    process.read_until(lambda output: "token to terminal" in shown(process) and "engine " in shown(process))
    (line,) = (line for line in process.screen() if "of a core" in line)
    found = re.search(r"screen (\S+) % of a core · (\S+) KB/s · (\S+) frames/s", line)
    assert found is not None, line
    assert all(float(figure.replace(",", "")) > 0 for figure in found.groups())
    assert "low bandwidth" in line
    process.type(COST)
    process.read_until(lambda output: "of a core" not in shown(process))
    process.type(QUIT)
    assert process.wait() == 0
