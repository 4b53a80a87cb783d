"""Running processes and terminals that are gone when a test ends, however it ends."""

import subprocess
import sys
from collections.abc import Iterator
from typing import Any, Protocol

import pytest

from .terminals import Terminal


class Starter(Protocol):
    """Starts the command; by default with pipes for stdout and stderr and nothing on stdin."""

    def __call__(self, *arguments: str, prefix: tuple[str, ...] = (), **options: Any) -> "subprocess.Popen[bytes]": ...


@pytest.fixture
def start() -> Iterator[Starter]:
    started: list[subprocess.Popen[bytes]] = []

    def starter(*arguments: str, prefix: tuple[str, ...] = (), **options: Any) -> "subprocess.Popen[bytes]":
        streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        command = [*prefix, sys.executable, "-m", "decodescope", *arguments]
        # Unbuffered: what a buffer holds of a first read is lost to ``communicate``.
        process = subprocess.Popen(command, bufsize=0, **{**streams, **options})
        started.append(process)
        return process

    yield starter
    for process in started:
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout, process.stderr):
            if stream is not None:
                stream.close()


@pytest.fixture
def terminal() -> Iterator[Terminal]:
    terminal = Terminal()
    yield terminal
    terminal.close()
