"""What all tests share: an environment of their own, the demo model, scripts, the command as a process."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

import psutil
import pytest

from decodescope.models.demo import demo_path

_FOREIGN_PREFIXES = ("XDG_", "HF_", "HUGGINGFACE_", "OLLAMA_", "LLAMA_", "LMSTUDIO_", "DECODESCOPE_", "TEXTUAL", "LC_")
_FOREIGN_SCREENS = ("SSH_CONNECTION", "SSH_CLIENT", "SSH_TTY", "TMUX", "STY", "DISPLAY", "WAYLAND_DISPLAY")
_FOREIGN = ("NO_COLOR", "FORCE_COLOR", "COLORTERM", "COLUMNS", "LINES", *_FOREIGN_SCREENS)
DEADLINE_SECONDS = 120
"""For what must end by itself: long enough for any machine, so that only a hang is caught."""


def _default_signals() -> None:
    """Let programs under test hear signals, even where the tests run in the background or under nohup."""
    for number, handler in (
        (signal.SIGINT, signal.default_int_handler),
        (signal.SIGQUIT, signal.SIG_DFL),
        (signal.SIGHUP, signal.SIG_DFL),
        (signal.SIGTERM, signal.SIG_DFL),
    ):
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, handler)


_default_signals()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """Three workers for two CPUs, since many tests wait most of their time; each may hold several models in memory."""
    cpus = len(psutil.Process().cpu_affinity()) if sys.platform == "linux" else os.cpu_count() or 1
    return min(cpus + cpus // 2, 8)


@pytest.fixture(scope="session")
def bytecode(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for compiled modules that all workers of this run share."""
    own = tmp_path_factory.getbasetemp()
    return (own.parent if "PYTEST_XDIST_WORKER" in os.environ else own) / "bytecode"


@pytest.fixture(autouse=True)
def own_environment(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory, bytecode: Path) -> None:
    """Keep the machine's home, caches, settings and terminal out of every test."""
    for name in list(os.environ):
        if name.startswith(_FOREIGN_PREFIXES) or name in _FOREIGN:
            monkeypatch.delenv(name)
    if os.environ.get("PYTHONDONTWRITEBYTECODE"):
        # The checkout stays clean, and hundreds of processes need not compile the same modules.
        monkeypatch.delenv("PYTHONDONTWRITEBYTECODE")
        monkeypatch.setenv("PYTHONPYCACHEPREFIX", str(bytecode))
    monkeypatch.setenv("HOME", str(tmp_path_factory.mktemp("home")))
    monkeypatch.setenv("LANG", "C.UTF-8")
    monkeypatch.setenv("TERM", "xterm-256color")


@pytest.fixture(scope="session")
def demo_model() -> Path:
    """The demo model's file."""
    return demo_path()


class ScriptWriter(Protocol):
    """Writes a script and returns its file."""

    def __call__(self, *lines: dict[str, Any], name: str = "played.jsonl") -> Path: ...


@pytest.fixture
def script(tmp_path: Path) -> ScriptWriter:
    """Writes the given lines as a script; ``-m script:FILE`` plays it."""

    def write(*lines: dict[str, Any], name: str = "played.jsonl") -> Path:
        path = tmp_path / name
        path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
        return path

    return write


RunCommand = Callable[..., "subprocess.CompletedProcess[bytes]"]


@pytest.fixture
def decodescope() -> RunCommand:
    """Runs the command to its end: ``decodescope("run", "hi", input=b"", env={...})``."""

    def run(
        *arguments: str | bytes, input: bytes = b"", env: dict[str, str] | None = None, cwd: Path | None = None
    ) -> "subprocess.CompletedProcess[bytes]":
        return subprocess.run(
            [sys.executable, "-m", "decodescope", *arguments],
            input=input,
            capture_output=True,
            env={**os.environ, **(env or {})},
            cwd=cwd,
            timeout=DEADLINE_SECONDS,
            check=False,
        )

    return run
