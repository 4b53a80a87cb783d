"""The peers, in a process of their own: ``python -m benchmarks.peers bare|stock MODEL``.

Reads JSON Lines ``{"decode": N}`` or ``{"prefill": N}`` and answers each with the nanoseconds that it took. ``bare`` is
the shortest loop on llama.cpp's C API that samples and detokenizes; ``stock`` is llama-cpp-python's streaming API.
"""

import ctypes
import json
import sys
import time
from typing import Any

import llama_cpp

from . import PROMPT, THREADS, prompt_of_length

CONTEXT = 2048
BATCH = 2048


class Bare:
    """One model and one context; every answer starts with an empty memory."""

    def __init__(self, path: str) -> None:
        llama_cpp.llama_backend_init()
        self.model = llama_cpp.llama_model_load_from_file(path.encode(), llama_cpp.llama_model_default_params())
        parameters = llama_cpp.llama_context_default_params()
        parameters.n_ctx, parameters.n_batch, parameters.n_threads, parameters.n_threads_batch = (
            CONTEXT,
            BATCH,
            THREADS,
            THREADS,
        )
        parameters.no_perf = True
        self.context = llama_cpp.llama_init_from_model(self.model, parameters)
        self.vocab = llama_cpp.llama_model_get_vocab(self.model)
        self.batch = llama_cpp.llama_batch_init(BATCH, 0, 1)
        self.piece = ctypes.create_string_buffer(64)

    def tokenize(self, text: str) -> list[int]:
        """Tokens of ``text``."""
        data = text.encode()
        tokens = (llama_cpp.llama_token * (len(data) + 8))()
        count = llama_cpp.llama_tokenize(self.vocab, data, len(data), tokens, len(tokens), False, True)
        return list(tokens[:count])

    def fill(self, tokens: list[int], position: int) -> None:
        """Put tokens into the batch; logits for the last one."""
        for slot, token in enumerate(tokens):
            self.batch.token[slot] = token
            self.batch.pos[slot] = position + slot
            self.batch.n_seq_id[slot] = 1
            self.batch.seq_id[slot][0] = 0
            self.batch.logits[slot] = 0
        self.batch.logits[len(tokens) - 1] = 1
        self.batch.n_tokens = len(tokens)

    def prefill(self, count: int) -> int:
        """One ``llama_decode`` of a prompt of ``count`` tokens."""
        llama_cpp.llama_memory_clear(llama_cpp.llama_get_memory(self.context), True)
        tokens = self.tokenize(prompt_of_length(count))
        started = time.perf_counter_ns()
        self.fill(tokens, 0)
        assert llama_cpp.llama_decode(self.context, self.batch) == 0
        llama_cpp.llama_synchronize(self.context)
        return time.perf_counter_ns() - started

    def decode(self, count: int) -> int:
        """From the first to the last of ``count`` greedy tokens."""
        llama_cpp.llama_memory_clear(llama_cpp.llama_get_memory(self.context), True)
        sampler = llama_cpp.llama_sampler_chain_init(llama_cpp.llama_sampler_chain_default_params())
        llama_cpp.llama_sampler_chain_add(sampler, llama_cpp.llama_sampler_init_greedy())
        tokens = self.tokenize(PROMPT)
        self.fill(tokens, 0)
        assert llama_cpp.llama_decode(self.context, self.batch) == 0
        position = len(tokens)
        started = 0
        for index in range(count):
            token = llama_cpp.llama_sampler_sample(sampler, self.context, -1)
            llama_cpp.llama_token_to_piece(self.vocab, token, self.piece, len(self.piece), 0, False)
            if index == 0:
                started = time.perf_counter_ns()
            if index == count - 1:
                break
            self.fill([token], position)
            position += 1
            assert llama_cpp.llama_decode(self.context, self.batch) == 0
        ended = time.perf_counter_ns()
        llama_cpp.llama_sampler_free(sampler)
        return ended - started


class Stock:
    """llama-cpp-python's high-level API."""

    def __init__(self, path: str) -> None:
        self.llama = llama_cpp.Llama(
            path, n_ctx=CONTEXT, n_threads=THREADS, n_threads_batch=THREADS, flash_attn=True, verbose=False
        )

    def decode(self, count: int) -> int:
        """From the first to the last of ``count`` greedy tokens."""
        self.llama.reset()
        times = [
            time.perf_counter_ns()
            for _ in self.llama.create_completion(PROMPT, max_tokens=count, temperature=0, stream=True)
        ]
        return round((times[count - 1] - times[0]) / (count - 1) * (count - 1))


def main() -> None:
    """Answer requests until stdin ends."""
    peer: Any = {"bare": Bare, "stock": Stock}[sys.argv[1]](sys.argv[2])
    for line in sys.stdin:
        ((work, count),) = json.loads(line).items()
        print(getattr(peer, work)(count), flush=True)


if __name__ == "__main__":
    main()
