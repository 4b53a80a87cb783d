"""What comes from a terminal: keys at once and one by one, pastes with brackets and without, bytes that are no key."""

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ...conftest import DEADLINE_SECONDS, ScriptWriter
from .pty_process import PtyProcess
from .test_restored import OPEN_SCOPE, restored

TOLD = """
import json, sys
from pathlib import Path
from decodescope.backends.launch import ScriptFile
from decodescope.tui.app import ScopeApp, ScopeOptions, run_scope
from decodescope.tui.screens.scope import ScopeScreen
sent, ask, leave = [], ScopeScreen._send, ScopeApp.exit
def send(self, prompt):
    taken = ask(self, prompt)
    sent.extend([prompt] if taken else [])
    return taken
def exit(self, *arguments, **how):
    Path(sys.argv[2]).write_text(json.dumps({"sent": sent, "box": self.scope._box.text}))
    leave(self, *arguments, **how)
ScopeScreen._send, ScopeApp.exit = send, exit
sys.exit(run_scope(ScopeOptions(model=ScriptFile(Path(sys.argv[1])))))
"""
"""Opens the scope; when it is left, what was sent and what stood in the box is written to a file."""
QUIT = b"\x11"
PASTE = b"\x1b[200~caf\xe9 \x1b[31mred\x1b[0m end\x11\x1b[201~"
LINES = "".join(f"line {number}: the quick brown fox\n" for number in range(400))


@pytest.fixture
def played(script: ScriptWriter) -> Path:
    return script({"model": {"context": 4_000_000}}, {"prefill": 10, "ms": 5}, {"text": "an answer", "ms": 5})


class Typing:
    """A scope on a pty."""

    def __init__(self, played: Path, told: Path, *, before: bytes = b"") -> None:
        self._told = told
        # What is typed before the program is there waits in the terminal.
        command = [sys.executable, "-c", TOLD, str(played), str(told)]
        self.process = PtyProcess(command, env={"DECODESCOPE_NO_HISTORY": "1"}, keys=before)

    def shows(self, *texts: str) -> None:
        self.process.read_until(lambda _: all(text in "\n".join(self.process.screen()) for text in texts))

    def type(self, *bursts: bytes) -> None:
        for burst in bursts:
            self.process.type(burst)

    def left(self) -> tuple[list[str], str]:
        """Leave; return what was sent and what stands in the box."""
        self.process.type(QUIT)
        assert self.process.wait() == 0
        told = json.loads(self._told.read_text())
        return told["sent"], told["box"]


@pytest.fixture
def typing(played: Path, tmp_path: Path) -> Iterator[Callable[..., Typing]]:
    running: list[Typing] = []

    def begin(**how: bytes) -> Typing:
        running.append(Typing(played, tmp_path / "told", **how))
        return running[-1]

    yield begin
    for one in running:
        one.process.close()


def test_bytes_that_are_not_utf_8_and_pasted_control_sequences_are_text(script: ScriptWriter) -> None:
    process = PtyProcess([sys.executable, "-c", OPEN_SCOPE, str(script({"text": "first answer"}))])
    process.read_until(lambda _: any("first answer" in line for line in process.screen()))
    process.type(b"\xe9 ")
    process.read_until(lambda _: any("❯ \ufffd" in line for line in process.screen()))
    process.type(PASTE)
    process.read_until(lambda _: any("caf\ufffd ␛[31mred␛[0m end␑" in line for line in process.screen()))
    process.type(QUIT)
    assert process.wait() == 0
    restored(process)
    process.close()


def test_lines_in_one_write_stand_in_the_box_and_are_sent_by_an_enter(typing: Callable[..., Typing]) -> None:
    scope = typing()
    scope.shows("❯ Ask something")
    scope.type(b"one\rtwo")
    scope.shows("❯ one", "  two")
    time.sleep(0.5)
    scope.type(b"\r")
    scope.shows("an answer", "❯ Ask something")
    assert scope.left() == (["one\ntwo"], "")


def test_what_ends_with_enter_is_sent_and_what_comes_then_stands_in_the_box(typing: Callable[..., Typing]) -> None:
    scope = typing()
    scope.shows("❯ Ask something")
    scope.type(b"one\r")
    scope.shows("▌ one")
    for byte in b"two":
        scope.type(bytes([byte]))
    scope.shows("❯ two", "an answer")
    assert scope.left() == (["one"], "two")


def test_what_is_typed_before_the_screen_is_there_stands_in_the_box(typing: Callable[..., Typing]) -> None:
    """The terminal itself makes a line feed of an enter as long as nobody has asked it not to."""
    scope = typing(before=b"first\rthen ")
    scope.process.read_until(lambda output: b"\x1b[?1049h" in output)
    scope.type(b"more")
    scope.shows("❯ first", "  then more")
    assert scope.left() == ([], "first\nthen more")


def test_a_paste_without_brackets_is_one_prompt(typing: Callable[..., Typing]) -> None:
    scope = typing()
    scope.shows("❯ Ask something")
    data = LINES.replace("\n", "\r").encode()
    for at in range(0, len(data), 1000):
        scope.process.read_some()
        scope.type(data[at : at + 1000])
    scope.shows("line 399")
    assert scope.left() == ([], LINES)


@pytest.mark.parametrize("size", [200_000, 1_000_000])
def test_a_large_paste_is_whole(typing: Callable[..., Typing], size: int) -> None:
    scope = typing()
    scope.shows("❯ Ask something")
    text = "".join(f"line {number} of a text with an escape \x1b[2J in it\n" for number in range(size // 45)) + "end"
    data = b"\x1b[200~" + text.replace("\n", "\r").encode() + b"\x1b[201~!"
    for at in range(0, len(data), 2000):
        scope.process.read_some()
        scope.type(data[at : at + 2000])
    scope.shows("end!")
    assert scope.left() == ([], text.replace("\x1b", "␛") + "!")


@pytest.mark.skipif(shutil.which("tmux") is None, reason="there is no tmux")
@pytest.mark.parametrize("brackets", [True, False], ids=["brackets", "none"])
def test_a_paste_from_tmux(played: Path, tmp_path: Path, brackets: bool) -> None:
    told = tmp_path / "told"
    text = "keep this\ncolour \x1b[31mred\x1b[0m end\nthe last"
    buffer = tmp_path / "buffer"
    buffer.write_text(text)
    settings = tmp_path / "tmux.conf"
    settings.write_text("set -g escape-time 0\n")

    def tmux(*arguments: str) -> str:
        command = ["tmux", "-S", str(tmp_path / "tmux"), "-f", str(settings), *arguments]
        return subprocess.run(command, capture_output=True, text=True, timeout=DEADLINE_SECONDS, check=True).stdout

    def shows(*texts: str) -> None:
        deadline = time.monotonic() + DEADLINE_SECONDS
        while not all(text in tmux("capture-pane", "-p") for text in texts):
            assert time.monotonic() < deadline, tmux("capture-pane", "-p")
            time.sleep(0.1)

    environment = [f"-e{name}={value}" for name, value in os.environ.items() if name != "TERM"]
    tmux("new-session", "-d", "-x100", "-y30", *environment, sys.executable, "-c", TOLD, str(played), str(told))
    try:
        shows("❯ Ask something")
        tmux("load-buffer", str(buffer))
        tmux("paste-buffer", *(["-p"] if brackets else []))
        shows("❯ keep this", "colour ␛[31mred␛[0m end", "the last")
        time.sleep(0.5)
        tmux("send-keys", "!", "Enter")
        shows("an answer")
        tmux("send-keys", "two", "Enter", "three")
        shows("❯ two", "  three")
        # By default tmux keeps a sequence for the clipboard to itself.
        tmux("send-keys", "C-y")
        shows("tmux's buffer")
        assert tmux("show-buffer") == "an answer"
        tmux("send-keys", "C-q")
        deadline = time.monotonic() + DEADLINE_SECONDS
        while not told.exists() or not told.read_text():
            assert time.monotonic() < deadline
            time.sleep(0.05)
        assert json.loads(told.read_text()) == {"sent": [text.replace("\x1b", "␛") + "!"], "box": "two\nthree"}
    finally:
        subprocess.run(["tmux", "-S", str(tmp_path / "tmux"), "kill-server"], check=False, timeout=DEADLINE_SECONDS)
