"""A model's vocabulary: text to tokens and tokens to bytes."""

import ctypes
from typing import Any

from .bindings import llama_cpp

_PIECE_BYTES = 256


class Vocabulary:
    """Tokenizing and detokenizing with one model's vocabulary; everything is valid UTF-8 on its way in."""

    def __init__(self, model: Any) -> None:
        self._vocab = llama_cpp.llama_model_get_vocab(model)
        self._buffer = ctypes.create_string_buffer(_PIECE_BYTES)
        self._pieces: dict[int, bytes] = {}
        self.size: int = llama_cpp.llama_vocab_n_tokens(self._vocab)
        self.bos: int = llama_cpp.llama_vocab_bos(self._vocab)
        self.eos: int = llama_cpp.llama_vocab_eos(self._vocab)
        self.adds_bos: bool = llama_cpp.llama_vocab_get_add_bos(self._vocab)
        controls = [token for token in range(self.size) if llama_cpp.llama_vocab_is_control(self._vocab, token)]
        self.end_of_generation = tuple(
            token for token in range(self.size) if llama_cpp.llama_vocab_is_eog(self._vocab, token)
        )
        texts = (self.control_piece(token).decode("utf-8", "replace") for token in controls)
        self.control_texts = tuple(sorted((text for text in texts if text), key=len, reverse=True))
        """The spellings that would be read as control tokens, longest first."""

    def tokenize(self, text: str, *, parse_special: bool) -> list[int]:
        """Return the tokens of ``text``, without adding any; ``parse_special`` reads control tokens out of it."""
        data = text.encode("utf-8", "replace")
        capacity = len(data) + 8
        while True:
            tokens = (llama_cpp.llama_token * capacity)()
            count = llama_cpp.llama_tokenize(self._vocab, data, len(data), tokens, capacity, False, parse_special)
            if count >= 0:
                return list(tokens[:count])
            capacity = -count

    def with_bos(self, tokens: list[int]) -> list[int]:
        """Return ``tokens`` with exactly one leading BOS where this vocabulary wants one, else as they are."""
        if not self.adds_bos or self.bos < 0:
            return tokens
        start = 0
        while start < len(tokens) and tokens[start] == self.bos:
            start += 1
        return [self.bos, *tokens[start:]]

    def piece(self, token: int) -> bytes:
        """The bytes that ``token`` adds to the text; empty for a control token."""
        piece = self._pieces.get(token)
        if piece is None:
            piece = self._pieces[token] = self._piece(token, special=False)
        return piece

    def control_piece(self, token: int) -> bytes:
        """The bytes of ``token``, control tokens spelled out."""
        return self._piece(token, special=True)

    def text(self, token: int) -> str:
        """The spelling of a token, for a template's ``bos_token`` and ``eos_token``; empty when there is none."""
        return "" if token < 0 else self.control_piece(token).decode("utf-8", "replace")

    def _piece(self, token: int, *, special: bool) -> bytes:
        size = llama_cpp.llama_token_to_piece(self._vocab, token, self._buffer, len(self._buffer), 0, special)
        if size < 0:
            self._buffer = ctypes.create_string_buffer(-size)
            size = llama_cpp.llama_token_to_piece(self._vocab, token, self._buffer, -size, 0, special)
        return self._buffer.raw[:size]
