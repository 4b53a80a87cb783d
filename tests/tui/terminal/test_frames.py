"""What was sent piece by piece leaves the same picture as a whole repaint."""

import os
import signal
import sys
import time
from collections.abc import Callable

import psutil
import pytest

from ...conftest import ScriptWriter
from .pty_process import PtyProcess
from .test_restored import OPEN_SCOPE

QUIT = b"\x11"
TEXT = "The sky is blue, and at sunset it is red. 日本語 🦙 é — "
TOKENS, COST, HELP, PALETTE, ESCAPE = b"\x14", b"\x1b[17~", b"\x1bOP", b"\x10", b"\x1b"
STEPS = (
    # keys, a text, whether it is there then
    (TOKENS, "ITL ms", True),
    (TOKENS, "ITL ms", False),
    (COST, "of a core", True),
    (COST, "of a core", False),
    (HELP, "Stop the answer.", True),
    (HELP, "Stop the answer.", False),
    (PALETTE, "Search for commands", True),
    (ESCAPE, "Search for commands", False),
)


def words() -> list[dict[str, object]]:
    """Tokens of uneven length and time, in paragraphs, wide characters among them."""
    lines: list[dict[str, object]] = []
    for number in range(600):
        text = TEXT.split(" ")[number % 14] + " " + "\n\n" * (number % 97 == 96)
        lines.append({"text": text, "ms": 60 if number % 41 == 40 else 3})
    return lines


@pytest.mark.parametrize("term", ["xterm-256color", "tmux-256color"])
def test_piece_by_piece_is_as_a_whole(script: ScriptWriter, term: str) -> None:
    path = script({"prefill": 10, "ms": 5}, *words())
    process = PtyProcess(
        [sys.executable, "-c", OPEN_SCOPE, str(path)], size=(120, 30), env={"TERM": term, "COLORTERM": "truecolor"}
    )
    shown: Callable[[], str] = lambda: "\n".join(process.screen())  # noqa: E731
    process.read_until(lambda _: "sky" in shown())
    for keys, text, there in STEPS:
        process.type(keys)
        process.read_until(lambda _: (text in shown()) is there)  # noqa: B023 (called at once)
    process.read_until(lambda _: "done    " in shown())
    process.read_rest()
    pieces = process.picture()
    before = len(process.output)
    os.kill(process.pid, signal.SIGSTOP)
    while psutil.Process(process.pid).status() != psutil.STATUS_STOPPED:
        time.sleep(0.01)
    os.kill(process.pid, signal.SIGCONT)
    process.read_until(lambda output: b"decodescope" in output[before:] and b"quit" in output[before:])
    assert process.picture() == pieces
    process.type(QUIT)
    assert process.wait() == 0
    process.close()
