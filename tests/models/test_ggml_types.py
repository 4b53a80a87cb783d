"""The tables of number formats against the llama.cpp that is installed."""

import ctypes

from llama_cpp import _ggml, llama_cpp

from decodescope.models.ggml_types import FILE_TYPES, REMOVED_TENSOR_TYPES, TENSOR_TYPES


def test_tensor_types_are_those_of_ggml() -> None:
    ggml = _ggml.libggml
    ggml.ggml_type_name.restype = ctypes.c_char_p
    ggml.ggml_blck_size.restype = ctypes.c_int64
    ggml.ggml_type_size.restype = ctypes.c_size_t
    for number, form in TENSOR_TYPES.items():
        assert ggml.ggml_type_name(number).decode().upper() == form.name
        assert (ggml.ggml_blck_size(number), ggml.ggml_type_size(number)) == (form.block, form.size)
    for number in REMOVED_TENSOR_TYPES:
        assert ggml.ggml_type_size(number) == 0


def test_file_types_are_those_of_llama_cpp() -> None:
    theirs = {
        getattr(llama_cpp, name): name.removeprefix("LLAMA_FTYPE_").removeprefix("ALL_").removeprefix("MOSTLY_")
        for name in dir(llama_cpp)
        if name.startswith(("LLAMA_FTYPE_MOSTLY_", "LLAMA_FTYPE_ALL_"))
    }
    assert {number: name.removesuffix("_MOE") for number, name in theirs.items()} == FILE_TYPES
