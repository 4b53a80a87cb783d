"""Writes GGUF files, good and hostile ones, as the format is specified in ggml's docs/gguf.md."""

import math
import struct
from collections.abc import Mapping, Sequence
from pathlib import Path

Entry = int | float | bool | str
Value = Entry | list[Entry] | list[int] | list[float] | list[bool] | list[str] | bytes

F32, F16, Q4_0, Q4_1, Q8_0, Q4_K = 0, 1, 2, 3, 8, 12
UINT8, UINT32, INT32, FLOAT32, BOOL, STRING, ARRAY, UINT64 = 0, 4, 5, 6, 7, 8, 9, 10
BLOCKS = {F32: (1, 4), F16: (1, 2), Q4_0: (32, 18), Q4_1: (32, 20), Q8_0: (32, 34), Q4_K: (256, 144)}

Tensor = tuple[str, Sequence[int], int]


def tiny_llama(**changes: Value | None) -> dict[str, Value]:
    """Return the metadata of a small model; ``changes`` use ``__`` for a dot, ``None`` removes a key."""
    metadata: dict[str, Value] = {
        "general.architecture": "llama",
        "general.name": "Tiny",
        "llama.context_length": 512,
        "llama.embedding_length": 64,
        "llama.block_count": 2,
        "llama.attention.head_count": 4,
        "llama.attention.head_count_kv": 2,
    }
    for key, value in changes.items():
        name = key.replace("__", ".")
        if value is None:
            del metadata[name]
        else:
            metadata[name] = value
    return metadata


def text(value: str | bytes, order: str = "<") -> bytes:
    raw = value.encode("utf-8", "surrogateescape") if isinstance(value, str) else value
    return struct.pack(f"{order}Q", len(raw)) + raw


def scalar(value: Entry, order: str = "<") -> tuple[int, bytes]:
    match value:
        case bool():
            return BOOL, struct.pack("?", value)
        case int():
            return (
                (UINT32, struct.pack(f"{order}I", value)) if 0 <= value < 2**32 else (INT32, struct.pack("<i", value))
            )
        case float():
            return FLOAT32, struct.pack(f"{order}f", value)
        case str():
            return STRING, text(value, order)


def pair(key: str | bytes, value: Value, order: str = "<") -> bytes:
    """Return a key-value pair; ``bytes`` as value stand for themselves, type number included."""
    if isinstance(value, bytes):
        return text(key, order) + value
    if isinstance(value, list):
        entries = [scalar(entry, order) for entry in value]
        kind = entries[0][0] if entries else UINT32
        body = struct.pack(f"{order}IIQ", ARRAY, kind, len(entries)) + b"".join(raw for _, raw in entries)
        return text(key, order) + body
    kind, raw = scalar(value, order)
    return text(key, order) + struct.pack(f"{order}I", kind) + raw


def described(tensor: Tensor, offset: int, order: str = "<") -> bytes:
    name, dimensions, kind = tensor
    shape = struct.pack(f"{order}I{len(dimensions)}Q", len(dimensions), *dimensions)
    return text(name, order) + shape + struct.pack(f"{order}IQ", kind, offset)


def tensor_bytes(tensor: Tensor) -> int:
    _, dimensions, kind = tensor
    block, size = BLOCKS[kind]
    return math.prod(dimensions) // block * size


def gguf(
    metadata: Mapping[str, Value] | None = None,
    tensors: Sequence[Tensor] = (("token_embd.weight", (64, 8), Q4_0),),
    *,
    version: int = 3,
    order: str = "<",
    alignment: int = 32,
) -> bytes:
    """Return a whole file; tensors are filled with zeros."""
    metadata = tiny_llama() if metadata is None else metadata
    offset = 0
    descriptions = b""
    for tensor in tensors:
        descriptions += described(tensor, offset, order)
        offset += -(-tensor_bytes(tensor) // alignment) * alignment
    header = b"GGUF" + struct.pack(f"{order}IQQ", version, len(tensors), len(metadata))
    header += b"".join(pair(key, value, order) for key, value in metadata.items()) + descriptions
    padding = -len(header) % alignment
    return header + bytes(padding) + bytes(offset) if tensors else header


def write(path: Path, content: bytes | None = None) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gguf() if content is None else content)
    return path


def write_shards(folder: Path, count: int, stem: str = "big") -> list[Path]:
    """Write a split model; only the first shard holds the metadata, and no tensors."""
    paths = []
    for number in range(count):
        part: dict[str, Value] = {"split.no": number, "split.count": count, "split.tensors.count": count - 1}
        metadata = tiny_llama() | part if number == 0 else part
        tensors: list[Tensor] = [] if number == 0 else [(f"blk.{number - 1}.attn_q.weight", (64, 64), Q4_0)]
        paths.append(write(folder / f"{stem}-{number + 1:05d}-of-{count:05d}.gguf", gguf(metadata, tensors)))
    return paths
