"""The terminal: keys from it, frames to it, and its state restored whatever happens."""

import contextlib
import errno
import os
import selectors
import signal
import sys
import termios
import threading
import time
import tty
from types import FrameType, TracebackType
from typing import TYPE_CHECKING, Any, Literal, Self, TextIO

from textual._ansi_sequences import SYNC_END, SYNC_START
from textual.drivers.linux_driver import LinuxDriver
from textual.events import Resize
from textual.geometry import Size

from .output import Output
from .typed import Typed

if TYPE_CHECKING:
    from textual.app import App

    from .witness import Witness

_SCREEN_NICE = 5  # at 19 an engine that keeps all cores busy leaves the screen standing for seconds
_EXIT_DEADLINE = 3.0
_KEYS_BYTES = 1 << 16
_ATTEMPTS, _ATTEMPT_SECONDS = 20, 0.005
_ENDING_SIGNALS = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGQUIT)
"""The keys for the last two arrive as keys: the terminal sends no signal for them."""
_NOT_ENDING = frozenset(
    {
        *(signal.SIGKILL, signal.SIGSTOP),
        # Their default is to do nothing, or to stop the process.
        *(signal.SIGCHLD, signal.SIGURG, signal.SIGWINCH, signal.SIGCONT),
        *(signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU),
        # Faults: returning from a handler raises them again. The witness restores the terminal.
        *(signal.SIGSEGV, signal.SIGBUS, signal.SIGFPE, signal.SIGILL, signal.SIGSYS, signal.SIGTRAP),
        *({signal.Signals["SIGINFO"]} if hasattr(signal, "SIGINFO") else ()),
    }
)
"""All others end a process that does not handle them."""
_DRAIN_SECONDS = 0.5

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


def playing_clock() -> int:
    """Return the time, ns, for playback on the screen: it stands still while the screen is suspended."""
    return time.perf_counter_ns() - (0 if Terminal.current is None else Terminal.current.lent_ns)


def lower_priority() -> None:
    """Let the calling thread, which draws, step back behind the engines. On Linux priority belongs to the thread; where
    it belongs to the whole process nothing is done, since engines started later would inherit it."""
    if sys.platform == "linux":
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _SCREEN_NICE)


class TerminalDriver(LinuxDriver):
    """Textual's driver, on the terminal that a ``Terminal`` has opened."""

    def __init__(self, app: "App[Any]", **settings: Any) -> None:
        super().__init__(app, **settings)
        assert Terminal.current is not None
        self._terminal = Terminal.current
        self._file = self._terminal.output  # type: ignore[assignment]
        self._open_frame: list[str] = []
        self._setting_up = self._in_use = False
        self._set_up: list[str] = []
        """What has set the terminal up for the app."""

    def run_input_thread(self) -> None:
        """Read keys until the app ends, as Textual does, but survive what is not UTF-8 and keep pastes whole."""
        typed = Typed(debug=self._debug)
        with selectors.SelectSelector() as selector:
            selector.register(self.fileno, selectors.EVENT_READ)
            while not self.exit_event.is_set():
                ready = selector.select(typed.patience)
                for message in typed.feed(os.read(self.fileno, _KEYS_BYTES) if ready else b""):
                    self.process_message(message)

    def start_application_mode(self) -> None:
        """Set the terminal up."""
        self._setting_up = True
        super().start_application_mode()  # type: ignore[no-untyped-call]
        self._setting_up, self._in_use = False, True

    def stop_application_mode(self) -> None:
        """Restore the terminal."""
        self._in_use = False
        super().stop_application_mode()

    @property
    def can_suspend(self) -> bool:
        """Whether a shell could bring this process back: an ancestor in the same session that does not belong to its
        group."""
        import psutil  # only for those who ask

        def could_continue(pid: int) -> bool:
            try:
                return os.getsid(pid) == os.getsid(0) and os.getpgid(pid) != os.getpgrp()
            except OSError:
                return False  # it has ended, or belongs to another user

        return any(could_continue(one.pid) for one in psutil.Process().parents())

    def suspend(self, whom: int = 0) -> None:
        """Give the terminal back and stop ``whom``: a process or, with 0, this group, which is a job of the shell.
        Returns once it is in the foreground again and the terminal is set up."""
        if not self._in_use:  # any longer
            _stop(whom)
            return
        self._terminal.lend()
        _stop(whom)
        self._terminal.take_back()
        self._set_up_after("")

    def set_up_again(self) -> None:
        """Set the terminal up again, whatever its modes are now, and draw everything."""
        if self._in_use:
            self._terminal.wait_for_foreground()
            self._set_up_after(RESTORE)

    def _set_up_after(self, before: str) -> None:
        raw = [*(attributes := self._terminal.attributes)]
        raw[tty.IFLAG] = self._patch_iflag(raw[tty.IFLAG])
        raw[tty.LFLAG] = self._patch_lflag(raw[tty.LFLAG])
        raw[tty.CC] = [*raw[tty.CC]]
        raw[tty.CC][termios.VMIN] = 1
        with contextlib.suppress(termios.error):  # the terminal is gone; writing will report that
            termios.tcsetattr(self.fileno, termios.TCSANOW, raw)
        self.attrs_before = attributes
        self._terminal.taken()
        self.write(before + "".join(self._set_up))
        # In the background nobody reported a new size.
        size = Size(*self._get_terminal_size())
        self._app.post_message(Resize(size, size))

    def _sigtstp_application(self, *arguments: Any) -> None:
        if not self._in_use:
            _stop(os.getpid())
        elif not self._terminal.output.held:
            self._terminal.output.hold()  # a terminal that takes nothing does not keep it waiting
            self._loop.call_soon_threadsafe(self.suspend, os.getpid())

    def _sigcont_application(self, *arguments: Any) -> None:
        # What has stopped this process, SIGSTOP for one, may have let others set the terminal to their needs.
        if self._in_use and not self._terminal.lent:
            # A signal by itself does not wake the loop.
            self._loop.call_soon_threadsafe(self.set_up_again)

    def write(self, data: str) -> None:
        """Hand a frame over, with what makes it one update in one piece."""
        if data == SYNC_START or self._open_frame:
            self._open_frame.append(data)
            if data != SYNC_END:
                return
            data = "".join(self._open_frame)
            self._open_frame.clear()
        if self._setting_up:
            self._set_up.append(data)
        self._terminal.output.traffic.handing_over()
        super().write(data)


def _stop(whom: int) -> None:
    """Stop a process, or with 0 this group, as the terminal's key does; it has no effect if nobody could continue
    it."""
    handler = signal.signal(signal.SIGTSTP, signal.SIG_DFL)
    try:
        os.kill(whom, signal.SIGTSTP)
    finally:
        signal.signal(signal.SIGTSTP, handler)


class Terminal:
    """For the time of an app: opens the terminal where stdin or stderr is something else, and ends the app on SIGTERM,
    SIGHUP and a lost terminal. An app that does not end by itself is ended after a deadline, the terminal restored.

    First ``open``, then enter.
    """

    current: "Terminal | None" = None

    def __init__(self) -> None:
        self.exit_code: int | None = None
        """128 + the signal that ended the app; None otherwise."""
        self.lent = False
        """Whether other programs have the terminal, in its original state."""
        self.lent_ns = 0
        """How long they have had it in total."""
        self._lent_since = 0
        self.attributes: list[Any] = []
        """Modes of the line discipline, to be restored."""
        self._witness: Witness | None = None
        self._deadline: threading.Timer | None = None
        self._app: App[Any] | None = None
        self._handlers: dict[int, Any] = {}
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
        self.attributes = termios.tcgetattr(0)

    def __enter__(self) -> Self:
        for number in signal.valid_signals() - _NOT_ENDING:
            if number in _ENDING_SIGNALS or signal.getsignal(number) is signal.SIG_DFL:
                self._handlers[number] = signal.signal(number, self._ended_by)
        for number in (signal.SIGTSTP, signal.SIGCONT):
            self._handlers[number] = signal.getsignal(number)  # Textual's driver takes them
        Terminal.current = self
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        Terminal.current = None
        if self._deadline is not None:
            self._deadline.cancel()
        for number, handler in self._handlers.items():
            signal.signal(number, handler)
        if error is not None or self.output.held:
            self._restore()
        else:
            self._restore_modes(0)
            self.output.close()
        if self._witness is not None:
            self._witness.close()
        if self._opened is not None:
            self._opened.close()

    def watch(self, app: "App[Any]") -> None:
        """End this app when the terminal or a signal says so."""
        self._app = app

    def call_witness(self) -> None:
        """From now on, have the terminal restored in whatever way this process ends."""
        from .witness import Witness

        with contextlib.suppress(OSError):  # no more processes, or no shell: there is no witness then
            self._witness = Witness(RESTORE)
        self.taken()

    def lend(self) -> None:
        """Give the terminal back for a while."""
        self.output.hold()
        deadline = time.monotonic() + _DRAIN_SECONDS
        while self.output.traffic.backlog and time.monotonic() < deadline:
            time.sleep(_ATTEMPT_SECONDS)
        self._restore()
        self.lent = True
        self._lent_since = time.perf_counter_ns()

    def take_back(self) -> None:
        """Take the terminal back as soon as this process is in the foreground."""
        self.wait_for_foreground()
        with contextlib.suppress(termios.error):  # it is gone; writing will report that
            self.attributes = termios.tcgetattr(0)
        self.lent = False
        self.lent_ns += time.perf_counter_ns() - self._lent_since
        self.output.release()

    def taken(self) -> None:
        """The terminal has been set up: should this process end, it has to be restored."""
        if self._witness is not None:
            self._witness.restores(self.attributes)

    def wait_for_foreground(self) -> None:
        """Return when this process is in the foreground. Until then it is stopped whenever it is continued, as the
        terminal does with every process that would change its modes."""
        while True:
            try:
                return termios.tcsetattr(0, termios.TCSANOW, termios.tcgetattr(0))
            except termios.error as error:
                if error.args[0] != errno.EINTR:  # continued
                    return self._lost()

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
        if asked_before or self.lent or self._app is None or loop is None:
            self._end_at_once()
        else:
            self.expect_end()
            loop.call_soon_threadsafe(self._app.exit)

    def _end_at_once(self) -> None:
        self._restore()
        os._exit(self.exit_code or (self._app.return_code if self._app else None) or 0)

    def _restore(self) -> None:
        if not self.lent:
            self._give_back()
        if self._witness is not None:
            self._witness.rests()

    def _give_back(self) -> None:
        try:
            # A description of its own, so that not blocking here changes nothing for whoever shares the terminal.
            fd = os.open("/dev/tty", os.O_WRONLY | os.O_NONBLOCK | os.O_NOCTTY)
        except OSError:
            return  # the terminal is gone: there is nothing left to restore
        self.output.hold()
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
            termios.tcsetattr(fd, termios.TCSANOW, self.attributes)


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
