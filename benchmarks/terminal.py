"""A program on a terminal of its own, with the time of every byte that it sends there."""

import fcntl
import os
import pty
import select
import struct
import sys
import termios
import time
from collections.abc import Mapping
from dataclasses import dataclass, field

QUIT = b"\x11"


@dataclass
class Terminal:
    """Runs a Python module on a pty and keeps what it writes as (ns, bytes)."""

    arguments: list[str]
    columns: int = 120
    rows: int = 40
    environment: Mapping[str, str] = field(default_factory=lambda: os.environ)
    chunks: list[tuple[int, bytes]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.started = time.perf_counter_ns()
        self.pid, self._fd = pty.fork()
        if self.pid == 0:
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", self.rows, self.columns, 0, 0))
            environment = {
                **self.environment,
                "TERM": "xterm-256color",
                "COLORTERM": "truecolor",
                "DECODESCOPE_NO_HISTORY": "1",
            }
            os.execve(sys.executable, [sys.executable, *self.arguments], environment)

    def read(self, seconds: float) -> bool:
        """Take what comes within ``seconds``; False once the program has gone."""
        if not select.select([self._fd], [], [], seconds)[0]:
            return True
        try:
            data = os.read(self._fd, 1 << 16)
        except OSError:
            return False
        self.chunks.append((time.perf_counter_ns(), data))
        return bool(data)

    def type(self, keys: bytes) -> None:
        """Press keys."""
        os.write(self._fd, keys)

    def close(self) -> None:
        """Quit, and wait for the end."""
        self.type(QUIT)
        deadline = time.monotonic() + 20
        while self.read(0.2) and time.monotonic() < deadline:
            pass
        os.close(self._fd)
        os.waitpid(self.pid, 0)
