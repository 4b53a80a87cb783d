"""A process with a terminal of its own."""

import contextlib
import fcntl
import os
import select
import struct
import termios
import time
from collections.abc import Callable
from typing import Any

import pyte

from ...conftest import DEADLINE_SECONDS


class PtyProcess:
    """Runs a command as the leader of a session on a pty."""

    def __init__(
        self,
        command: list[str],
        *,
        size: tuple[int, int] = (100, 30),
        stdin: bytes | None = None,
        stderr: int | None = None,
        env: dict[str, str] | None = None,
        keys: bytes = b"",
    ) -> None:
        """``stdin``: what comes through a pipe in place of the terminal. ``stderr``: a descriptor in place of it.
        ``keys``: what is typed before the process is there."""
        self._columns, self._rows = size
        self.output = b""
        self._status: int | None = None
        self._screen = pyte.Screen(self._columns, self._rows)
        self._stream = pyte.ByteStream(self._screen)
        self._drawn = 0
        # The slave is kept open here, so that its attributes can be compared after the process has gone.
        self._master, self._slave = os.openpty()
        fcntl.ioctl(self._slave, termios.TIOCSWINSZ, struct.pack("HHHH", self._rows, self._columns, 0, 0))
        self.attributes_before = self.attributes()
        if keys:
            os.write(self._master, keys)
        self.pid = os.fork()
        if self.pid == 0:
            try:
                os.close(self._master)
                os.login_tty(self._slave) if hasattr(os, "login_tty") else _login_tty(self._slave)
                if stdin is not None:
                    read, write = os.pipe()
                    os.write(write, stdin)
                    os.close(write)
                    os.dup2(read, 0)
                if stderr is not None:
                    os.dup2(stderr, 2)
                os.execve(command[0], command, {**os.environ, **(env or {})})
            finally:
                os._exit(127)

    def attributes(self) -> list[Any]:
        """Modes of the line discipline."""
        return termios.tcgetattr(self._slave)

    def hold(self) -> None:
        """Take nothing more, as after ctrl+s."""
        termios.tcflow(self._slave, termios.TCOOFF)

    def release(self) -> None:
        """Take what comes again."""
        termios.tcflow(self._slave, termios.TCOON)

    def type(self, keys: bytes) -> None:
        os.write(self._master, keys)

    def write_over(self, text: bytes) -> None:
        """Write to the terminal as another program would."""
        os.write(self._slave, text)

    def resize(self, columns: int, rows: int) -> None:
        """Be a window of another size, with what is seen of it yet to be drawn."""
        self._columns, self._rows = columns, rows
        self.screen()
        self._screen.resize(rows, columns)
        fcntl.ioctl(self._slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def read_until(self, condition: Callable[[bytes], bool]) -> None:
        deadline = time.monotonic() + DEADLINE_SECONDS
        while not condition(self.output):
            if time.monotonic() > deadline or self._ended():
                raise AssertionError(f"the output ended with {self.output[-2000:].decode(errors='replace')}")
            self._read(0.1)

    def read_some(self) -> None:
        """Read what is there, so that the process can go on writing."""
        self._read(0.0)

    def read_rest(self) -> None:
        """Read until nothing has come for a second."""
        while self._read(1.0):
            pass

    def wait(self, *, reading: bool = True) -> int:
        """Return the exit code, or minus the signal."""
        deadline = time.monotonic() + DEADLINE_SECONDS
        while not self._ended():
            if time.monotonic() > deadline:
                raise AssertionError("the process does not end")
            if reading and self._master >= 0:
                self._read(0.05)
            else:
                time.sleep(0.05)
        while self._master >= 0 and self._read(0.0):
            pass
        assert self._status is not None
        return os.waitstatus_to_exitcode(self._status)

    def screen(self) -> list[str]:
        """Return the lines that the output leaves on the screen."""
        self._stream.feed(self.output[self._drawn :])
        self._drawn = len(self.output)
        # pyte's own ``display`` cannot show the half of a wide character, as there is in the middle of a frame.
        buffer = self._screen.buffer
        return ["".join(buffer[y][x].data for x in range(self._columns)).rstrip() for y in range(self._rows)]

    def picture(self) -> list[tuple[str, object]]:
        """Return the cells that the output leaves on the screen, with all that can be seen of each."""
        self.screen()
        cells = (self._screen.buffer[y][x] for y in range(self._rows) for x in range(self._columns))
        return [visible_cell(cell) for cell in cells]

    def hang_up(self) -> None:
        """Take the terminal away, as when its window is closed."""
        os.close(self._slave)
        os.close(self._master)
        self._master = self._slave = -1

    def close(self) -> None:
        if not self._ended():
            os.kill(self.pid, 9)
            self._status = os.waitpid(self.pid, 0)[1]
        for fd in (self._master, self._slave):
            if fd >= 0:
                os.close(fd)

    def _ended(self) -> bool:
        if self._status is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self._status = status
        return self._status is not None

    def _read(self, seconds: float) -> bool:
        if not select.select([self._master], [], [], seconds)[0]:
            return False
        with contextlib.suppress(OSError):
            self.output += os.read(self._master, 65536)
            return True
        return False


def visible_cell(cell: pyte.screens.Char) -> tuple[str, object]:
    """Return a cell's character and what can be seen of its style; of a space not the colour that text would have."""
    if cell.data == " " and not (cell.underscore or cell.reverse or cell.strikethrough):
        return cell.data, cell.bg
    return cell.data, (cell.fg, cell.bg, cell.bold, cell.italics, cell.underscore, cell.reverse, cell.strikethrough)


def _login_tty(slave: int) -> None:
    os.setsid()
    fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
    for fd in range(3):
        os.dup2(slave, fd)
