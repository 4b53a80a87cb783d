"""Builds of llama.cpp that crash where they are asked to, made of the one that is installed; on Linux."""

import importlib.util
import re
import struct
from pathlib import Path

_LIBRARY = "libggml-cpu.so.0"
_DYNSYM = 11  # SHT_DYNSYM, elf.h
_NO_INSTRUCTION = b"\x0f\x0b\x00\x00"  # x86: ud2; as a word of Arm's it is undefined, too


def installed_library() -> Path | None:
    """The library with the kernels for the processor; ``None``: this build has none of its own."""
    spec = importlib.util.find_spec("llama_cpp")
    folders = (spec.submodule_search_locations or ()) if spec is not None else ()
    return next((path for folder in folders if (path := Path(folder, "lib", _LIBRARY)).exists()), None)


def broken_build(folder: Path, functions: str) -> Path:
    """Put a library into ``folder`` in which the functions whose (mangled) names match begin with no instruction.

    The loader takes it where ``LD_LIBRARY_PATH`` names that folder.
    """
    source = installed_library()
    assert source is not None
    data = bytearray(source.read_bytes())
    found = [offset for name, offset in _functions(data) if re.search(functions, name)]
    assert found
    for offset in found:
        data[offset : offset + len(_NO_INSTRUCTION)] = _NO_INSTRUCTION
    folder.mkdir(parents=True, exist_ok=True)
    (folder / _LIBRARY).write_bytes(data)
    return folder


def _functions(data: bytearray) -> list[tuple[str, int]]:
    """The names of the functions that an ELF file exports, and where in the file they begin."""
    (table,) = struct.unpack_from("<Q", data, 0x28)
    size, count = struct.unpack_from("<HH", data, 0x3A)
    # Of each section: type, address, offset, size, link.
    sections = [struct.unpack_from("<4xI8xQQQI", data, table + number * size) for number in range(count)]
    found = []
    for kind, _, offset, length, link in sections:
        if kind != _DYNSYM:
            continue
        names = sections[link][2]
        for at in range(offset, offset + length, 24):
            name, info, _, section, value, _ = struct.unpack_from("<IBBHQQ", data, at)
            if info & 0xF == 2 and 0 < section < count:  # a function that is defined here
                end = data.index(b"\0", names + name)
                _, address, start, _, _ = sections[section]
                found.append((data[names + name : end].decode(), value - address + start))
    return found
