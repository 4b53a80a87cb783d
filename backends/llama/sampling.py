"""llama.cpp's sampler chain."""

import ctypes
from collections.abc import Sequence
from typing import Any

from ..requests import Sampling
from .bindings import llama_cpp


class Sampler:
    """A sampler chain in the order of llama.cpp's tools: penalties, top-k, top-p, min-p, temperature, draw."""

    def __init__(
        self, sampling: Sampling, seed: int, vocabulary_size: int, context_tokens: int, suppressed: Sequence[int]
    ) -> None:
        """``suppressed``: tokens that are never drawn."""
        parameters = llama_cpp.llama_sampler_chain_default_params()
        parameters.no_perf = True
        self._chain = llama_cpp.llama_sampler_chain_init(parameters)
        # llama.cpp's tools read -1 as the context size; the library itself would take it for 0.
        window = context_tokens if sampling.repeat_last_n < 0 else min(sampling.repeat_last_n, context_tokens)
        self._penalty_window = window if sampling.repeat_penalty != 1.0 else 0
        if suppressed:
            biases = (llama_cpp.llama_logit_bias * len(suppressed))(
                *(llama_cpp.llama_logit_bias(token, float("-inf")) for token in suppressed)
            )
            self._add(llama_cpp.llama_sampler_init_logit_bias(vocabulary_size, len(suppressed), biases))
        if self._penalty_window:
            self._add(
                llama_cpp.llama_sampler_init_penalties(
                    vocabulary_size, self._penalty_window, sampling.repeat_penalty, 0.0, 0.0
                )
            )
        if sampling.temp <= 0:
            self._add(llama_cpp.llama_sampler_init_greedy())
        else:
            if sampling.top_k > 0:
                self._add(llama_cpp.llama_sampler_init_top_k(sampling.top_k))
            if sampling.top_p < 1:
                self._add(llama_cpp.llama_sampler_init_top_p(sampling.top_p, 0))
            if sampling.min_p > 0:
                self._add(llama_cpp.llama_sampler_init_min_p(sampling.min_p, 0))
            self._add(llama_cpp.llama_sampler_init_temp(sampling.temp))
            self._add(llama_cpp.llama_sampler_init_dist(ctypes.c_uint32(seed)))

    def observe(self, prompt: Sequence[int]) -> None:
        """Let the penalties see the end of the prompt."""
        if self._penalty_window:
            for token in prompt[-self._penalty_window :]:
                llama_cpp.llama_sampler_accept(self._chain, token)

    def sample(self, context: Any, position: int) -> int:
        """Draw a token from the logits at batch position ``position`` and let the chain see it."""
        token: int = llama_cpp.llama_sampler_sample(self._chain, context, position)
        return token

    def close(self) -> None:
        """Free the chain."""
        llama_cpp.llama_sampler_free(self._chain)

    def _add(self, sampler: Any) -> None:
        llama_cpp.llama_sampler_chain_add(self._chain, sampler)
