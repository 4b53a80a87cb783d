"""``llama_model_quantize``, and what its log tells of how far it has come."""

import ctypes
import os
import re
from collections.abc import Callable, Mapping

from ...models.facts import ModelFile
from ...models.header import read_header
from ...models.recipes import RECIPES
from ..engine import EngineError
from ..free_memory import available_bytes
from ..threads import thread_choice
from .bindings import llama_cpp
from .native import NativeLog

# Such as "[  12/ 272] blk.0.ffn_up.weight - [ 576, 1536, …", written before that tensor is begun.
_BEGUN = re.compile(r"\[\s*\d+/\s*\d+\]\s+(\S+)")
_PLANNED = re.compile(r"quant size\s*=\s*([\d.]+) MiB")
_LEAST_BUFFER_BYTES = 256 << 20
_TEXT_OVERRIDE = 3  # LLAMA_KV_OVERRIDE_TYPE_STR, llama.h
_TEXT_BYTES = 127


class Quantization:
    """One file to be made. Raises EngineError, with llama.cpp's reason, from all its methods."""

    def __init__(self, source: ModelFile, recipe: str) -> None:
        self._source = source
        self._recipe = recipe
        self._log = NativeLog(self._take_in)  # llama.cpp calls it for as long as this process lives
        self._log.install()
        self._planned: int | None = None
        self._sizes: dict[str, int] = {}
        self._total = 0
        self._before = 0
        self._advance: Callable[[float], None] | None = None
        llama_cpp.llama_backend_init()

    def planned_bytes(self) -> int | None:
        """Return the size of the weights to be written; ``None`` when llama.cpp does not tell. Takes no time."""
        self._run(os.devnull, {}, dry_run=True)
        return self._planned

    def write(self, target: bytes, notes: Mapping[str, str], advance: Callable[[float], None]) -> None:
        """Write into the file ``target``, with ``notes`` in its header.

        ``advance`` is called with the fraction done, by the values of the tensors, as each of them is begun.
        """
        tensors = [tensor for shard in self._source.shards for tensor in read_header(shard).tensors]
        self._sizes = {tensor.name: tensor.values for tensor in tensors}
        self._total = max(1, sum(self._sizes.values()))
        self._advance = advance
        self._run(target, notes, dry_run=False)

    def _run(self, target: bytes | str, notes: Mapping[str, str], *, dry_run: bool) -> None:
        parameters = llama_cpp.llama_model_quantize_default_params()
        parameters.ftype = RECIPES[self._recipe]
        parameters.allow_requantize = True
        parameters.nthread = thread_choice().threads
        parameters.dry_run = dry_run
        # llama.cpp's own default, 8 GiB, may be more than there is.
        parameters.max_buf_size = max(_LEAST_BUFFER_BYTES, available_bytes() // 4)
        overrides = (llama_cpp.llama_model_kv_override * (len(notes) + 1))()  # the last one, empty, ends the list
        for override, (key, text) in zip(overrides, notes.items(), strict=False):
            override.tag = _TEXT_OVERRIDE
            override.key = key.encode()
            override.value.val_str = text.encode("utf-8", "replace")[:_TEXT_BYTES].decode("utf-8", "ignore").encode()
        parameters.kv_overrides = overrides
        self._log.clear()
        status = llama_cpp.llama_model_quantize(
            os.fsencode(self._source.path), os.fsencode(target), ctypes.byref(parameters)
        )
        if status:
            raise EngineError(
                f"llama.cpp could not make {self._recipe} of {self._source.name}.",
                self._log.complaints or "llama.cpp gave no reason.",
            )

    def _take_in(self, text: str) -> None:
        planned = _PLANNED.search(text)
        if planned is not None:
            self._planned = int(float(planned[1]) * 2**20)
        begun = _BEGUN.match(text)
        if begun is None or self._advance is None:
            return
        if not self._before:
            self._log.clear()  # of warnings about types that fall back
        self._advance(self._before / self._total)
        self._before += self._sizes.get(begun[1], 0)
