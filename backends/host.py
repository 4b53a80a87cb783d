"""The parent's end of an engine: a child process and the two pipes that lead to it."""

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

from .events import Event, Failed, ModelReady, Stage
from .requests import Request, ScoreRequest
from .text import well_formed
from .wire import Cancel, EventReader, Generate, OpenLlama, OpenScript, Probabilities, Score, Tokenize, encode

_READ_SIZE = 1 << 20
_PIPE_SIZE = 1 << 20
_LOG_TAIL_BYTES = 4096
_LOG_TAIL_LINES = 12
_EXIT_DEADLINE = 1.5
_RESEND_SECONDS = 0.02

_ENDED_BY_OTHERS = frozenset({signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP})
_SIGNAL_REMEDIES = {
    signal.SIGKILL: "The system may have run out of memory: try a smaller model or a smaller -c.",
    signal.SIGILL: "llama.cpp was built for another processor: reinstall llama-cpp-python on this machine.",
    signal.SIGABRT: "llama.cpp gave up; its last words are above. Try other settings (-c, -fa, -ngl).",
    signal.SIGSEGV: "llama.cpp crashed. Try other settings (-c, -fa, -ngl), or check the model file.",
    signal.SIGBUS: "The model file may have been changed or cut while it was in use, or the disk failed.",
}


class EngineHost:
    """A ``Backend`` that runs in a process of its own.

    Raises OSError when the process cannot be started. The caller's thread becomes the process's parent; priority is
    inherited from it.
    """

    def __init__(self, opening: OpenLlama | OpenScript) -> None:
        self._log = tempfile.TemporaryFile(prefix="decodescope-engine-")  # noqa: SIM115 (lives as long as the engine)
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
        self._ready = False
        self._failed = False
        self._closed = False
        os.set_blocking(event_read, False)
        os.set_blocking(command_write, False)
        if hasattr(fcntl, "F_SETPIPE_SZ"):
            with contextlib.suppress(OSError):  # a user's pipe quota may be used up; the engine keeps a backlog anyway
                fcntl.fcntl(event_read, fcntl.F_SETPIPE_SZ, _PIPE_SIZE)
        self._send(encode(opening))

    @property
    def pid(self) -> int:
        """Process id of the engine."""
        return self._process.pid

    def fileno(self) -> int:
        """See ``Backend``."""
        return self._events

    @property
    def closed(self) -> bool:
        """See ``Backend``."""
        return self._closed

    def receive(self, timeout: float | None = 0.0) -> list[Event]:
        """See ``Backend``."""
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
        self._ready = self._ready or any(isinstance(event, ModelReady) for event in events)
        self._failed = self._failed or any(isinstance(event, Failed) and event.stage != "generate" for event in events)
        if self._closed and not self._failed:
            events.append(self._death())
        return events

    def generate(self, request: Request) -> None:
        """See ``Backend``."""
        self._send(encode(Generate(request.mapped(well_formed))))

    def tokenize(self, text: str) -> None:
        """See ``Backend``."""
        self._send(encode(Tokenize(well_formed(text))))

    def score(self, request: ScoreRequest) -> None:
        """See ``Backend``."""
        self._send(encode(Score(request)))

    def cancel(self) -> None:
        """See ``Backend``."""
        self._send(encode(Cancel()))

    def probabilities(self, on: bool) -> None:
        """See ``Backend``."""
        self._send(encode(Probabilities(on)))

    def close(self) -> None:
        """See ``Backend``."""
        if self._commands < 0:
            return
        self._closed = True
        with self._sending:
            self._unsent.clear()
            os.close(self._commands)  # the engine exits when its command pipe ends
            self._commands = -1
        try:
            self._process.wait(_EXIT_DEADLINE)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        os.close(self._events)
        self._log.close()

    def log_tail(self) -> str:
        """Return the last lines that the engine's process wrote to its stdout and stderr, at most 4 KiB."""
        size = os.fstat(self._log.fileno()).st_size
        data = os.pread(self._log.fileno(), _LOG_TAIL_BYTES, max(0, size - _LOG_TAIL_BYTES))
        lines = data.decode("utf-8", "replace").strip().splitlines()
        return "\n".join(lines[-_LOG_TAIL_LINES:])

    def _send(self, data: bytes) -> None:
        """Queue a command; never waits for an engine that does not read."""
        with self._sending:
            if self._commands < 0:
                return
            self._unsent += data
            self._write_unsent()
            if self._unsent and self._sender is None:
                self._sender = threading.Thread(target=self._send_rest, name="engine-commands", daemon=True)
                self._sender.start()

    def _write_unsent(self) -> None:
        try:
            while self._unsent:
                del self._unsent[: os.write(self._commands, self._unsent)]
        except BlockingIOError:
            return
        except BrokenPipeError:
            self._unsent.clear()  # the engine has died; ``receive`` says why

    def _send_rest(self) -> None:
        while True:
            time.sleep(_RESEND_SECONDS)
            with self._sending:
                if self._commands < 0 or not self._unsent:
                    self._sender = None
                    return
                self._write_unsent()

    def _death(self) -> Failed:
        try:
            code = self._process.wait(_EXIT_DEADLINE)
        except subprocess.TimeoutExpired:
            self._process.kill()
            code = self._process.wait()
        stage: Stage = "engine" if self._ready else "load"
        what, remedy = describe_exit(code)
        # Whom another process ends has no last words; what stands in the log is no reason.
        reason = "" if -code in _ENDED_BY_OTHERS else self.log_tail()
        return Failed(t=time.perf_counter_ns(), stage=stage, what=what, reason=reason, remedy=remedy)


def describe_exit(code: int) -> tuple[str, str]:
    """Return (what happened, what to do) for the exit status of an engine, as ``Popen.returncode`` gives it."""
    if code >= 0:
        return f"The engine ended by itself with exit status {code}.", "Its last words are above."
    try:
        died_of = signal.Signals(-code)
    except ValueError:
        return f"The engine was ended by signal {-code}.", ""
    description = signal.strsignal(died_of) or ""
    remedy = _SIGNAL_REMEDIES.get(died_of, "")
    return f"The engine was ended by {died_of.name} ({description.lower()}).", remedy


def _pipe() -> tuple[int, int]:
    """Return a pipe whose descriptors are clear of 0, 1 and 2, even where a caller has closed those."""
    ends = os.pipe()
    moved = [fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 3) for fd in ends]
    for fd in ends:
        os.close(fd)
    return moved[0], moved[1]
