"""llama.cpp itself: start-up, its log, its devices."""

import ctypes
import os
from collections import deque
from collections.abc import Callable
from typing import Any

from .bindings import libggml, llama_cpp

_LOG_DEBUG, _LOG_WARN, _LOG_ERROR, _LOG_CONTINUED = 1, 3, 4, 5  # enum ggml_log_level, ggml.h
_KEPT_LINES = 12

_CPU = "CPU"
_GPU_TYPES = (1, 2)  # GGML_BACKEND_DEVICE_TYPE_GPU, _IGPU; ggml-backend.h
_FULL_OFFLOAD = 999


class NativeLog:
    """Receives llama.cpp's log: all but debugging goes to stderr (the engine's log), warnings and errors are kept."""

    def __init__(self, observe: Callable[[str], None] | None = None) -> None:
        """``observe`` is given every piece of text that is logged, debugging left out."""
        self._observe = observe
        self._kept: deque[str] = deque(maxlen=_KEPT_LINES)
        self._level = 0
        self._callback = llama_cpp.llama_log_callback(self._receive)

    def install(self) -> None:
        """Take over llama.cpp's log."""
        llama_cpp.llama_log_set(self._callback, ctypes.c_void_p(0))

    def clear(self) -> None:
        """Forget what was kept."""
        self._kept.clear()

    @property
    def complaints(self) -> str:
        """The latest warnings and errors, oldest first, one a line."""
        return "\n".join(line for line in self._kept if line)

    def _receive(self, level: int, text: bytes, _user_data: Any) -> None:
        if level != _LOG_CONTINUED:
            self._level = level
        if self._level == _LOG_DEBUG:
            return
        os.write(2, text)
        if self._observe is not None:
            self._observe(text.decode("utf-8", "replace"))
        if self._level in (_LOG_WARN, _LOG_ERROR):
            line = text.decode("utf-8", "replace").strip()
            if level == _LOG_CONTINUED and self._kept:
                self._kept[-1] += line
            else:
                self._kept.append(line)


class Device:
    """One of ggml's devices."""

    def __init__(self, handle: int) -> None:
        self.name = _call("ggml_backend_dev_name", ctypes.c_char_p, handle).decode("utf-8", "replace")
        self.description = _call("ggml_backend_dev_description", ctypes.c_char_p, handle).decode("utf-8", "replace")
        self.is_gpu = _call("ggml_backend_dev_type", ctypes.c_int, handle) in _GPU_TYPES
        free, total = ctypes.c_size_t(), ctypes.c_size_t()
        memory = libggml.ggml_backend_dev_memory
        memory.argtypes = [ctypes.c_void_p, ctypes.POINTER(ctypes.c_size_t), ctypes.POINTER(ctypes.c_size_t)]
        memory.restype = None
        memory(handle, ctypes.byref(free), ctypes.byref(total))
        self.free_bytes = free.value
        self.total_bytes = total.value


def devices() -> list[Device]:
    """Return the devices that this build of llama.cpp can use here, the CPU among them."""
    count = libggml.ggml_backend_dev_count
    count.restype = ctypes.c_size_t
    get = libggml.ggml_backend_dev_get
    get.argtypes, get.restype = [ctypes.c_size_t], ctypes.c_void_p
    return [Device(get(index)) for index in range(count())]


def backends() -> tuple[str, ...]:
    """Return the names of what this build can compute with: the CPU's alone, or those of all others."""
    count = libggml.ggml_backend_reg_count
    count.restype = ctypes.c_size_t
    get = libggml.ggml_backend_reg_get
    get.argtypes, get.restype = [ctypes.c_size_t], ctypes.c_void_p
    names = [_call("ggml_backend_reg_name", ctypes.c_char_p, get(index)).decode() for index in range(count())]
    return tuple(name for name in names if name != _CPU) or (_CPU,)


def gpu_layers(asked: int) -> int:
    """Translate ``-ngl``: -1 is all layers."""
    return _FULL_OFFLOAD if asked < 0 else asked


def system_info() -> str:
    """llama.cpp's own line about the processor features in use."""
    info: bytes = llama_cpp.llama_print_system_info()
    return info.decode("utf-8", "replace").strip()


def _call(name: str, result: Any, handle: int) -> Any:
    function = getattr(libggml, name)
    function.argtypes, function.restype = [ctypes.c_void_p], result
    return function(handle)
