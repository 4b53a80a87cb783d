"""Bytes on their way to a pipe or a device, whose reader may stall: a thread of its own writes them."""

import errno
import os
import threading
import time
from collections import deque

MOST_BYTES = 8 << 20
"""How much may wait for a reader; some 30,000 tokens."""
PATIENCE_SECONDS = 2.0
"""How long the end waits for a reader that takes nothing."""
_LONGEST_END_SECONDS = 10.0
_PIECE = 4096
"""Few enough for a pipe to take them whole, so that a slow reader can be told from one that stalls."""


class Backlog:
    """Whoever puts bytes here never waits for their reader; only ``close`` does, for a bounded time."""

    def __init__(self, descriptor: int) -> None:
        """``descriptor`` is the backlog's own from here on."""
        self._descriptor = descriptor
        self._waiting: deque[bytes] = deque()
        self._size = 0
        self._taken = 0
        self._over = False
        self._ended = False
        self._failure: OSError | None = None
        self._changed = threading.Condition()
        threading.Thread(target=self._write, name="recording", daemon=True).start()

    def put(self, data: bytes) -> None:
        """Hand over bytes. Raises OSError when earlier ones could not be written, or too many wait."""
        with self._changed:
            self._raise_failure()
            if self._size + len(data) > MOST_BYTES:
                raise OSError(errno.ENOBUFS, f"its reader does not keep up, and {MOST_BYTES >> 20} MiB wait for it")
            self._waiting.append(data)
            self._size += len(data)
            self._changed.notify_all()

    def close(self) -> None:
        """Wait until all is written. Raises OSError when it cannot be, or its reader stalls."""
        deadline = time.monotonic() + _LONGEST_END_SECONDS
        with self._changed:
            self._over = True
            self._changed.notify_all()
            while not self._ended:
                taken, left = self._taken, deadline - time.monotonic()
                moved = self._changed.wait_for(
                    lambda taken=taken: self._ended or self._taken != taken,  # type: ignore[misc]
                    min(PATIENCE_SECONDS, max(left, 0.0)),
                )
                if not moved:
                    waiting = self._size
                    self.abandon()
                    raise OSError(errno.ETIMEDOUT, f"its reader did not take the last {waiting:,} bytes in time")
            self._raise_failure()

    def abandon(self) -> None:
        """Drop what waits. A write that is under way ends with its reader, or with this process."""
        with self._changed:
            self._over = True
            self._waiting.clear()
            self._size = 0
            self._changed.notify_all()

    def _raise_failure(self) -> None:
        if self._failure is not None:
            raise self._failure

    def _write(self) -> None:
        try:
            while (data := self._next()) is not None:
                self._put(data)
        except OSError as error:
            with self._changed:
                self._failure = error
        finally:
            os.close(self._descriptor)
            with self._changed:
                self._ended = True
                self._changed.notify_all()

    def _next(self) -> bytes | None:
        """Wait for what comes next; ``None``: nothing more does."""
        with self._changed:
            self._changed.wait_for(lambda: self._waiting or self._over)
            return self._waiting.popleft() if self._waiting else None

    def _put(self, data: bytes) -> None:
        place = 0
        while place < len(data):
            written = os.write(self._descriptor, data[place : place + _PIECE])
            place += written
            with self._changed:
                if self._over and not self._size:
                    return  # abandoned
                self._taken += written
                self._size -= written
                self._changed.notify_all()
