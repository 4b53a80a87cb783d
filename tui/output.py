"""The way of the frames to the terminal, and how much of it the terminal has taken."""

import contextlib
import os
import select
import time
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from ..metrics.series import Int64Array

_MARKS_AT_MOST = 256
_WAKE_BYTES = 4096


class Traffic:
    """Counts what goes to the terminal. The screen hands frames over; a thread of Textual's writes them in order."""

    def __init__(self, clock: Callable[[], int] = time.perf_counter_ns) -> None:
        """``clock`` is the engine's, ns."""
        self._clock = clock
        self.handed = 0
        """Frames handed over."""
        self.written = 0
        """Frames that the terminal has taken."""
        self.bytes = 0
        """Bytes that the terminal has taken."""
        self._waited = 0
        self._waits_since: int | None = None
        self._marks: deque[tuple[int, Int64Array]] = deque(maxlen=_MARKS_AT_MOST)
        self.arrivals: deque[tuple[int, Int64Array]] = deque(maxlen=_MARKS_AT_MOST)
        """When a frame with tokens was taken, ns, and their times; the reader takes them out."""

    @property
    def backlog(self) -> int:
        """Frames that the terminal has yet to take."""
        return self.handed - self.written

    @property
    def waited_ns(self) -> int:
        """Time spent waiting for the terminal to take more, a wait that is going on included."""
        since = self._waits_since
        return self._waited + (0 if since is None else self._clock() - since)

    def mark(self, times: "Int64Array") -> None:
        """The next frame shows tokens of these times (ns, shape (n,))."""
        self._marks.append((self.handed + 1, times))

    def handing_over(self) -> None:
        """A frame is about to be handed over."""
        self.handed += 1

    def waits(self) -> None:
        """The terminal takes nothing at present."""
        if self._waits_since is None:
            self._waits_since = self._clock()

    def goes_on(self) -> None:
        """The terminal takes something again."""
        since, self._waits_since = self._waits_since, None
        if since is not None:
            self._waited += self._clock() - since

    def taken(self, count: int) -> None:
        """The terminal has taken the next frame, of ``count`` bytes."""
        self.bytes += count
        self.written += 1
        while self._marks and self._marks[0][0] <= self.written:
            self.arrivals.append((self._clock(), self._marks.popleft()[1]))


class Output:
    """A text file to the terminal that outlives the terminal: once it is gone, writing does nothing but tell so.

    It writes through an open description of its own, which does not block: a blocked write would keep everybody else
    from writing to the terminal, until a reader comes.
    """

    def __init__(self, file: TextIO, on_lost: Callable[[], None]) -> None:
        self._file = file
        self._on_lost = on_lost
        self._lost = False
        self.held = False
        """Whether everything is dropped."""
        self.traffic = Traffic()
        self._descriptor = _own_description(file.fileno())
        self._woken, self._wake = os.pipe()

    def write(self, text: str) -> int:
        """Write everything, however long the terminal takes, or as much as possible until it is held."""
        data = memoryview(text.encode("utf-8", "replace"))
        whole = len(data)
        try:
            while data and not (self._lost or self.held):
                try:
                    data = data[os.write(self._descriptor, data) :]
                    self.traffic.goes_on()
                except BlockingIOError:
                    self.traffic.waits()
                    select.select([self._woken], [self._descriptor], [])
        except OSError:
            self._lost = True
            self._on_lost()
        else:
            self.traffic.taken(whole - len(data))
        return len(text)

    def flush(self) -> None:
        """Nothing is kept back."""

    def fileno(self) -> int:
        """The terminal as it was found."""
        return self._file.fileno()

    def isatty(self) -> bool:
        """Whether it is a terminal still."""
        return self._file.isatty()

    def hold(self) -> None:
        """Drop everything, including the rest of a frame that is being written."""
        self.held = True
        os.write(self._wake, b".")

    def release(self) -> None:
        """Write again; no thread may be writing now."""
        while select.select([self._woken], [], [], 0)[0]:
            os.read(self._woken, _WAKE_BYTES)
        self.held = False

    def close(self) -> None:
        """Give the descriptors back; no thread may be writing."""
        for descriptor in {self._descriptor, self._woken, self._wake} - {self._file.fileno()}:
            os.close(descriptor)


def _own_description(terminal: int) -> int:
    for name in (os.ttyname(terminal), "/dev/tty"):
        with contextlib.suppress(OSError):  # a terminal that was opened by somebody else
            return os.open(name, os.O_WRONLY | os.O_NONBLOCK | os.O_NOCTTY)
    return terminal
