"""Reads the header of a GGUF file, never its weights.

The format is specified in ggml's docs/gguf.md: magic, version, counts, key-value pairs, tensor descriptions, and after
padding to ``general.alignment`` the tensors. Versions 2 and 3 are read, in either byte order. What llama.cpp refuses in
a header (nested arrays, duplicate keys, an alignment that is no power of two, …) is refused here too.

A header can claim anything: counts and lengths are held against the size of the file before anything is read for them.
"""

import math
import os
import stat
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

import msgspec

from .errors import FETCH_ANEW, ModelError, shown
from .ggml_types import TENSOR_TYPES
from .signatures import recognise
from .sizes import size as in_words

ByteOrder = Literal["little", "big"]

# Far above every real header (the largest vocabularies take about 20 MiB), low enough to read in a moment.
_MAX_HEADER_BYTES = 128 * 2**20
_MAX_KEYS = 65_536
_MAX_TENSORS = 262_144
_MAX_STRINGS = 4_194_304
_MAX_TEXT_BYTES = 32 * 2**20
_KEPT_PER_ARRAY = 1024
_KEPT_IN_ALL = 65_536
_FIRST_READ = 256 * 1024

_STRING = 8
_ARRAY = 9
_SCALARS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}


class LongArray(msgspec.Struct, frozen=True):
    """Stands for an array that was skipped, as vocabularies are: only its length is known."""

    length: int


Scalar = int | float | bool | str
Value = Scalar | tuple[Scalar, ...] | LongArray


class Tensor(msgspec.Struct, frozen=True):
    """Describes one tensor."""

    name: str
    dimensions: tuple[int, ...]
    """Values per dimension, the row length first."""
    type: int
    """Number of the ggml type."""
    offset: int
    """Bytes from the start of the tensor data."""
    bytes: int | None
    """Size; ``None`` when the type is not known here."""

    @property
    def values(self) -> int:
        """How many values the tensor holds."""
        return math.prod(self.dimensions)


class Header(msgspec.Struct, frozen=True):
    """What a GGUF file says of itself."""

    path: Path
    version: int
    byte_order: ByteOrder
    metadata: dict[str, Value]
    tensors: tuple[Tensor, ...]
    data_offset: int
    """Where the tensor data starts, bytes."""
    required_bytes: int
    """The size that the file must have at least."""
    file_bytes: int
    """The size that it has."""

    def text(self, key: str) -> str | None:
        """Return a text value, ``None`` when the key is absent or of another type."""
        value = self.metadata.get(key)
        return value if isinstance(value, str) else None

    def integer(self, key: str) -> int | None:
        """Return an integer value, ``None`` when the key is absent or of another type."""
        value = self.metadata.get(key)
        return value if isinstance(value, int) and not isinstance(value, bool) else None


def read_header(path: Path) -> Header:
    """Read the header of the file at ``path``.

    Raises ``ModelError`` when it cannot be opened, is not a GGUF, is damaged, or ends before its header does. A file
    that ends within its tensors is not refused here: ``required_bytes`` tells.
    """
    with _opened(path) as (descriptor, size):
        try:
            return _parse(path, _Cursor(descriptor, size, path))
        except OSError as error:
            raise _unreadable(path, error.strerror or str(error)) from error


def stored_value(path: Path, key: str) -> bytes | None:
    """Return the bytes of a metadata value as they are stored, type number included, however long it is.

    ``None`` when the file at ``path`` has none. Raises ``ModelError`` as ``read_header`` does.
    """
    with _opened(path) as (descriptor, size):
        cursor = _Cursor(descriptor, size, path)
        try:
            _parse(path, cursor)
        except OSError as error:
            raise _unreadable(path, error.strerror or str(error)) from error
    span = cursor.spans.get(key)
    return None if span is None else bytes(cursor.data[span])


@contextmanager
def _opened(path: Path) -> Iterator[tuple[int, int]]:
    try:
        # Without O_NONBLOCK, opening a FIFO waits for a writer, perhaps for ever.
        flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)
        mode = os.stat(path).st_mode
        if not stat.S_ISREG(mode):
            raise _unreadable(path, f"It is {_kind(mode)}, not a file.")
        descriptor = os.open(path, flags)
    except ValueError as error:  # a null character in the path
        raise _unreadable(path, f"{str(error).capitalize()}.") from error
    except OSError as error:
        raise _unreadable(path, f"{error.strerror or error}.") from error
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise _unreadable(path, f"It is {_kind(status.st_mode)}, not a file.")
        yield descriptor, status.st_size
    finally:
        os.close(descriptor)


def _kind(mode: int) -> str:
    if stat.S_ISDIR(mode):
        return "a folder"
    if stat.S_ISFIFO(mode):
        return "a named pipe"
    return "a socket" if stat.S_ISSOCK(mode) else "a device"


def _unreadable(path: Path, reason: str) -> ModelError:
    return ModelError(f"{shown(path.name or path)} cannot be read.", reason, f"Look at {shown(path)}.")


class _Cursor:
    """Walks through the beginning of a file, reading on as needed."""

    def __init__(self, descriptor: int, size: int, path: Path) -> None:
        self._descriptor = descriptor
        self._strings_left = _MAX_STRINGS
        self._text_left = _MAX_TEXT_BYTES
        self._entries_left = _KEPT_IN_ALL
        self.size = size
        self.path = path
        self.data = bytearray()
        self.position = 0
        self.spans: dict[str, slice] = {}
        """Where in ``data`` each metadata value stands."""
        self.use("little")

    def use(self, byte_order: ByteOrder) -> None:
        """Set the byte order of what follows."""
        self.prefix = "<" if byte_order == "little" else ">"
        self._length = struct.Struct(f"{self.prefix}Q").unpack_from
        self._scalars = {number: struct.Struct(f"{self.prefix}{code}") for number, code in _SCALARS.items()}

    def damaged(self, reason: str) -> ModelError:
        return ModelError(f"{shown(self.path.name)} is damaged.", reason, FETCH_ANEW)

    def cut(self, reason: str) -> ModelError:
        return ModelError(f"{shown(self.path.name)} is incomplete or damaged.", reason, FETCH_ANEW)

    def take(self, count: int) -> int:
        """Advance by ``count`` bytes, which are then in ``data``, and return where they start."""
        start = self.position
        self._read_to(start + count)
        self.position = start + count
        return start

    def unpack(self, layout: str) -> tuple[int, ...]:
        """Read integers laid out as in ``struct``, without padding."""
        form = struct.Struct(self.prefix + layout)
        return form.unpack_from(self.data, self.take(form.size))

    def raw_string(self) -> bytes:
        (length,) = self._length(self.data, self.take(8))
        start = self.take(length)
        self._text_left -= length
        if self._text_left < 0:
            raise self.damaged(f"Its header claims more than {in_words(_MAX_TEXT_BYTES)} of text.")
        return bytes(self.data[start : start + length])

    def string(self) -> str:
        return self.raw_string().decode("utf-8", "replace")

    def scalar(self, kind: int) -> Scalar:
        if kind == _STRING:
            return self.string()
        form = self._scalar_form(kind)
        (value,) = form.unpack_from(self.data, self.take(form.size))
        assert isinstance(value, int | float)
        return value

    def array(self) -> tuple[Scalar, ...] | LongArray:
        kind, count = self.unpack("IQ")
        if kind == _ARRAY:
            raise self.damaged("Its header holds an array of arrays, which llama.cpp does not read.")
        entry_bytes = 8 if kind == _STRING else self._scalar_form(kind).size
        if count * entry_bytes > self.size - self.position:
            raise self.damaged(f"Its header claims an array of {count:,} entries, more than the file could hold.")
        if kind == _STRING:
            self._strings_left -= count
            if self._strings_left < 0:
                raise self.damaged(f"Its header claims more than {_MAX_STRINGS:,} texts.")
        if count <= min(_KEPT_PER_ARRAY, self._entries_left):
            self._entries_left -= count
            return tuple(self.scalar(kind) for _ in range(count))
        if kind == _STRING:
            self._skip_strings(count)
        else:
            self.take(count * entry_bytes)
        return LongArray(count)

    def _scalar_form(self, kind: int) -> struct.Struct:
        form = self._scalars.get(kind)
        if form is None:
            raise self.damaged(f"Its header holds a value of the unknown type {kind}.")
        return form

    def _skip_strings(self, count: int) -> None:
        # The one hot loop: a vocabulary has some 100,000 entries, and only their lengths matter.
        length = self._length
        position = self.position
        left = count
        while left:
            data = self.data
            try:
                for left in range(left, 0, -1):  # noqa: B007, B020 - goes on where the buffer ended
                    (entry,) = length(data, position)
                    position += 8 + entry
                left = 0
            except (struct.error, OverflowError):
                self._read_to(position + 8)
        self._read_to(position)
        self.position = position

    def _read_to(self, end: int) -> None:
        have = len(self.data)
        if end <= have:
            return
        if end > self.size:
            raise self.cut(f"It ends after {in_words(self.size)}, within its header.")
        if end > _MAX_HEADER_BYTES:
            raise self.damaged(f"Its header claims to be longer than {in_words(_MAX_HEADER_BYTES)}.")
        wanted = min(max(end, 2 * have, _FIRST_READ), self.size, _MAX_HEADER_BYTES)
        while len(self.data) < wanted:
            piece = os.read(self._descriptor, wanted - len(self.data))
            if not piece:
                raise ModelError(f"{shown(self.path.name)} became shorter while it was read.", remedy="Try again.")
            self.data += piece


def _parse(path: Path, cursor: _Cursor) -> Header:
    version, byte_order = _read_version(cursor)
    tensor_count, key_count = cursor.unpack("QQ")
    # A key takes at least 14 bytes (length, one letter, type, one byte), a tensor 24 (length, rank, type, offset).
    for count, what, least_bytes, most in (
        (key_count, "keys", 14, _MAX_KEYS),
        (tensor_count, "tensors", 24, _MAX_TENSORS),
    ):
        claim = f"Its header claims {count:,} {what}"
        if count > most:
            raise cursor.damaged(f"{claim}; no model has more than {most:,}.")
        if count * least_bytes > cursor.size:
            needed = in_words(count * least_bytes)
            raise cursor.cut(
                f"{claim}. Their description alone takes {needed} or more, and the file holds {in_words(cursor.size)}."
            )
    metadata = _read_metadata(cursor, key_count)
    alignment = metadata.get("general.alignment", 32)
    if not isinstance(alignment, int) or alignment <= 0 or alignment & (alignment - 1):
        raise cursor.damaged(f"Its alignment is {shown(str(alignment))}, which is no power of two.")
    tensors = tuple(_read_tensors(cursor, tensor_count, alignment))
    data_offset = -(-cursor.position // alignment) * alignment
    # Padding after the last tensor is no loss when it is missing.
    data_end = max((data_offset + tensor.offset + (tensor.bytes or 0) for tensor in tensors), default=cursor.position)
    return Header(path, version, byte_order, metadata, tensors, data_offset, data_end, cursor.size)


def _read_version(cursor: _Cursor) -> tuple[int, ByteOrder]:
    name = shown(cursor.path.name)
    if cursor.size:
        cursor.take(min(cursor.size, 512))
        cursor.position = 0
    if cursor.data[:4] != b"GGUF":
        likeness = recognise(bytes(cursor.data[:512]), cursor.size)
        raise ModelError(f"{name} is not a GGUF file.", f"It seems to be {likeness.seems}.", likeness.remedy)
    cursor.take(4)
    (version,) = cursor.unpack("I")
    byte_order: ByteOrder = "little"
    if version >= 2**16 and not version & 0xFFFF:
        byte_order = "big"
        cursor.use("big")
        version = int.from_bytes(version.to_bytes(4, "little"), "big")
    if version == 1:
        raise ModelError(
            f"{name} is a GGUF file of version 1.", "llama.cpp no longer reads it.", "Get a newer conversion."
        )
    if version not in (2, 3):
        raise ModelError(
            f"{name} is a GGUF file of version {version:,}.",
            "Versions 2 and 3 are known here.",
            "If it is not damaged, a newer decodescope may read it.",
        )
    return version, byte_order


def _read_metadata(cursor: _Cursor, count: int) -> dict[str, Value]:
    metadata: dict[str, Value] = {}
    seen: set[bytes] = set()
    for _ in range(count):
        raw_key = cursor.raw_string()
        key = raw_key.decode("utf-8", "replace")
        if not raw_key or raw_key in seen:
            raise cursor.damaged(f"Its header holds the key '{shown(key, 80)}' twice." if key else "A key is empty.")
        seen.add(raw_key)
        start = cursor.position
        (kind,) = cursor.unpack("I")
        metadata[key] = cursor.array() if kind == _ARRAY else cursor.scalar(kind)
        cursor.spans[key] = slice(start, cursor.position)
    return metadata


def _read_tensors(cursor: _Cursor, count: int, alignment: int) -> Iterator[Tensor]:
    seen: set[bytes] = set()
    for _ in range(count):
        raw_name = cursor.raw_string()
        name = raw_name.decode("utf-8", "replace")
        quoted = f"tensor '{shown(name, 80)}'"
        if raw_name in seen:
            raise cursor.damaged(f"Its header describes {quoted} twice.")
        seen.add(raw_name)
        (rank,) = cursor.unpack("I")
        if rank > 4:
            raise cursor.damaged(f"Its {quoted} has {rank:,} dimensions; four are possible.")
        dimensions = cursor.unpack("Q" * rank)
        number, offset = cursor.unpack("IQ")
        if math.prod(dimensions) >= 2**60 or offset >= 2**60:
            raise cursor.damaged(f"Its {quoted} is impossibly large.")
        if offset % alignment:
            raise cursor.damaged(f"Its {quoted} starts at byte {offset:,}, which is not a multiple of {alignment:,}.")
        yield Tensor(name, dimensions, number, offset, _tensor_bytes(cursor, quoted, number, dimensions))


def _tensor_bytes(cursor: _Cursor, quoted: str, number: int, dimensions: tuple[int, ...]) -> int | None:
    form = TENSOR_TYPES.get(number)
    if form is None:
        return None
    row = form.row_bytes(dimensions[0] if dimensions else 1)
    if row is None:
        raise cursor.damaged(
            f"The rows of its {quoted} do not divide into blocks of {form.block} values ({form.name})."
        )
    return row * math.prod(dimensions[1:])
