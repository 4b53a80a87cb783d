"""The engine's process: ``python -m decodescope.backends.child EVENT_FD COMMAND_FD``.

Events go out through a pipe of their own; stdout and stderr belong to native code and lead into the engine's log. The
command pipe is also the leash: when it ends, the parent has gone or wants this process gone, and the process exits at
once, whatever native call is running.
"""

import os
import queue
import select
import sys
import threading
import time
from collections import deque
from typing import assert_never

from .engine import Control, Engine, EngineError
from .events import Event, Failed
from .usage import count_stops
from .wire import (
    Cancel,
    Command,
    CommandReader,
    Generate,
    Measure,
    OpenLlama,
    OpenQuantizer,
    OpenScript,
    Probabilities,
    Score,
    Tokenize,
    encode,
)

_READ_SIZE = 1 << 16


class Outbox:
    """Writes events to the pipe without ever waiting for the reader: what does not fit is kept and sent later."""

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self._backlog: deque[bytes] = deque()
        os.set_blocking(fd, False)

    def send(self, event: Event) -> None:
        """Queue one event and write as much as the pipe takes."""
        self._backlog.append(encode(event))
        self.send_pending()

    def flush(self) -> None:
        """Wait until everything is written. For moments without work only."""
        while self._backlog:
            select.select([], [self._fd], [])
            self.send_pending()

    @property
    def pending(self) -> bool:
        """Whether events wait for the reader to make room."""
        return bool(self._backlog)

    def send_pending(self) -> None:
        """Write what the pipe takes now."""
        try:
            while self._backlog:
                data = self._backlog[0]
                written = os.write(self._fd, data)
                if written == len(data):
                    self._backlog.popleft()
                else:
                    self._backlog[0] = data[written:]
        except BlockingIOError:
            return
        except BrokenPipeError:
            os._exit(0)


class Inbox:
    """Reads commands on a thread of its own, so that a cancel arrives in the middle of native work."""

    def __init__(self, fd: int, control: Control) -> None:
        self._fd = fd
        self._control = control
        self._received = 0
        self._queue: queue.SimpleQueue[Command] = queue.SimpleQueue()
        threading.Thread(target=self._read, name="commands", daemon=True).start()

    def get(self, timeout: float | None = None) -> Command | None:
        """Return the next command that is not about requests sent before; ``None`` when none came in ``timeout`` s."""
        try:
            return self._queue.get(timeout=timeout)
        except queue.Empty:
            return None

    def _read(self) -> None:
        reader = CommandReader()
        while data := os.read(self._fd, _READ_SIZE):
            for command in reader.feed(data):
                if isinstance(command, Cancel):
                    self._control.cancel_through(self._received)
                elif isinstance(command, Probabilities):
                    if command.on:
                        self._control.prepare_probabilities()
                    self._control.probabilities_through(self._received, command.on)
                else:
                    if isinstance(command, Score) or (isinstance(command, Generate) and command.request.probabilities):
                        self._control.prepare_probabilities()
                    self._received += isinstance(command, Generate | Tokenize | Score | Measure)
                    self._queue.put(command)
        self._control.abandon()
        os._exit(0)


def _open_engine(command: Command | None) -> Engine:
    match command:
        case OpenScript():
            from .scripted.engine import ScriptedEngine

            return ScriptedEngine(command.path, command.settings)
        case OpenLlama():
            from .llama.engine import LlamaEngine

            return LlamaEngine(command)
        case OpenQuantizer() | Generate() | Tokenize() | Score() | Measure() | Cancel() | Probabilities() | None:
            raise RuntimeError(f"the first command must open an engine, not {command}")
        case _:
            assert_never(command)


def _failed(error: EngineError, *, load: bool) -> Failed:
    return Failed(
        t=time.perf_counter_ns(),
        stage="load" if load else "generate",
        what=error.what,
        reason=error.reason,
        remedy=error.remedy,
        most_context=error.most_context,
    )


def serve(engine: Engine, inbox: Inbox, outbox: Outbox, control: Control) -> None:
    """Load the engine and serve requests for ever; returns when it could not be loaded."""
    control.prepare_probabilities = engine.prepare_probabilities
    try:
        outbox.send(engine.load(outbox.send))
    except EngineError as error:
        outbox.send(_failed(error, load=True))
        outbox.flush()
        return
    while True:
        # With events still waiting, look in often enough that the reader is served when it comes back.
        command = inbox.get(timeout=0.01 if outbox.pending else None)
        if command is None:
            outbox.send_pending()
            continue
        if not isinstance(command, Generate | Tokenize | Score | Measure):
            raise RuntimeError(f"a second {type(command).__name__}")
        control.serving += 1
        try:
            match command:
                case Generate(request):
                    engine.generate(request, control, outbox.send)
                case Tokenize(text):
                    engine.tokenize(text, outbox.send)
                case Score(request):
                    engine.score(request, control, outbox.send)
                case Measure(request):
                    engine.measure(request, control, outbox.send)
                case _:
                    assert_never(command)
        except EngineError as error:
            outbox.send(_failed(error, load=False))


def quantize(opening: OpenQuantizer, outbox: Outbox, control: Control) -> None:
    """Write a quantization, and tell how it went."""
    from .quantizer import Quantizer

    quantizer = Quantizer(opening)
    control.abandon = quantizer.abandon
    try:
        outbox.send(quantizer.make(outbox.send))
    except EngineError as error:
        outbox.send(_failed(error, load=True))
    outbox.flush()


def main() -> None:
    """Run the engine that the first command names."""
    count_stops()
    control = Control()
    outbox = Outbox(int(sys.argv[1]))
    inbox = Inbox(int(sys.argv[2]), control)
    opening = inbox.get()
    if isinstance(opening, OpenQuantizer):
        quantize(opening, outbox, control)
    else:
        serve(_open_engine(opening), inbox, outbox, control)


if __name__ == "__main__":
    main()
