"""Writing a recording while it happens: whatever ends this process, what was received before is in the file."""

import os
import stat
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from .backlog import Backlog
from .compression import packer_for
from .memory import Written
from .new_file import open_new
from .no_text import without_text

if TYPE_CHECKING:
    from .header import Header


_encoder = msgspec.json.Encoder()


def encoded(records: Iterable[Written], *, text: bool = True) -> bytes:
    """Return records as lines; ``text``: with what was asked and answered."""
    return _encoder.encode_lines([record if text else without_text(record) for record in records])


class TraceWriter:
    """A file that is being written, compressed when its name ends in ``.gz`` or ``.zst``."""

    def __init__(self, path: Path, *, overwrite: bool = False) -> None:
        """Open the file. What is there already is kept: raises TraceError for a file that is not empty, unless
        ``overwrite``, and for one that cannot be opened. Pipes and devices are written as they are, and never waited
        for until ``close``.
        """
        self.path = path
        self._packer = packer_for(path.name)
        self._descriptor = open_new(path, overwrite=overwrite, refusal=f"Nothing can be recorded in {path}.")
        self._backlog: Backlog | None = None
        if not stat.S_ISREG(os.fstat(self._descriptor).st_mode):
            # A file takes what it is given; a pipe takes it when its reader does.
            self._backlog, self._descriptor = Backlog(self._descriptor), -1

    def begin(self, header: "Header") -> None:
        """Write the first line. Raises OSError."""
        self.write(encode_header(header))

    def write(self, lines: bytes) -> None:
        """Write whole lines; a reader gets them at once, and so does who reads a file after this process was killed.

        Raises OSError, also for earlier lines that a pipe or device did not take.
        """
        if lines:
            self._put(self._packer.pack(lines))

    def close(self) -> None:
        """End the file. Raises OSError when the end cannot be written, or is not taken for seconds. Harmless when
        repeated."""
        if self._descriptor < 0 and self._backlog is None:
            return
        try:
            self._put(self._packer.end())
            if self._backlog is not None:
                self._backlog.close()
        finally:
            self.abandon()

    def abandon(self) -> None:
        """Close the file as it is. Harmless when repeated."""
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor >= 0:
            os.close(descriptor)
        backlog, self._backlog = self._backlog, None
        if backlog is not None:
            backlog.abandon()

    def _put(self, data: bytes) -> None:
        if self._backlog is not None:
            self._backlog.put(data)
            return
        while data:
            data = data[os.write(self._descriptor, data) :]


def encode_header(header: "Header") -> bytes:
    """Return the first line, newline included."""
    return msgspec.json.encode(header) + b"\n"
