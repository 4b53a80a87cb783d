"""The low-level bindings of llama-cpp-python, without the rest of that package.

Its ``__init__`` also imports a high-level API with numpy, jinja2, diskcache and a server's types, which takes several
times as long as the bindings and which this engine does not use. So the package is entered without running that file.
"""

import importlib.util
import sys

if "llama_cpp" not in sys.modules:
    _spec = importlib.util.find_spec("llama_cpp")
    if _spec is None:
        raise ModuleNotFoundError("llama-cpp-python is not installed", name="llama_cpp")
    sys.modules["llama_cpp"] = importlib.util.module_from_spec(_spec)

from llama_cpp import _ggml, llama_cpp

libggml = _ggml.libggml

__all__ = ["libggml", "llama_cpp"]
