import os
import struct
from pathlib import Path

import pytest

from decodescope.models.errors import ModelError
from decodescope.models.header import LongArray, read_header

from .gguf_files import ARRAY, F32, Q4_0, STRING, UINT8, UINT32, gguf, pair, text, tiny_llama, write


def refused(path: Path) -> ModelError:
    with pytest.raises(ModelError) as caught:
        read_header(path)
    assert caught.value.what
    return caught.value


def test_reads_metadata_and_tensors(tmp_path: Path) -> None:
    metadata = tiny_llama(a__flag=True, a__float=0.5, a__list=[1, 2, 3], a__words=["x", "y"])
    path = write(tmp_path / "m.gguf", gguf(metadata, [("one", (64, 8), Q4_0), ("two", (5,), F32)]))
    header = read_header(path)
    assert header.version == 3
    assert header.byte_order == "little"
    assert header.text("general.architecture") == "llama"
    assert header.integer("llama.block_count") == 2
    assert header.integer("a.flag") is None
    assert header.metadata["a.flag"] is True
    assert header.metadata["a.float"] == 0.5
    assert header.metadata["a.list"] == (1, 2, 3)
    assert header.metadata["a.words"] == ("x", "y")
    # 64 x 8 values in blocks of 32 values and 18 bytes: 16 x 18 = 288, a multiple of 32. 5 floats are 20 bytes.
    assert [(t.name, t.dimensions, t.values, t.bytes, t.offset) for t in header.tensors] == [
        ("one", (64, 8), 512, 288, 0),
        ("two", (5,), 5, 20, 288),
    ]
    assert header.required_bytes == header.data_offset + 288 + 20
    assert header.data_offset % 32 == 0
    assert header.file_bytes == path.stat().st_size


@pytest.mark.parametrize("version", [2, 3])
def test_reads_both_versions(tmp_path: Path, version: int) -> None:
    assert read_header(write(tmp_path / "m.gguf", gguf(version=version))).version == version


def test_recognises_the_other_byte_order(tmp_path: Path) -> None:
    header = read_header(write(tmp_path / "m.gguf", gguf(order=">")))
    assert header.byte_order == "big"
    assert header.integer("llama.context_length") == 512
    assert header.tensors[0].dimensions == (64, 8)


def test_a_file_cut_anywhere_is_refused_or_known_to_be_short(tmp_path: Path) -> None:
    whole = gguf(tiny_llama(a__words=["some", "words"], a__list=[1, 2, 3]))
    path = tmp_path / "cut.gguf"
    complete = read_header(write(path, whole))
    short = 0
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        if length < complete.data_offset:
            # Up to the padding before the data there is nothing that could be read.
            try:
                header = read_header(path)
            except ModelError:
                continue
        else:
            header = read_header(path)
        assert header.required_bytes == complete.required_bytes > header.file_bytes == length
        short += 1
    assert short >= len(whole) - complete.data_offset


def test_every_single_byte_may_be_wrong(tmp_path: Path) -> None:
    whole = gguf(tiny_llama(a__words=["some", "words"], a__list=[1, 2, 3]))
    path = write(tmp_path / "wrong.gguf", whole)
    length = read_header(path).data_offset
    outcomes = {"read": 0, "refused": 0}
    for position in range(length):
        for byte in (0x00, 0x7F, 0x80, 0xFF):
            path.write_bytes(whole[:position] + bytes([byte]) + whole[position + 1 :])
            try:
                read_header(path)
            except ModelError:
                outcomes["refused"] += 1
            else:
                outcomes["read"] += 1
    assert outcomes["read"] > 0
    assert outcomes["refused"] > length


def header_of(keys: bytes, key_count: int = 1, tensors: bytes = b"", tensor_count: int = 0, tail: int = 4096) -> bytes:
    return b"GGUF" + struct.pack("<IQQ", 3, tensor_count, key_count) + keys + tensors + bytes(tail)


def array_of(kind: int, count: int, body: bytes = b"") -> bytes:
    return pair("a", struct.pack("<IIQ", ARRAY, kind, count) + body)


def one_tensor(rank: int, dimensions: bytes, kind: int = F32, offset: int = 0) -> bytes:
    return text("t") + struct.pack("<I", rank) + dimensions + struct.pack("<IQ", kind, offset)


HOSTILE: list[tuple[bytes, str]] = [
    (header_of(b"", key_count=2**63), "claims 9,223,372,036,854,775,808 keys"),
    (header_of(b"", key_count=0, tensor_count=2**64 - 1), "tensors"),
    (header_of(struct.pack("<Q", 2**64 - 1)), "ends after"),
    (header_of(struct.pack("<Q", 2**40)), "ends after"),
    (header_of(pair("a", struct.pack("<I", 99) + bytes(8))), "unknown type 99"),
    (header_of(array_of(99, 1)), "unknown type 99"),
    (header_of(array_of(ARRAY, 1, struct.pack("<IQ", UINT8, 1))), "array of arrays"),
    (header_of(array_of(UINT32, 2**62)), "array of 4,611,686,018,427,387,904 entries"),
    (header_of(array_of(STRING, 2**61)), "entries"),
    (header_of(array_of(STRING, 2000, struct.pack("<Q", 2**64 - 1)), tail=20_000), "ends after"),
    (header_of(pair("a", struct.pack("<IQ", STRING, 2**63 - 1))), "ends after"),
    (header_of(pair("twice", 1) + pair("twice", 2), key_count=2), "'twice' twice"),
    (header_of(pair("", 1)), "key is empty"),
    (header_of(pair("general.alignment", 0)), "alignment is 0"),
    (header_of(pair("general.alignment", 48)), "alignment is 48"),
    (header_of(pair("general.alignment", "\x1b[2J")), r"alignment is \x1b[2J"),
    (header_of(b"", 0, one_tensor(5, bytes(40)), 1), "5 dimensions"),
    (header_of(b"", 0, one_tensor(2**32 - 1, b""), 1), "dimensions"),
    (header_of(b"", 0, one_tensor(2, struct.pack("<QQ", 2**40, 2**40)), 1), "impossibly large"),
    (header_of(b"", 0, one_tensor(1, struct.pack("<Q", 4), offset=2**63), 1), "impossibly large"),
    (header_of(b"", 0, one_tensor(1, struct.pack("<Q", 33), Q4_0), 1), "blocks of 32"),
    (header_of(b"", 0, one_tensor(1, struct.pack("<Q", 4), offset=5), 1), "not a multiple of 32"),
    (header_of(b"", 0, one_tensor(1, struct.pack("<Q", 4)) * 2, 2), "'t' twice"),
]


@pytest.mark.parametrize(("content", "reason"), HOSTILE, ids=[str(number) for number in range(len(HOSTILE))])
def test_hostile_headers_are_refused(tmp_path: Path, content: bytes, reason: str) -> None:
    error = refused(write(tmp_path / "bad.gguf", content))
    assert reason in str(error)
    assert error.remedy


def test_a_header_of_empty_texts_does_not_keep_the_reader_busy(tmp_path: Path) -> None:
    path = tmp_path / "sparse.gguf"
    path.write_bytes(header_of(array_of(STRING, 10**9)))
    os.truncate(path, 2**34)  # sparse: 16 GiB of zeros, which read as a thousand million empty texts
    assert "texts" in str(refused(path))


def test_a_huge_array_of_numbers_is_not_read_into_memory(tmp_path: Path) -> None:
    path = tmp_path / "sparse.gguf"
    path.write_bytes(header_of(array_of(UINT8, 2**34 - 1000)))
    os.truncate(path, 2**34 + 4096)
    assert "longer than" in str(refused(path))


def test_long_arrays_are_only_counted(tmp_path: Path) -> None:
    # Longer than the first read, so that walking over it goes on after reading more.
    words = [f"token{number}" * (number % 9) for number in range(30_000)]
    metadata = tiny_llama(tokenizer__ggml__tokens=words, tokenizer__ggml__scores=[0.25] * 30_000, after="here")
    header = read_header(write(tmp_path / "m.gguf", gguf(metadata)))
    assert header.metadata["tokenizer.ggml.tokens"] == LongArray(30_000)
    assert header.metadata["tokenizer.ggml.scores"] == LongArray(30_000)
    assert header.text("after") == "here"
    assert header.tensors[0].name == "token_embd.weight"


def test_broken_utf8_is_replaced(tmp_path: Path) -> None:
    content = header_of(pair("general.name", struct.pack("<I", STRING) + text(b"a\xe6\xadb")))
    assert read_header(write(tmp_path / "m.gguf", content)).text("general.name") == "a\ufffdb"


def test_a_tensor_type_of_the_future_has_no_size(tmp_path: Path) -> None:
    content = header_of(b"", 0, one_tensor(1, struct.pack("<Q", 4), kind=1000), 1)
    assert read_header(write(tmp_path / "m.gguf", content)).tensors[0].bytes is None


@pytest.mark.parametrize(
    ("start", "seems", "remedy"),
    [
        (b"", "an empty file", "anew"),
        (b"PK\x03\x04rest", "PyTorch", "convert_hf_to_gguf"),
        (b"\x80\x02}q\x00", "pickle", "convert_hf_to_gguf"),
        (struct.pack("<Q", 20) + b'{"__metadata__":{} }' + bytes(9), "safetensors", "convert_hf_to_gguf"),
        (b"tjgg" + bytes(20), "ggjt", "current GGUF"),
        (b"lmgg" + bytes(20), "old ggml", "current GGUF"),
        (b"<!DOCTYPE html><html>", "a web page", "not the page"),
        (b"\n <html><head>", "a web page", "not the page"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 12345678\n", "12 MiB", "git lfs"),
        (b'{"error":"x"}', "JSON", "anew"),
        (b"Entry not found", "a text", "anew"),
        (bytes(600), "zeros", "anew"),
        (b"\x1f\x8b\x08", "gzip", "Unpack"),
        (b"\xfe\xed\xfa\xce\x01\x02", "not known", "GGUF"),
        (b"GGU", "a text", "anew"),
    ],
    ids=lambda value: "" if isinstance(value, bytes) else None,
)
def test_says_what_another_file_seems_to_be(tmp_path: Path, start: bytes, seems: str, remedy: str) -> None:
    error = refused(write(tmp_path / "x.gguf", start))
    assert "is not a GGUF file" in error.what
    assert seems in error.reason
    assert remedy in error.remedy


@pytest.mark.parametrize(("version", "reason"), [(1, "no longer"), (4, "Versions 2 and 3"), (0, "Versions 2 and 3")])
def test_other_versions_are_refused(tmp_path: Path, version: int, reason: str) -> None:
    assert reason in str(refused(write(tmp_path / "x.gguf", gguf(version=version))))


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    assert "a folder" in str(refused(tmp_path))
    assert "No such file" in str(refused(tmp_path / "absent.gguf"))
    assert "a device" in str(refused(Path(os.devnull)))
    assert "null" in str(refused(Path("a\0b")))
    assert "too long" in str(refused(tmp_path / ("x" * 300)))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_a_named_pipe_is_refused_without_waiting_for_a_writer(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.gguf")
    assert "a named pipe" in str(refused(tmp_path / "pipe.gguf"))


def test_names_cannot_command_the_terminal(tmp_path: Path) -> None:
    error = refused(write(tmp_path / "a\x1b[2J\u202e.gguf", b"nothing"))
    assert str(error).isprintable()
    assert r"a\x1b[2J\u202e.gguf" in error.what
