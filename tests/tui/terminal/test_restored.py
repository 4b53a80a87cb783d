"""A real terminal: whatever ends the scope, the terminal is as it was."""

import contextlib
import os
import re
import signal
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from ...conftest import DEADLINE_SECONDS, ScriptWriter
from .pty_process import PtyProcess

OPEN_SCOPE = """
import sys
from pathlib import Path
from decodescope.backends.launch import ScriptFile
from decodescope.tui.app import ScopeApp, ScopeOptions, run_scope
from decodescope.tui.screens.scope import ScopeScreen
if "crash" in sys.argv:
    def broken(self):
        raise ValueError("broken on purpose [/x]")
    ScopeScreen.action_copy = broken
sys.exit(run_scope(ScopeOptions(model=ScriptFile(Path(sys.argv[1])), prompt="hi")))
"""

MODES = {
    # what switches it on: what switches it off
    "\x1b[?1049h": "\x1b[?1049l",
    "\x1b[?1000h": "\x1b[?1000l",
    "\x1b[?1003h": "\x1b[?1003l",
    "\x1b[?1004h": "\x1b[?1004l",
    "\x1b[?2004h": "\x1b[?2004l",
    "\x1b[?25l": "\x1b[?25h",
    "\x1b[?7l": "\x1b[?7h",
}
ENDLESS = {"repeat": 1_000_000, "text": " tok", "ms": 5}


@pytest.fixture
def start(script: ScriptWriter) -> Iterator[Callable[..., PtyProcess]]:
    """Open the scope on a pty with an endless answer, and wait until it is being written."""
    running: list[PtyProcess] = []

    def begin(*arguments: str, **settings: object) -> PtyProcess:
        path = script({"prefill": 10, "ms": 5}, ENDLESS)
        process = PtyProcess([sys.executable, "-c", OPEN_SCOPE, str(path), *arguments], **settings)  # type: ignore[arg-type]
        running.append(process)
        process.read_until(lambda output: b" tok tok" in output)
        return process

    yield begin
    for process in running:
        process.close()


def restored(process: PtyProcess) -> None:
    output = process.output.decode(errors="replace")
    for on, off in MODES.items():
        assert on in output
        assert output.rindex(off) > output.rindex(on), f"{on!r} was not undone"
    # Kitty's keyboard protocol: what was pushed is popped.
    assert len(re.findall(r"\x1b\[>\d+u", output)) <= output.count("\x1b[<u")
    assert process.attributes() == process.attributes_before


def engines_of(process: PtyProcess) -> list[psutil.Process]:
    return psutil.Process(process.pid).children(recursive=True)


def gone(engines: list[psutil.Process]) -> None:
    assert engines
    _, alive = psutil.wait_procs(engines, timeout=DEADLINE_SECONDS)
    assert alive == []


def test_quit(start: Callable[..., PtyProcess]) -> None:
    process = start()
    engines = engines_of(process)
    process.type(b"\x11")
    assert process.wait() == 0
    restored(process)
    gone(engines)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_signals(start: Callable[..., PtyProcess], number: signal.Signals) -> None:
    process = start()
    engines = engines_of(process)
    os.kill(process.pid, number)
    assert process.wait() == 128 + number
    restored(process)
    gone(engines)


def test_a_crash_shows_its_traceback_after_the_alternate_screen(start: Callable[..., PtyProcess]) -> None:
    process = start("crash")
    engines = engines_of(process)
    process.type(b"\x19")
    assert process.wait() == 1
    restored(process)
    gone(engines)
    output = process.output.decode(errors="replace")
    after = re.sub(r"\x1b\[[0-9;]*m", "", output[output.rindex("\x1b[?1049l") :])
    assert "ValueError: broken on purpose [/x]" in after


def test_a_kill_takes_the_engine_along(start: Callable[..., PtyProcess]) -> None:
    process = start()
    engines = engines_of(process)
    os.kill(process.pid, signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    gone(engines)


def test_a_terminal_that_goes_away_ends_the_scope(start: Callable[..., PtyProcess]) -> None:
    process = start()
    engines = engines_of(process)
    process.hang_up()
    assert process.wait() == 128 + signal.SIGHUP
    gone(engines)


def test_a_terminal_that_takes_nothing_does_not_keep_a_signal_waiting(start: Callable[..., PtyProcess]) -> None:
    process = start()
    engines = engines_of(process)
    time.sleep(3)  # nobody reads: the pty and the queue of frames fill up
    os.kill(process.pid, signal.SIGTERM)
    assert process.wait(reading=False) == 128 + signal.SIGTERM
    gone(engines)


def test_keys_come_from_the_terminal_when_stdin_is_a_pipe(start: Callable[..., PtyProcess]) -> None:
    process = start(stdin=b"a prompt that came through a pipe")
    process.type(b"\x11")
    assert process.wait() == 0
    restored(process)


def test_frames_go_to_the_terminal_when_stderr_is_a_file(start: Callable[..., PtyProcess], tmp_path: Path) -> None:
    with (tmp_path / "stderr").open("wb") as file:
        process = start(stderr=file.fileno())
        process.type(b"\x11")
        assert process.wait() == 0
    restored(process)
    assert (tmp_path / "stderr").read_bytes() == b""


def test_a_model_that_could_not_be_loaded_is_told_by_the_exit_code(script: ScriptWriter) -> None:
    path = script({"load_error": "no such tensor"})
    process = PtyProcess([sys.executable, "-c", OPEN_SCOPE, str(path)])
    try:
        process.read_until(lambda output: b"no such tensor" in output)
        process.type(b"\x11")
        assert process.wait() == 3
        restored(process)
    finally:
        process.close()


def test_several_lines_by_the_keys_that_terminals_send(start: Callable[..., PtyProcess]) -> None:
    process = start()
    process.type(b"one\ntwo\x1b[13;2uthree\x1b[27;2;13~four")  # ^J; shift+enter by kitty's protocol and by xterm's
    process.read_until(lambda output: "four" in "\n".join(process.screen()))
    lines = [line.strip(" ❯") for line in process.screen()]
    first = lines.index("one")
    assert lines[first : first + 4] == ["one", "two", "three", "four"]


def test_without_a_terminal_it_says_so(script: ScriptWriter) -> None:
    path = script({"prefill": 10, "ms": 5}, ENDLESS)
    done = subprocess.run(
        [sys.executable, "-c", OPEN_SCOPE, str(path)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        start_new_session=True,
        timeout=DEADLINE_SECONDS,
        check=False,
    )
    assert done.returncode == 2
    assert b"no terminal" in done.stderr
    assert b"Traceback" not in done.stderr


@pytest.mark.parametrize("term", ["screen", "linux", "xterm-256color", "vt100"])
@pytest.mark.parametrize("no_color", ["", "1"])
def test_every_terminal_shows_the_words(start: Callable[..., PtyProcess], term: str, no_color: str) -> None:
    process = start(env={"TERM": term, "NO_COLOR": no_color, "COLORTERM": ""})
    process.read_until(lambda output: "write" in "\n".join(process.screen()))
    assert any("TTFT" in line for line in process.screen())
    if no_color:
        colours = re.findall(rb"\x1b\[[0-9;]*38;2;(\d+);(\d+);(\d+)", process.output)
        assert all(len(set(colour)) == 1 for colour in colours)
    with contextlib.suppress(termios.error):
        process.type(b"\x11")
    assert process.wait() == 0
