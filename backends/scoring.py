"""Scoring a given text in stretches: how much is scored at once, and the file that hands distributions over.

A record of the file holds what a reference thought at one position: its raw logits as float32, one per token of the
vocabulary, then as int32 the position, the size of the vocabulary and the likeliest token, so that a record of another
text or model is never taken for the right one.
"""

import errno
import os
import struct

from .engine import EngineError

STRETCH_BYTES = 128 * 2**20
"""What the logits of one stretch may take: in llama.cpp's memory, in the file and nowhere else."""

_LOGIT_BYTES = 4
_TRAILER = struct.Struct("=3i")


def stretch_rows(vocabulary: int, micro_batch: int) -> int:
    """Return how many positions to score at once, at least 1: a micro-batch or, where that is too much, a part of it.

    ``vocabulary``: tokens. Halved, so that parts fit into micro-batches without a rest.
    """
    rows = max(1, micro_batch)
    while rows > 1 and rows * vocabulary * _LOGIT_BYTES > STRETCH_BYTES:
        rows = -(-rows // 2)
    return rows


def exchange_bytes(rows: int, vocabulary: int) -> int:
    """Return the size of an exchange file of ``rows`` records."""
    return rows * (vocabulary * _LOGIT_BYTES + _TRAILER.size)


class Exchange:
    """An exchange file in use. Everything raises EngineError. May be used by several threads at once."""

    def __init__(self, path: bytes, vocabulary: int, *, writable: bool) -> None:
        """``writable``: a reference's, made when it isn't there."""
        self._path = path
        self._vocabulary = vocabulary
        self._record = exchange_bytes(1, vocabulary)
        flags = os.O_RDWR | os.O_CREAT if writable else os.O_RDONLY
        try:
            self._file = os.open(path, flags | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise self._failed(error) from error

    def write(self, row: int, position: int, top: int, logits: memoryview) -> None:
        """Write the record of a position; ``logits``: float32, shape (vocabulary,)."""
        start = row * self._record
        try:
            self._write(logits, start)
            self._write(_TRAILER.pack(position, self._vocabulary, top), start + self._record - _TRAILER.size)
        except OSError as error:
            raise self._failed(error) from error

    def read(self, row: int, position: int, logits: memoryview) -> int:
        """Read the record of a position into ``logits`` (float32, shape (vocabulary,)); return the likeliest token."""
        trailer = bytearray(_TRAILER.size)
        try:
            count = os.preadv(self._file, [logits.cast("B"), trailer], row * self._record)
        except OSError as error:
            raise self._failed(error) from error
        if count < self._record:
            raise self._wrong(f"It ends before row {row:,}.")
        found, vocabulary, top = _TRAILER.unpack(trailer)
        if (found, vocabulary) != (position, self._vocabulary) or not 0 <= top < vocabulary:
            raise self._wrong(f"Row {row:,} does not belong to position {position:,} of this text and vocabulary.")
        return int(top)

    def close(self) -> None:
        """Close the file; it stays."""
        os.close(self._file)

    def _write(self, data: bytes | memoryview, start: int) -> None:
        rest = memoryview(data).cast("B")
        while rest:
            written = os.pwrite(self._file, rest, start)
            rest, start = rest[written:], start + written

    def _failed(self, error: OSError) -> EngineError:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        return EngineError(
            "The file that hands distributions over has no room."
            if full
            else "The file that hands distributions over cannot be used.",
            f"{os.fsdecode(self._path)}: {error.strerror}",
            "Free some space for temporary files, or point TMPDIR to a disk that has it." if full else "Try again.",
        )

    def _wrong(self, reason: str) -> EngineError:
        return EngineError(
            "The reference's distributions are not there.",
            f"{os.fsdecode(self._path)}: {reason}",
            "Score the reference first, on the same text and with the same vocabulary.",
        )
