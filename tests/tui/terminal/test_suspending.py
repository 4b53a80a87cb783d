"""Suspended and brought back, written over, resized: all is drawn afresh, and the terminal is lent as it was."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from ...conftest import DEADLINE_SECONDS, ScriptWriter
from .conftest import OPEN_REPLAY, SCREENS, Open
from .pty_process import PtyProcess
from .test_restored import ENDLESS, OPEN_SCOPE, restored

STILL = [which for which in SCREENS if which != "picker"]  # which tells how much memory is free just now
QUIT, SUSPEND, REDRAW = b"\x11", b"\x1a", b"\x1b[24~"


def shown(process: PtyProcess) -> str:
    return "\n".join(process.screen())


def pid_of_screen(process: PtyProcess) -> int:
    (screen,) = psutil.Process(process.pid).children()
    return screen.pid


def still(process: PtyProcess) -> list[tuple[str, object]]:
    """The picture, once it changes no more."""
    process.read_rest()
    return process.picture()


def seen_again(process: PtyProcess, picture: list[tuple[str, object]]) -> None:
    """Wait until all of it is there as before."""
    process.read_until(lambda _: process.picture() == picture)


def command(process: PtyProcess, word: bytes) -> None:
    """Tell the shell, and wait until it has understood."""
    before = len(process.output)
    process.type(word + b"\n")
    process.read_until(lambda output: b"<" + word + b">" in output[before:])


def stopped(process: PtyProcess, by: Callable[[], None]) -> None:
    before = len(process.output)
    by()
    process.read_until(lambda output: b"<stopped>" in output[before:])


@pytest.mark.parametrize("which", STILL)
def test_suspended_by_its_key_it_lends_the_terminal_as_it_was(open_screen: Open, which: str) -> None:
    process = open_screen(which)
    before = still(process)
    for _ in range(2):
        stopped(process, lambda: process.type(SUSPEND))
        restored(process)
        command(process, b"fg")
        seen_again(process, before)
        assert process.attributes() != process.attributes_before
    process.type(QUIT)
    process.read_until(lambda output: b"<ended>" in output)
    restored(process)


@pytest.mark.parametrize("number", [signal.SIGTSTP, signal.SIGSTOP])
def test_stopped_by_a_signal_it_comes_back_whole(open_screen: Open, number: signal.Signals) -> None:
    process = open_screen("scope")
    before = still(process)
    stopped(process, lambda: os.kill(pid_of_screen(process), number))
    if number is signal.SIGTSTP:
        restored(process)
    command(process, b"fg")
    seen_again(process, before)
    assert process.attributes() != process.attributes_before
    process.type(QUIT)
    process.read_until(lambda output: b"<ended>" in output)
    restored(process)


@pytest.mark.parametrize("number", [signal.SIGTSTP, signal.SIGSTOP])
def test_in_the_background_it_stops_again(open_screen: Open, number: signal.Signals) -> None:
    process = open_screen("scope")
    before = still(process)
    stopped(process, lambda: os.kill(pid_of_screen(process), number))
    stopped(process, lambda: command(process, b"bg"))
    command(process, b"fg")
    seen_again(process, before)


def test_resized_in_the_background(open_screen: Open) -> None:
    process = open_screen("scope")
    stopped(process, lambda: process.type(SUSPEND))
    process.resize(60, 20)
    command(process, b"fg")
    process.read_until(lambda _: "quit" in process.screen()[-1])
    assert process.screen()[0].endswith("/ 4,096")


def test_the_answer_goes_on_meanwhile_in_its_own_time(start: Open, script: ScriptWriter) -> None:
    process = start(
        OPEN_SCOPE, script({"prefill": 10, "ms": 5}, {"repeat": 60, "text": " word", "ms": 10}), until="word"
    )
    stopped(process, lambda: process.type(SUSPEND))
    time.sleep(6)
    command(process, b"fg")
    process.read_until(lambda _: "done    60 tokens" in shown(process))
    elapsed = re.search(r"elapsed +([\d.]+) s", shown(process))
    assert elapsed is not None
    assert float(elapsed.group(1)) < 6


def test_a_replay_stands_still_meanwhile(start: Open, script: ScriptWriter, tmp_path: Path) -> None:
    played, recording = (
        script({"prefill": 10, "ms": 5}, {"repeat": 60, "text": " word", "ms": 10}),
        tmp_path / "r.jsonl",
    )
    run = [sys.executable, "-m", "decodescope", "run", "hi", "-m", f"script:{played}", "--record", str(recording)]
    subprocess.run(run, check=True, capture_output=True)
    process = start(OPEN_REPLAY, recording, "--speed", "0.2", until="paused")
    process.type(b" ")
    process.read_until(lambda _: "playing" in shown(process))
    stopped(process, lambda: process.type(SUSPEND))
    time.sleep(6)  # in which it would have come to its end
    before = len(process.output)
    command(process, b"fg")
    process.read_until(lambda output: b"quit" in output[before:])
    process.type(b" ")  # pauses; at the end it would begin again
    process.read_until(lambda _: "‖ paused" in shown(process))
    place = re.search(r"paused +(\S+) s of (\S+) s", shown(process))
    assert place is not None
    assert place.group(1) != place.group(2)


def test_a_terminal_that_takes_nothing_does_not_keep_it_from_being_stopped(start: Open, script: ScriptWriter) -> None:
    process = start(OPEN_SCOPE, script({"prefill": 10, "ms": 5}, ENDLESS), until="tok tok")
    screen = psutil.Process(pid_of_screen(process))
    time.sleep(3)  # nobody reads: the pty and the queue of frames fill up
    os.kill(screen.pid, signal.SIGTSTP)
    deadline = time.monotonic() + DEADLINE_SECONDS
    while screen.status() != psutil.STATUS_STOPPED:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    process.read_until(lambda output: output.endswith(b"<stopped>\r\n"))
    restored(process)
    command(process, b"fg")
    process.read_until(lambda _: "tok tok" in shown(process))
    process.type(QUIT)
    process.read_until(lambda output: b"<ended>" in output)
    restored(process)


def test_without_a_shell_to_continue_it_it_says_so(open_screen: Open) -> None:
    process = open_screen("scope", job=False)
    process.type(SUSPEND)
    process.read_until(lambda _: "cannot be suspended" in shown(process))
    before = len(process.output)
    os.kill(process.pid, signal.SIGTSTP)  # which comes to nothing
    process.read_until(lambda output: b"\x1b[?1049h" in output[before:])  # keys before that are the shell's
    process.type(QUIT)
    assert process.wait() == 0


def test_ended_while_it_is_suspended_it_leaves_the_terminal_alone(open_screen: Open) -> None:
    process = open_screen("scope")
    screen = pid_of_screen(process)
    engines = psutil.Process(screen).children()
    stopped(process, lambda: process.type(SUSPEND))
    length = len(process.output)
    os.kill(screen, signal.SIGTERM)
    command(process, b"bg")
    process.read_until(lambda output: b"<ended>" in output)
    psutil.wait_procs(engines, timeout=DEADLINE_SECONDS)
    process.read_rest()
    assert b"\x1b" not in process.output[length:]
    assert process.attributes() == process.attributes_before


@pytest.mark.parametrize("which", STILL)
def test_what_others_have_written_goes_with_a_key(open_screen: Open, which: str) -> None:
    process = open_screen(which)
    before = still(process)
    process.write_over(b"\x1b[3;1Hgarbage of another program\x1b[7;30Hmore of it\x1b[?25h\x1b[?1003l")
    assert still(process) != before
    process.type(REDRAW)
    seen_again(process, before)
    assert process.output.rindex(b"\x1b[?25l") > process.output.rindex(b"\x1b[?25h")
    assert process.output.rindex(b"\x1b[?1003h") > process.output.rindex(b"\x1b[?1003l")


def test_a_storm_of_sizes_ends_in_the_picture_of_the_last(open_screen: Open) -> None:
    process = open_screen("scope", job=False)
    before = still(process)
    for _ in range(60):
        process.resize(40, 12)
        process.resize(130, 50)
        process.resize(100, 30)
    seen_again(process, before)
    process.write_over(b"\x1b[3;1Hcut off and given back")
    os.kill(process.pid, signal.SIGWINCH)
    seen_again(process, before)
