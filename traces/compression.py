"""Bytes of a recording, compressed or not, so that what has been written can be read although more was to come."""

import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO, Protocol

from .errors import TraceError

_GZIP_WINDOW = 31  # zlib: the largest window, in gzip's format
_GZIP_LEVEL = 6
_ZSTD_LEVEL = 3
_GZIP_MAGIC = b"\x1f\x8b"
_ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
_READ_SIZE = 1 << 20
_BLOCK = 1 << 20
"""Most bytes that are decompressed at once."""


class Packer(Protocol):
    """One form of a file."""

    def pack(self, data: bytes) -> bytes:
        """Return bytes from which, after those before, ``data`` can be read in full."""
        ...

    def gather(self, data: bytes) -> bytes:
        """Take ``data`` in; only after ``end`` it can be read in full, and takes less room than with ``pack``."""
        ...

    def end(self) -> bytes:
        """Return the end of the file; more may be packed after it."""
        ...


class PlainPacker:
    """As it is."""

    def pack(self, data: bytes) -> bytes:
        """See ``Packer``."""
        return data

    def gather(self, data: bytes) -> bytes:
        """See ``Packer``."""
        return data

    def end(self) -> bytes:
        """See ``Packer``."""
        return b""


class GzipPacker:
    """gzip."""

    def __init__(self) -> None:
        self._member = self._begun()

    def pack(self, data: bytes) -> bytes:
        """See ``Packer``."""
        return self._member.compress(data) + self._member.flush(zlib.Z_SYNC_FLUSH)

    def gather(self, data: bytes) -> bytes:
        """See ``Packer``."""
        return self._member.compress(data)

    def end(self) -> bytes:
        """See ``Packer``."""
        rest = self._member.flush(zlib.Z_FINISH)
        self._member = self._begun()
        return rest

    def _begun(self) -> "zlib._Compress":
        return zlib.compressobj(_GZIP_LEVEL, zlib.DEFLATED, _GZIP_WINDOW)


class ZstdPacker:
    """Zstandard. Raises TraceError where this Python has none."""

    def __init__(self) -> None:
        with _zstd_needed():
            from .zstd import ZstdCompressor
        self._frame = ZstdCompressor(level=_ZSTD_LEVEL)

    def pack(self, data: bytes) -> bytes:
        """See ``Packer``."""
        return self._frame.compress(data, self._frame.FLUSH_BLOCK)

    def gather(self, data: bytes) -> bytes:
        """See ``Packer``."""
        return self._frame.compress(data)

    def end(self) -> bytes:
        """See ``Packer``."""
        return self._frame.flush(self._frame.FLUSH_FRAME)


def packer_for(name: str) -> Packer:
    """Return the form that a file's name ends in: ``.gz``, ``.zst``, anything else plain. Raises TraceError."""
    ending = name.lower().rpartition(".")[2]
    if ending == "gz":
        return GzipPacker()
    return ZstdPacker() if ending == "zst" else PlainPacker()


class Unpacked:
    """The bytes of a file in whatever form it is, recognised by its content."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.cut = False
        """After the last block: the file ends before its data does."""
        self.damage = ""
        """After the last block: why no more can be read, although there is more."""

    def __iter__(self) -> Iterator[bytes]:
        """Yield what can be read, in blocks of bounded size. Raises OSError, and TraceError where zstd is missing."""
        data = _at_least(self._file, len(_ZSTD_MAGIC))
        while data:
            part = _part(data)
            if part is None:
                yield data
                yield from iter(lambda: self._file.read(_READ_SIZE), b"")
                return
            try:
                yield from self._unpacked(part, data)
            except _DamagedError as error:
                self.damage = str(error)
                return
            if not part.eof:
                self.cut = True
                return
            # Files can be put one after another.
            data = part.unused_data
            if len(data) < len(_ZSTD_MAGIC):
                data += _at_least(self._file, len(_ZSTD_MAGIC) - len(data))
            if data and _part(data) is None:
                self.damage = "what follows is not compressed"
                return

    def _unpacked(self, part: "_Part", data: bytes) -> Iterator[bytes]:
        while True:
            if unpacked := part.unpack(data):
                yield unpacked
            if part.eof:
                return
            data = self._file.read(_READ_SIZE) if part.needs_input else b""
            if part.needs_input and not data:
                return


class _Part(Protocol):
    """One member of a gzip file or one frame of a zstd file."""

    @property
    def eof(self) -> bool: ...
    @property
    def needs_input(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    def unpack(self, data: bytes) -> bytes:
        """Return at most one block. Raises _DamagedError."""
        ...


class _DamagedError(Exception):
    pass


class _GzipPart:
    def __init__(self) -> None:
        self._member = zlib.decompressobj(_GZIP_WINDOW)
        self._full = False

    @property
    def eof(self) -> bool:
        return self._member.eof

    @property
    def needs_input(self) -> bool:
        # A full block may be followed by more that the member holds already.
        return not self._member.unconsumed_tail and not self._full

    @property
    def unused_data(self) -> bytes:
        return self._member.unused_data

    def unpack(self, data: bytes) -> bytes:
        try:
            unpacked = self._member.decompress(self._member.unconsumed_tail + data, _BLOCK)
        except zlib.error as error:
            raise _DamagedError(str(error)) from error
        self._full = len(unpacked) == _BLOCK
        return unpacked


class _ZstdPart:
    def __init__(self) -> None:
        with _zstd_needed():
            from .zstd import ZstdDecompressor, ZstdError
        self._frame = ZstdDecompressor()
        self._error = ZstdError

    @property
    def eof(self) -> bool:
        return self._frame.eof

    @property
    def needs_input(self) -> bool:
        return self._frame.needs_input

    @property
    def unused_data(self) -> bytes:
        return self._frame.unused_data

    def unpack(self, data: bytes) -> bytes:
        try:
            return self._frame.decompress(data, _BLOCK)
        except self._error as error:
            raise _DamagedError(str(error)) from error


def _part(data: bytes) -> _Part | None:
    """Return the reader of what begins with ``data``; ``None``: it is not compressed."""
    if data.startswith(_GZIP_MAGIC):
        return _GzipPart()
    if data.startswith(_ZSTD_MAGIC):
        return _ZstdPart()
    return None


def _at_least(file: BinaryIO, count: int) -> bytes:
    """Return ``count`` bytes, or all that are left; a pipe may give fewer at once."""
    data = b""
    while len(data) < count and (more := file.read(count - len(data))):
        data += more
    return data


@contextmanager
def _zstd_needed() -> Iterator[None]:
    try:
        yield
    except ImportError as error:
        raise TraceError(
            "This Python cannot read or write .zst files.",
            str(error),
            "Use a name that ends in .jsonl or .gz, or a Python with zstd.",
        ) from error
