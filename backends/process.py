"""A child process of ours and the two pipes that lead to it, as the parent holds them."""

import contextlib
import fcntl
import os
import select
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import TypeVar

from .events import Event, Failed, Stage
from .wire import Command, EventReader, encode

_Started = TypeVar("_Started")

_READ_SIZE = 1 << 20
_PIPE_SIZE = 1 << 20
_LOG_TAIL_BYTES = 4096
_LOG_TAIL_LINES = 12
_EXIT_DEADLINE = 1.5
_RESEND_SECONDS = 0.02

_WITHOUT_LAST_WORDS = frozenset({signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGBUS})
"""Of these a process knows nothing beforehand; what stands in its log is no reason."""
ENGINE_REMEDIES: Mapping[int, str] = {
    signal.SIGKILL: "The system may have run out of memory: try a smaller model or a smaller -c.",
    signal.SIGILL: "llama.cpp was built for another processor: reinstall llama-cpp-python on this machine.",
    signal.SIGABRT: "llama.cpp gave up; its last words are above. Try other settings (-c, -fa, -ngl).",
    signal.SIGSEGV: "llama.cpp crashed. Try other settings (-c, -fa, -ngl), or check the model file.",
    signal.SIGBUS: "The model file may have been changed or cut while it was in use, or the disk failed.",
}
"""What to do when an engine was ended by a signal."""


class ChildProcess:
    """Runs ``backends.child`` with ``opening`` as its first command.

    Raises OSError when the process cannot be started. The caller's thread becomes the process's parent; priority is
    inherited from it. ``who`` names the process in what is said of its end, as in ``The engine``; ``remedies`` are for
    the signals that may end it.
    """

    def __init__(self, opening: Command, who: str, remedies: Mapping[int, str]) -> None:
        self._who = who
        self._remedies = remedies
        self._log = tempfile.TemporaryFile(prefix="decodescope-engine-")  # noqa: SIM115 (lives as long as the process)
        event_read, event_write = _pipe()
        command_read, command_write = _pipe()
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", "decodescope.backends.child", str(event_write), str(command_read)],
                stdin=subprocess.DEVNULL,
                stdout=self._log,
                stderr=self._log,
                pass_fds=(event_write, command_read),
                # Keys such as Ctrl+C go to the foreground group; the engine stays out of it. It stays in the session,
                # since a session of its own would be scheduled as a group of its own, whatever the screen's priority.
                process_group=0,
                # numpy's own threads would spin beside llama.cpp's.
                env={**os.environ, "GGML_NO_BACKTRACE": "1", "OPENBLAS_NUM_THREADS": "1"},
            )
        except BaseException:
            for fd in (event_read, command_write):
                os.close(fd)
            self._log.close()
            raise
        finally:
            for fd in (event_write, command_read):
                os.close(fd)
        self._events = event_read
        self._commands = command_write
        self._reader = EventReader()
        self._sending = threading.Lock()
        self._unsent = bytearray()
        self._sender: threading.Thread | None = None
        self._closed = False
        os.set_blocking(event_read, False)
        os.set_blocking(command_write, False)
        if hasattr(fcntl, "F_SETPIPE_SZ"):
            with contextlib.suppress(OSError):  # a user's pipe quota may be used up; the engine keeps a backlog anyway
                fcntl.fcntl(event_read, fcntl.F_SETPIPE_SZ, _PIPE_SIZE)
        self.send(opening)

    @property
    def pid(self) -> int:
        """Process id."""
        return self._process.pid

    def fileno(self) -> int:
        """See ``Backend``."""
        return self._events

    @property
    def closed(self) -> bool:
        """See ``Backend``."""
        return self._closed

    def receive(self, timeout: float | None) -> list[Event]:
        """See ``Backend``; how the process ended is told by ``death``."""
        if self._closed or (timeout != 0 and not select.select([self._events], [], [], timeout)[0]):
            return []
        events: list[Event] = []
        while True:
            try:
                data = os.read(self._events, _READ_SIZE)
            except BlockingIOError:
                break
            if not data:
                self._closed = True
                break
            events.extend(self._reader.feed(data))
        return events

    def send(self, command: Command) -> None:
        """Queue a command; never waits for a process that does not read."""
        with self._sending:
            if self._commands < 0:
                return
            self._unsent += encode(command)
            self._write_unsent()
            if self._unsent and self._sender is None:
                self._sender = threading.Thread(target=self._send_rest, name="engine-commands", daemon=True)
                self._sender.start()

    def close(self) -> None:
        """End the process. Harmless when repeated."""
        if self._commands < 0:
            return
        self._closed = True
        with self._sending:
            self._unsent.clear()
            os.close(self._commands)  # the process exits when its command pipe ends
            self._commands = -1
        try:
            self._process.wait(_EXIT_DEADLINE)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        os.close(self._events)
        self._log.close()

    def log_tail(self) -> str:
        """Return the last lines that the process wrote to its stdout and stderr, at most 4 KiB."""
        size = os.fstat(self._log.fileno()).st_size
        data = os.pread(self._log.fileno(), _LOG_TAIL_BYTES, max(0, size - _LOG_TAIL_BYTES))
        lines = data.decode("utf-8", "replace").strip().splitlines()
        return "\n".join(lines[-_LOG_TAIL_LINES:])

    def exit_status(self) -> int:
        """Return how a process ended whose last event has arrived, as ``Popen.returncode`` gives it."""
        try:
            return self._process.wait(_EXIT_DEADLINE)
        except subprocess.TimeoutExpired:
            self._process.kill()
            return self._process.wait()

    def death(self, stage: Stage) -> Failed:
        """Return the failure of a process that ended unasked."""
        code = self.exit_status()
        what, remedy = describe_exit(code, self._who, self._remedies)
        reason = "" if -code in _WITHOUT_LAST_WORDS else self.log_tail()
        return Failed(t=time.perf_counter_ns(), stage=stage, what=what, reason=reason, remedy=remedy)

    def _write_unsent(self) -> None:
        try:
            while self._unsent:
                del self._unsent[: os.write(self._commands, self._unsent)]
        except BlockingIOError:
            return
        except BrokenPipeError:
            self._unsent.clear()  # the process has died; ``receive`` says why

    def _send_rest(self) -> None:
        while True:
            time.sleep(_RESEND_SECONDS)
            with self._sending:
                if self._commands < 0 or not self._unsent:
                    self._sender = None
                    return
                self._write_unsent()


def describe_exit(code: int, who: str = "The engine", remedies: Mapping[int, str] = ENGINE_REMEDIES) -> tuple[str, str]:
    """Return (what happened, what to do) for the exit status of a process of ours, as ``Popen.returncode`` gives it."""
    if code >= 0:
        return f"{who} ended by itself with exit status {code}.", "Its last words are above."
    try:
        died_of = signal.Signals(-code)
    except ValueError:
        return f"{who} was ended by signal {-code}.", ""
    description = signal.strsignal(died_of) or ""
    remedy = remedies.get(died_of, "")
    return f"{who} was ended by {died_of.name} ({description.lower()}).", remedy


def _pipe() -> tuple[int, int]:
    """Return a pipe whose descriptors are clear of 0, 1 and 2, even where a caller has closed those."""
    ends = os.pipe()
    moved = [fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 3) for fd in ends]
    for fd in ends:
        os.close(fd)
    return moved[0], moved[1]


def start_at_first_priority(start: Callable[[], _Started]) -> _Started:
    """Return what ``start`` returns, which starts a process.

    It is called in a thread that keeps the priority which this process had at the first call, so a process never
    inherits the low priority that a screen takes on afterwards.
    """
    return _starter().submit(start).result()


@cache
def _starter() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(max_workers=1, thread_name_prefix="engine-launcher")
