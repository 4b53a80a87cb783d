"""The terminal: keys from it, frames to it, and its state restored whatever happens."""

import contextlib
import os
import selectors
import signal
import sys
import termios
import threading
import time
from types import FrameType, TracebackType
from typing import TYPE_CHECKING, Any, Literal, Self, TextIO

from textual._ansi_sequences import SYNC_END, SYNC_START
from textual.drivers.linux_driver import LinuxDriver

from .output import Output, Traffic
from .typed import Typed

if TYPE_CHECKING:
    from textual.app import App

_SCREEN_NICE = 5  # at 19 an engine that keeps all cores busy leaves the screen standing for seconds
_EXIT_DEADLINE = 3.0
_KEYS_BYTES = 1 << 16
_ATTEMPTS, _ATTEMPT_SECONDS = 20, 0.005
_ENDING_SIGNALS = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGQUIT)
"""The keys for the last two arrive as keys: the terminal sends no signal for them."""

RESTORE = (
    "\x1b[<u"  # kitty's keyboard protocol; before the alternate screen is left, which has a stack of its own
    "\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1006l\x1b[?1015l\x1b[?1016l"  # mouse
    "\x1b[?2004l\x1b[?1004l\x1b[?2048l\x1b[?2026l"  # bracketed paste, focus, resize reports, synchronised output
    "\x1b[?7h\x1b[0m\x1b[?1049l\x1b[?25h"  # line wrap, colours, alternate screen, cursor
)


class NoTerminalError(Exception):
    """There is no terminal to draw on or to read keys from."""


def erases_in_background(terminal: int) -> bool:
    """Whether the terminal on this descriptor is known to erase cells (ECH) in the background that is set."""
    import curses

    try:
        curses.setupterm(fd=terminal)
    except curses.error:
        return False  # nothing is known about it
    return curses.tigetflag("bce") > 0 and curses.tigetstr("ech") == b"\x1b[%p1%dX"


def lower_priority() -> None:
    """Let the calling thread, which draws, step back behind the engines. On Linux priority belongs to the thread; where
    it belongs to the whole process nothing is done, since engines started later would inherit it."""
    if sys.platform == "linux":
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _SCREEN_NICE)


class TerminalDriver(LinuxDriver):
    """Textual's driver, on the terminal that a ``Terminal`` has found."""

    def __init__(self, app: "App[Any]", **settings: Any) -> None:
        super().__init__(app, **settings)
        terminal = Terminal.current
        self._open_frame: list[str] = []
        self._traffic: Traffic | None = None
        if terminal is not None:
            self._file = terminal.output  # type: ignore[assignment]
            self._traffic = terminal.output.traffic

    def run_input_thread(self) -> None:
        """Read keys until the app ends, as Textual does, but survive what is not UTF-8 and keep pastes whole."""
        typed = Typed(debug=self._debug)
        with selectors.SelectSelector() as selector:
            selector.register(self.fileno, selectors.EVENT_READ)
            while not self.exit_event.is_set():
                ready = selector.select(typed.patience)
                for message in typed.feed(os.read(self.fileno, _KEYS_BYTES) if ready else b""):
                    self.process_message(message)

    def _sigcont_application(self, *arguments: Any) -> None:
        # Textual would begin anew what a SIGSTOP never ended: a second reader of the keys, and raw modes taken for
        # those to be restored.
        if self._must_signal_resume:
            super()._sigcont_application(*arguments)
        elif self._app._loop is not None:
            # A signal by itself does not wake the loop.
            self._app._loop.call_soon_threadsafe(self._app.call_later, self._app.refresh)

    def write(self, data: str) -> None:
        """Hand a frame over, with what makes it one update in one piece."""
        if data == SYNC_START or self._open_frame:
            self._open_frame.append(data)
            if data != SYNC_END:
                return
            data = "".join(self._open_frame)
            self._open_frame.clear()
        if self._traffic is not None:
            self._traffic.handing_over()
        super().write(data)


class Terminal:
    """For the time of an app: opens the terminal where stdin or stderr is something else, and ends the app on SIGTERM,
    SIGHUP and a lost terminal. An app that does not end by itself is ended after a deadline, the terminal restored.

    First ``open``, then enter.
    """

    current: "Terminal | None" = None

    def __init__(self) -> None:
        self.exit_code: int | None = None
        """128 + the signal that ended the app; None otherwise."""
        self._deadline: threading.Timer | None = None
        self._app: App[Any] | None = None
        self._handlers: dict[signal.Signals, Any] = {}
        self._opened: TextIO | None = None
        self.output: Output

    def open(self) -> None:
        """Find the terminal. Raises NoTerminalError, also for a background job: the terminal would stop it."""
        _keys_from_terminal()
        if os.tcgetpgrp(0) != os.getpgrp():
            raise NoTerminalError("The terminal is another program's: bring this one to the foreground.")
        file: TextIO | None = sys.__stderr__
        if file is None or not file.isatty():
            file = self._opened = _open_terminal("w")
        self.output = Output(file, self._lost)
        self._attributes = termios.tcgetattr(0)

    def __enter__(self) -> Self:
        for ending in _ENDING_SIGNALS:
            self._handlers[ending] = signal.signal(ending, self._ended_by)
        Terminal.current = self
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        Terminal.current = None
        if self._deadline is not None:
            self._deadline.cancel()
        for ending, handler in self._handlers.items():
            signal.signal(ending, handler)
        if error is not None:
            self._restore()
        else:
            self._restore_modes(0)
            self.output.close()
        if self._opened is not None:
            self._opened.close()

    def watch(self, app: "App[Any]") -> None:
        """End this app when the terminal or a signal says so."""
        self._app = app

    def _ended_by(self, number: int, frame: FrameType | None) -> None:
        self._end(128 + number)

    def _lost(self) -> None:
        self._end(128 + signal.SIGHUP)

    def expect_end(self) -> None:
        """End at once, the terminal restored, should the app not end within a deadline; a terminal that takes nothing
        keeps it waiting."""
        if self._deadline is None:
            self._deadline = threading.Timer(_EXIT_DEADLINE, self._end_at_once)
            self._deadline.daemon = True
            self._deadline.start()

    def _end(self, code: int) -> None:
        asked_before, self.exit_code = self.exit_code is not None, code
        loop = None if self._app is None else self._app._loop
        if asked_before or self._app is None or loop is None:
            self._end_at_once()
        else:
            self.expect_end()
            loop.call_soon_threadsafe(self._app.exit)

    def _end_at_once(self) -> None:
        self._restore()
        os._exit(self.exit_code or (self._app.return_code if self._app else None) or 0)

    def _restore(self) -> None:
        try:
            # A description of its own, so that not blocking here changes nothing for whoever shares the terminal.
            fd = os.open("/dev/tty", os.O_WRONLY | os.O_NONBLOCK | os.O_NOCTTY)
        except OSError:
            return  # the terminal is gone: there is nothing left to restore
        self.output.abandon()
        self._restore_modes(fd)
        try:
            termios.tcflush(fd, termios.TCOFLUSH)  # frames that nobody has read make room
            for _ in range(_ATTEMPTS):
                with contextlib.suppress(BlockingIOError):  # the last write of a frame is under way
                    os.write(fd, RESTORE.encode())
                    return
                time.sleep(_ATTEMPT_SECONDS)
        except (OSError, termios.error):
            return  # it takes nothing more, or has gone meanwhile
        finally:
            os.close(fd)

    def _restore_modes(self, fd: int) -> None:
        with contextlib.suppress(OSError, termios.error):  # the terminal is gone
            termios.tcsetattr(fd, termios.TCSANOW, self._attributes)


def _open_terminal(mode: Literal["r", "w"]) -> TextIO:
    try:
        return open("/dev/tty", mode, encoding="utf-8", errors="replace")
    except OSError as error:
        raise NoTerminalError(f"There is no terminal: {error.strerror}.") from error


def _keys_from_terminal() -> None:
    """Make the terminal stdin where stdin is something else: a prompt may have come through it."""
    if sys.__stdin__ is not None and not sys.__stdin__.closed and os.isatty(0):
        return
    try:
        keys = os.open("/dev/tty", os.O_RDONLY)
    except OSError as error:
        raise NoTerminalError(f"There is no terminal: {error.strerror}.") from error
    if keys != 0:  # it is 0 where stdin was closed
        os.dup2(keys, 0)
        os.close(keys)
    os.set_inheritable(0, True)
    if sys.__stdin__ is None or sys.__stdin__.closed:
        sys.__stdin__ = sys.stdin = open(0, closefd=False)  # type: ignore[misc] # noqa: SIM115
