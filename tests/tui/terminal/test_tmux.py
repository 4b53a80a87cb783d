"""Clusters whose width tmux sees otherwise, in tmux itself."""

import os
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from ...conftest import DEADLINE_SECONDS, ScriptWriter
from .test_restored import OPEN_SCOPE

pytestmark = pytest.mark.skipif(shutil.which("tmux") is None, reason="there is no tmux")
CLUSTERS = "⚠️ 👨‍👩‍👧 สวัสดี 1️⃣| 🇩🇪 👍🏽 น้ำ "
STEPS = (
    # a key, a text, whether it is there then
    ("C-t", "ITL ms", True),
    ("PPage", "ITL ms", True),
    ("C-t", "ITL ms", False),
    ("F1", "Stop the answer.", True),
    ("F1", "Stop the answer.", False),
    ("F4", "rank, entropy", True),
    ("Left", "rank, entropy", True),
    ("Up", "rank, entropy", True),
    ("PPage", "rank, entropy", True),
    ("C-p", "Search for commands", True),
    ("Escape", "Search for commands", False),
    ("F4", "rank, entropy", False),
)


class Tmux:
    """One window."""

    def __init__(self, folder: Path, command: list[str]) -> None:
        self._socket = str(folder / "tmux")
        self._do("-f", os.devnull, "new-session", "-d", "-x", "100", "-y", "30", shlex.join(command))

    def type(self, key: str) -> None:
        self._do("send-keys", key)

    def shown(self) -> str:
        return self._do("capture-pane", "-p")

    def until(self, text: str, *, there: bool = True) -> None:
        deadline = time.monotonic() + DEADLINE_SECONDS
        while (text in self.shown()) is not there:
            assert time.monotonic() < deadline, self.shown()
            time.sleep(0.05)

    def still(self) -> str:
        """What is shown, once it has been so for a while."""
        before, since = self.shown(), time.monotonic()
        while time.monotonic() - since < 0.7:
            time.sleep(0.1)
            if (now := self.shown()) != before:
                before, since = now, time.monotonic()
        return before

    def close(self) -> None:
        self._do("kill-server")

    def _do(self, *arguments: str) -> str:
        done = subprocess.run(
            ["tmux", "-u", "-S", self._socket, *arguments], check=True, capture_output=True, timeout=DEADLINE_SECONDS
        )
        return done.stdout.decode()


@pytest.fixture
def scope(script: ScriptWriter, tmp_path: Path) -> Iterator[Tmux]:
    path = script({"prefill": 10, "ms": 5}, {"repeat": 60, "text": CLUSTERS, "ms": 2}, {"stop": "stop"})
    tmux = Tmux(tmp_path, [sys.executable, "-c", OPEN_SCOPE, str(path)])
    yield tmux
    tmux.close()


def test_nothing_of_older_frames_stays(scope: Tmux) -> None:
    scope.until("done    ")
    for key, text, there in STEPS:
        scope.type(key)
        scope.until(text, there=there)
    pieces = scope.still()
    scope.type("F12")
    assert scope.still() == pieces
