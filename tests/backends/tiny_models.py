"""Tiny models for what the demo model itself cannot show.

Some have random weights and the demo model's vocabulary; a chain says what it is made to say.
"""

import struct
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt

from decodescope.models.header import read_header

from ..models.gguf_files import F32, Tensor, Value, gguf, tensor_bytes

_FIXED_SIZES = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}
_STRING, _ARRAY = 8, 9
_VOCABULARY = 49_152
_WIDTH = 64


def _value_end(data: bytes, at: int, kind: int) -> int:
    if kind == _STRING:
        return at + 8 + int(struct.unpack_from("<Q", data, at)[0])
    if kind == _ARRAY:
        entry, count = struct.unpack_from("<IQ", data, at)
        at += 12
        if entry in _FIXED_SIZES:
            return at + int(count) * _FIXED_SIZES[entry]
        for _ in range(count):
            at = _value_end(data, at, entry)
        return at
    return at + _FIXED_SIZES[kind]


def _pairs(data: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield key and raw value, type number included, of a GGUF file's metadata."""
    (count,) = struct.unpack_from("<Q", data, 16)
    at = 24
    for _ in range(count):
        (length,) = struct.unpack_from("<Q", data, at)
        key = data[at + 8 : at + 8 + length].decode()
        at += 8 + length
        (kind,) = struct.unpack_from("<I", data, at)
        end = _value_end(data, at + 4, kind)
        yield key, data[at:end]
        at = end


def _write(
    path: Path, demo: Path, own: dict[str, Value], tensors: list[Tensor], changes: dict[str, Value | None]
) -> Path:
    metadata: dict[str, Value] = dict(own)
    metadata |= {key: raw for key, raw in _pairs(demo.read_bytes()) if key.startswith("tokenizer.")}
    for key, value in changes.items():
        if value is None:
            metadata.pop(key)
        else:
            metadata[key] = value
    content = gguf(metadata, tensors)
    size = sum(-(-tensor_bytes(tensor) // 32) * 32 for tensor in tensors)
    weights = np.random.default_rng(7).normal(0, 0.3, size // 4).astype("<f4").tobytes()
    path.write_bytes(content[:-size] + weights)
    return path


def spoil(path: Path, tensor: str, row: int = 0) -> Path:
    """Put a NaN at the beginning of a row of an F32 tensor."""
    header = read_header(path)
    found = next(one for one in header.tensors if one.name == tensor)
    with path.open("r+b") as file:
        file.seek(header.data_offset + found.offset + 4 * row * found.dimensions[0])
        file.write(struct.pack("<f", float("nan")))
    return path


def tiny_llama(path: Path, demo: Path, changes: dict[str, Value | None] | None = None, *, untied: bool = False) -> Path:
    """A dense transformer of one layer; ``changes`` to its metadata, ``None`` removes a key.

    ``untied``: its output matrix is not that of the embeddings.
    """
    own: dict[str, Value] = {
        "general.architecture": "llama",
        "llama.context_length": 512,
        "llama.embedding_length": _WIDTH,
        "llama.block_count": 1,
        "llama.feed_forward_length": 2 * _WIDTH,
        "llama.attention.head_count": 2,
        "llama.attention.head_count_kv": 2,
        "llama.attention.layer_norm_rms_epsilon": 1e-5,
    }
    square = (_WIDTH, _WIDTH)
    tensors: list[Tensor] = [
        ("token_embd.weight", (_WIDTH, _VOCABULARY), F32),
        ("output_norm.weight", (_WIDTH,), F32),
        ("blk.0.attn_norm.weight", (_WIDTH,), F32),
        ("blk.0.ffn_norm.weight", (_WIDTH,), F32),
        *((f"blk.0.attn_{name}.weight", square, F32) for name in ("q", "k", "v", "output")),
        ("blk.0.ffn_gate.weight", (_WIDTH, 2 * _WIDTH), F32),
        ("blk.0.ffn_up.weight", (_WIDTH, 2 * _WIDTH), F32),
        ("blk.0.ffn_down.weight", (2 * _WIDTH, _WIDTH), F32),
    ]
    if untied:
        tensors.append(("output.weight", (_WIDTH, _VOCABULARY), F32))
    return _write(path, demo, own, tensors, changes or {})


def _spelled(piece: bytes) -> str:
    """A piece as byte-level vocabularies spell it: bytes that cannot be printed stand beyond Latin-1."""
    signs = {byte: chr(byte) for byte in (*range(33, 127), *range(161, 173), *range(174, 256))}
    others = (byte for byte in range(256) if byte not in signs)
    signs |= {byte: chr(256 + place) for place, byte in enumerate(others)}
    return "".join(signs[byte] for byte in piece)


def chain(path: Path, template: str, pieces: list[str], controls: tuple[str, ...] = ()) -> Path:
    """A model that says ``pieces`` whatever the prompt, and ends its turn; each is a token, no two are the same.

    Its embedding is the identity, its one layer adds nothing, and its output gives each token the next one.
    ``controls`` are those that are control tokens, and further ones that the template may use.
    """
    normal, control, unused = 1, 3, 5
    spellings = [_spelled(bytes([byte])) for byte in range(256)]
    kinds = [normal] * 256
    end = len(spellings)
    spellings.append("<|end_of_turn|>")
    kinds.append(control)
    said: list[int] = []
    for piece in pieces:
        spelling = piece if piece in controls else _spelled(piece.encode())
        if spelling not in spellings:
            spellings.append(spelling)
            kinds.append(control if piece in controls else normal)
        said.append(spellings.index(spelling))
    assert len(set(said)) == len(said), "a chain cannot come by the same token twice"
    for name in controls:
        if name not in spellings:
            spellings.append(name)
            kinds.append(control)
    while len(spellings) % 32:
        spellings.append(f"<unused {len(spellings)}>")
        kinds.append(unused)
    size = len(spellings)
    following = dict(zip(said, [*said[1:], end], strict=True))
    output = np.zeros((size, size), "<f4")
    for token in range(size):
        output[following.get(token, said[0]), token] = 2.0
    metadata: dict[str, Value] = {
        "general.architecture": "llama",
        "llama.context_length": 512,
        "llama.embedding_length": size,
        "llama.block_count": 1,
        "llama.feed_forward_length": 32,
        "llama.attention.head_count": 1,
        "llama.attention.head_count_kv": 1,
        "llama.attention.layer_norm_rms_epsilon": 1e-5,
        "tokenizer.ggml.model": "gpt2",
        "tokenizer.ggml.pre": "gpt-2",
        "tokenizer.ggml.tokens": spellings,
        "tokenizer.ggml.token_type": struct.pack("<IIQ", _ARRAY, 5, size) + struct.pack(f"<{size}i", *kinds),
        "tokenizer.ggml.merges": ["a b"],
        "tokenizer.ggml.eos_token_id": end,
        "tokenizer.chat_template": template,
    }
    weights: list[tuple[str, npt.NDArray[np.float32]]] = [
        ("token_embd.weight", np.eye(size, dtype="<f4")),
        ("output_norm.weight", np.ones(size, "<f4")),
        ("output.weight", output),
        *((f"blk.0.{name}_norm.weight", np.ones(size, "<f4")) for name in ("attn", "ffn")),
        *((f"blk.0.attn_{name}.weight", np.zeros((size, size), "<f4")) for name in ("q", "k", "v", "output")),
        *((f"blk.0.ffn_{name}.weight", np.zeros((32, size), "<f4")) for name in ("gate", "up")),
        ("blk.0.ffn_down.weight", np.zeros((size, 32), "<f4")),
    ]
    tensors: list[Tensor] = [(name, tuple(reversed(data.shape)), F32) for name, data in weights]
    content = gguf(metadata, tensors)
    length = sum(-(-tensor_bytes(tensor) // 32) * 32 for tensor in tensors)
    path.write_bytes(content[:-length] + b"".join(data.tobytes() for _, data in weights))
    return path


def tiny_mamba(path: Path, demo: Path) -> Path:
    """A recurrent model of two layers, whose state cannot be rolled back."""
    inner, state, rank, window = 2 * _WIDTH, 16, 4, 4
    own: dict[str, Value] = {
        "general.architecture": "mamba",
        "mamba.context_length": 512,
        "mamba.embedding_length": _WIDTH,
        "mamba.feed_forward_length": 0,
        "mamba.attention.head_count": 0,
        "mamba.block_count": 2,
        "mamba.ssm.conv_kernel": window,
        "mamba.ssm.inner_size": inner,
        "mamba.ssm.state_size": state,
        "mamba.ssm.time_step_rank": rank,
        "mamba.attention.layer_norm_rms_epsilon": 1e-5,
    }
    tensors: list[Tensor] = [("token_embd.weight", (_WIDTH, _VOCABULARY), F32), ("output_norm.weight", (_WIDTH,), F32)]
    for layer in range(2):
        shapes: dict[str, tuple[int, ...]] = {
            "attn_norm.weight": (_WIDTH,),
            "ssm_in.weight": (_WIDTH, 2 * inner),
            "ssm_conv1d.weight": (window, inner),
            "ssm_conv1d.bias": (inner,),
            "ssm_x.weight": (inner, rank + 2 * state),
            "ssm_dt.weight": (rank, inner),
            "ssm_dt.bias": (inner,),
            "ssm_a": (state, inner),
            "ssm_d": (inner,),
            "ssm_out.weight": (inner, _WIDTH),
        }
        tensors += [(f"blk.{layer}.{name}", shape, F32) for name, shape in shapes.items()]
    return _write(path, demo, own, tensors, {})
