"""Progress inside one ``llama_decode``, and the way to stop it."""

from collections.abc import Callable
from typing import Any

from .bindings import llama_cpp

_UPDATES_PER_MICRO_BATCH = 32


class DecodeWatch:
    """Counts graph nodes in llama.cpp's abort callback.

    The CPU backend asks the callback before each node of the graph, so the count tells how far a micro-batch has come;
    answering true ends the computation there. The number of nodes of a micro-batch is learned from those before.
    """

    def __init__(self, context: Any) -> None:
        self._context = context
        self._callback = llama_cpp.ggml_abort_callback(self._on_node)
        self._no_callback = llama_cpp.ggml_abort_callback()
        self._nodes_per_micro_batch: int | None = None
        self._nodes = 0
        self._expected = 0
        self._next_update = 0
        self._step = 1
        self._advance: Callable[[float], None] = _ignore
        self._stop: Callable[[], bool] = _never

    def run(
        self,
        decode: Callable[[], int],
        micro_batches: int,
        stop: Callable[[], bool],
        advance: Callable[[float], None],
    ) -> int:
        """Return what ``decode`` returns, calling ``advance`` with the micro-batches done (a fraction) on the way.

        ``micro_batches``: how many the batch is computed in. ``stop`` is asked at every node; once it says true,
        ``llama_decode`` returns 2.
        """
        self._advance, self._stop = advance, stop
        self._nodes = 0
        expected = (self._nodes_per_micro_batch or 0) * micro_batches
        self._step = max(1, (self._nodes_per_micro_batch or 0) // _UPDATES_PER_MICRO_BATCH)
        self._next_update = self._step if expected else -1
        self._expected = expected
        llama_cpp.llama_set_abort_callback(self._context, self._callback, None)
        try:
            status = decode()
        finally:
            llama_cpp.llama_set_abort_callback(self._context, self._no_callback, None)
        if status == 0 and self._nodes:
            self._nodes_per_micro_batch = max(1, self._nodes // micro_batches)
        return status

    def _on_node(self, _data: Any) -> bool:
        self._nodes += 1
        if self._nodes_per_micro_batch and self._nodes == self._next_update and self._nodes < self._expected:
            self._next_update += self._step
            self._advance(self._nodes / self._nodes_per_micro_batch)
        return self._stop()


def _ignore(_fraction: float) -> None:
    return


def _never() -> bool:
    return False
