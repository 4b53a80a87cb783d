"""Endings that went wrong elsewhere: stopped and continued, a terminal that takes nothing, keys faster than frames."""

import os
import signal
import sys
import time
from collections.abc import Callable

import psutil
import pytest

from ...conftest import ScriptWriter
from .pty_process import PtyProcess
from .test_restored import ENDLESS, OPEN_SCOPE, engines_of, restored

QUIT, HELP = b"\x11", b"\x1bOP"
PALETTE = b"\x10"


@pytest.fixture
def scope(script: ScriptWriter) -> Callable[[], PtyProcess]:
    """Open the scope on a pty with an endless answer; the caller closes it."""

    def begin() -> PtyProcess:
        process = PtyProcess([sys.executable, "-c", OPEN_SCOPE, str(script({"prefill": 10, "ms": 5}, ENDLESS))])
        process.read_until(lambda output: b" tok tok" in output)
        return process

    return begin


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGQUIT])
def test_signals_that_keys_do_not_send_restore_too(scope: Callable[[], PtyProcess], number: signal.Signals) -> None:
    process = scope()
    os.kill(process.pid, number)
    assert process.wait() == 128 + number
    restored(process)
    process.close()


def test_stopped_and_continued_it_still_quits_and_restores(scope: Callable[[], PtyProcess]) -> None:
    process = scope()
    os.kill(process.pid, signal.SIGSTOP)
    while psutil.Process(process.pid).status() != psutil.STATUS_STOPPED:
        time.sleep(0.01)
    os.kill(process.pid, signal.SIGCONT)
    before = len(process.output)
    process.read_until(lambda output: b"tok" in output[before:])
    process.type(QUIT)
    assert process.wait() == 0
    restored(process)
    process.close()


@pytest.mark.parametrize("kind", ["load_signal", "signal"])
def test_a_second_engine_answers_for_one_that_crashed(script: ScriptWriter, kind: str) -> None:
    crash = {kind: int(signal.SIGSEGV), "repack": True}
    path = script({"load_ms": 50}, crash, {"prefill": 10, "ms": 5}, ENDLESS)
    process = PtyProcess([sys.executable, "-c", OPEN_SCOPE, str(path)])
    process.read_until(lambda output: b" tok tok" in output and b"warning" in output)
    process.type(HELP)
    process.read_until(lambda output: b"--no-repack" in output)
    process.type(QUIT)
    assert process.wait() == 0
    restored(process)
    process.close()


def test_quitting_does_not_wait_for_a_terminal_that_takes_nothing(scope: Callable[[], PtyProcess]) -> None:
    process = scope()
    engines = engines_of(process)
    time.sleep(3)  # nobody reads: the pty and the queue of frames fill up
    process.type(QUIT)
    assert process.wait(reading=False) == 0
    # What nobody had read made room for what restores the terminal.
    assert b"\x1b[?1049l" in process.output
    assert process.attributes() == process.attributes_before
    assert engines
    psutil.wait_procs(engines, timeout=60)
    assert not any(engine.is_running() for engine in engines)
    process.close()


@pytest.mark.parametrize("page", [b"\x1b[5~", b"\x1b[6~"], ids=["up", "down"])
def test_page_keys_right_after_the_palette_is_opened(scope: Callable[[], PtyProcess], page: bytes) -> None:
    process = scope()
    process.type(PALETTE + page)
    process.read_until(lambda output: b"Search for commands" in output)
    process.type(b"\x1b")
    time.sleep(0.3)
    process.type(QUIT)
    assert process.wait() == 0
    restored(process)
    process.close()


def test_a_closed_stdin_is_no_obstacle(script: ScriptWriter) -> None:
    path = script({"prefill": 10, "ms": 5}, ENDLESS)
    closing = f'exec "{sys.executable}" -c "$0" "{path}" <&-'
    process = PtyProcess(["/bin/sh", "-c", closing, OPEN_SCOPE])
    process.read_until(lambda output: b" tok tok" in output)
    process.type(QUIT)
    assert process.wait() == 0
    restored(process)
    process.close()


IN_THE_BACKGROUND = """
import os, sys
child = os.fork()
if child:
    sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
os.setpgid(0, 0)
os.execv(sys.executable, [sys.executable, *sys.argv[1:]])
"""
"""A group of its own that was never brought to the foreground, as under ``timeout``."""


def test_a_background_job_says_that_the_terminal_is_not_its_own(script: ScriptWriter) -> None:
    path = script({"prefill": 10, "ms": 5}, ENDLESS)
    process = PtyProcess([sys.executable, "-c", IN_THE_BACKGROUND, "-c", OPEN_SCOPE, str(path)])
    assert process.wait() == 2
    assert b"bring this one to the foreground" in process.output
    process.close()
