"""A terminal for a process under test: a pty, and the screen that its output would leave."""

import fcntl
import os
import select
import struct
import termios
import time
from collections.abc import Callable

import pyte

from ..conftest import DEADLINE_SECONDS


class Terminal:
    """Give ``slave`` to a process; what it writes is collected by ``read_until`` and ``read_rest``."""

    def __init__(self, columns: int = 80, rows: int = 24) -> None:
        self.columns, self.rows = columns, rows
        self.master, self.slave = os.openpty()
        fcntl.ioctl(self.slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self.output = b""

    def close(self) -> None:
        os.close(self.master)
        self.close_slave()

    def close_slave(self) -> None:
        if self.slave >= 0:
            os.close(self.slave)
            self.slave = -1

    def read_until(self, condition: Callable[[bytes], bool]) -> None:
        """Read until ``condition`` holds of all output so far."""
        deadline = time.monotonic() + DEADLINE_SECONDS
        while not condition(self.output):
            if time.monotonic() > deadline or not self._read_some(1.0):
                raise AssertionError(f"the output ended with {self.output[-500:]!r}")

    def read_rest(self) -> bytes:
        """Read to the end, which comes when no process holds the terminal any more."""
        self.close_slave()
        while self._read_some(DEADLINE_SECONDS):
            pass
        return self.output

    def _read_some(self, seconds: float) -> bool:
        if not select.select([self.master], [], [], seconds)[0]:
            return True
        try:
            data = os.read(self.master, 65536)
        except OSError:  # Linux's word for the end of a pty
            return False
        self.output += data
        return bool(data)

    def screen(self) -> list[str]:
        """Return the lines that the output leaves on the screen, without the empty ones at the end."""
        screen = pyte.Screen(self.columns, self.rows)
        pyte.ByteStream(screen).feed(self.output)
        lines = [line.rstrip() for line in screen.display]
        while lines and not lines[-1]:
            lines.pop()
        return lines


def take_terminal() -> None:
    """Make stdout the controlling terminal, as a login does; runs in the child."""
    fcntl.ioctl(1, termios.TIOCSCTTY, 0)
