"""Whatever ends the screen's process, somebody gives the terminal back."""

import os
import signal
import time
from collections.abc import Callable

import psutil
import pytest

from ...conftest import DEADLINE_SECONDS
from .conftest import SCREENS, Open
from .pty_process import PtyProcess
from .test_restored import restored
from .test_suspending import SUSPEND, command, pid_of_screen, stopped


def eventually(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + DEADLINE_SECONDS
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def witness_of(pid: int) -> psutil.Process:
    """Return the witness of a screen, as soon as there is one."""
    found: list[psutil.Process] = []

    def look() -> bool:
        found[:] = [one for one in psutil.Process(pid).children() if "decodescope-witness" in one.cmdline()]
        return bool(found)

    eventually(look)
    (witness,) = found
    return witness


def given_back(process: PtyProcess) -> None:
    process.read_rest()
    eventually(lambda: process.attributes() == process.attributes_before)
    process.read_rest()
    restored(process)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSEGV])
@pytest.mark.parametrize("which", SCREENS)
def test_it_restores_the_terminal(open_screen: Open, which: str, number: signal.Signals) -> None:
    process = open_screen(which)
    screen = pid_of_screen(process)
    witness = witness_of(screen)
    os.kill(screen, number)
    process.read_until(lambda output: b"<ended>" in output)
    given_back(process)
    eventually(lambda: not witness.is_running())


def test_it_restores_the_terminal_of_a_session_that_has_ended(open_screen: Open) -> None:
    process = open_screen("scope", job=False)
    witness_of(process.pid)
    os.kill(process.pid, signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    given_back(process)


def test_it_ends_with_the_screen_and_has_nothing_to_do(open_screen: Open) -> None:
    process = open_screen("scope", job=False)
    witness = witness_of(process.pid)
    process.type(b"\x11")
    assert process.wait() == 0
    restored(process)
    assert process.output.count(b"\x1b[?1049l") == 1
    assert not witness.is_running()


@pytest.mark.parametrize("word", [None, b"other"])
def test_it_leaves_alone_what_is_not_the_screens_any_longer(open_screen: Open, word: bytes | None) -> None:
    process = open_screen("scope")
    screen = pid_of_screen(process)
    witness = witness_of(screen)
    if word is None:
        stopped(process, lambda: process.type(SUSPEND))
    else:
        # Stopped by force the terminal stays as it is, and a program that the shell starts then sets it up for itself.
        stopped(process, lambda: os.kill(screen, signal.SIGSTOP))
        command(process, word)
    process.read_rest()
    length, attributes = len(process.output), process.attributes()
    os.kill(screen, signal.SIGKILL)
    eventually(lambda: not witness.is_running())
    process.read_rest()
    assert b"\x1b" not in process.output[length:]
    assert process.attributes() == attributes


def test_it_costs_little(open_screen: Open) -> None:
    process = open_screen("scope", job=False)
    assert witness_of(process.pid).memory_info().rss < 6 << 20


STRAY = [signal.SIGUSR1, signal.SIGUSR2, signal.SIGALRM, signal.SIGABRT, signal.SIGXCPU]
STRAY += [signal.SIGRTMIN] if hasattr(signal, "SIGRTMIN") else []


@pytest.mark.parametrize("number", STRAY)
def test_a_stray_signal_ends_the_screen_in_order(open_screen: Open, number: signal.Signals) -> None:
    process = open_screen("scope", job=False)
    os.kill(process.pid, number)
    assert process.wait() == 128 + number
    restored(process)
