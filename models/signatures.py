"""What a file that is not a GGUF seems to be, from its first bytes."""

import re

import msgspec

from .sizes import size

_LFS_POINTER = b"version https://git-lfs.github.com/spec/"

_MAGICS: tuple[tuple[bytes, str, str], ...] = (
    (b"PK\x03\x04", "a zip archive, as PyTorch writes its checkpoints", "convert"),
    (b"\x80\x02", "a Python pickle, as older PyTorch checkpoints are", "convert"),
    (b"\x80\x03", "a Python pickle", "convert"),
    (b"\x80\x04", "a Python pickle", "convert"),
    (b"\x80\x05", "a Python pickle", "convert"),
    (b"lmgg", "a model in the old ggml format", "current"),
    (b"fmgg", "a model in the old ggmf format", "current"),
    (b"tjgg", "a model in the old ggjt format", "current"),
    (b"algg", "an adapter in the old ggla format", "current"),
    (b"nsgg", "a saved llama.cpp session", "current"),
    (b"qsgg", "a saved llama.cpp sequence state", "current"),
    (b"\x89HDF\r\n\x1a\n", "an HDF5 file, as Keras writes its weights", "convert"),
    (b"\x93NUMPY", "a NumPy array", "convert"),
    (b"\x1f\x8b", "compressed with gzip", "unpack"),
    (b"\x28\xb5\x2f\xfd", "compressed with zstd", "unpack"),
    (b"\xfd7zXZ\x00", "compressed with xz", "unpack"),
    (b"BZh", "compressed with bzip2", "unpack"),
    (b"7z\xbc\xaf\x27\x1c", "a 7-Zip archive", "unpack"),
    (b"Rar!", "a RAR archive", "unpack"),
    (b"\x7fELF", "a program", "current"),
    (b"%PDF", "a PDF document", "current"),
)

_REMEDIES = {
    "convert": "Convert it with llama.cpp's convert_hf_to_gguf.py, or get the model as a GGUF file.",
    "current": "Get the model as a current GGUF file.",
    "unpack": "Unpack it first.",
    "again": "Copy or download the file itself anew.",
}


class Likeness(msgspec.Struct, frozen=True):
    """What a file seems to be (completes "it seems to be …") and what to do about it."""

    seems: str
    remedy: str


def recognise(start: bytes, file_bytes: int) -> Likeness:
    """Return what a file of ``file_bytes`` bytes beginning with ``start`` (the first 512 bytes do) seems to be."""
    if file_bytes == 0:
        return Likeness("an empty file", _REMEDIES["again"])
    if start.startswith(_LFS_POINTER):
        promised = re.search(rb"^size (\d{1,20})$", start, re.MULTILINE)
        of_size = f" of {size(int(promised[1]))}" if promised else ""
        return Likeness(f"a git-lfs pointer to a file{of_size}, not that file", "Run `git lfs pull` where it lies.")
    for magic, seems, remedy in _MAGICS:
        if start.startswith(magic):
            return Likeness(seems, _REMEDIES[remedy])
    if _is_safetensors(start, file_bytes):
        return Likeness("a safetensors file", _REMEDIES["convert"])
    if not start.strip(b"\0"):
        return Likeness("a file of zeros, as a download that has not finished leaves it", _REMEDIES["again"])
    text = start.removeprefix(b"\xef\xbb\xbf").lstrip().lower()
    if text.startswith((b"<!doctype", b"<html", b"<head", b"<?xml")):
        return Likeness("a web page", "Download the file itself, not the page that shows it.")
    if text.startswith((b"{", b"[")):
        return Likeness("a JSON text", _REMEDIES["again"])
    if all(byte >= 32 or byte in b"\t\n\r\f" for byte in start):
        return Likeness("a text", _REMEDIES["again"])
    return Likeness("of a kind that is not known here", _REMEDIES["current"])


def _is_safetensors(start: bytes, file_bytes: int) -> bool:
    # A 64-bit little-endian length, then that much JSON.
    return len(start) > 8 and start[8:9] == b"{" and 2 <= int.from_bytes(start[:8], "little") <= file_bytes - 8
