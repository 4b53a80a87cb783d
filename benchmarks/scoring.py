"""A given text scored against the same text only read."""

import os
import statistics
import tempfile
from pathlib import Path
from typing import Literal

import msgspec

from decodescope.backends.contract import Backend
from decodescope.backends.events import Scored, Tokenized
from decodescope.backends.scoring import stretch_rows
from decodescope.comparison.text import chunks, stretches

from . import prompt_of_length
from .engine_speed import collect, engine, generate, prefill_ns
from .figures import Figure, paired_ratio

TOKENS = 1025
CONTEXT = 2048
MICRO_BATCH = 512
PAIRS = 5
_VOCABULARY = 49_152


def against_prefill() -> list[Figure]:
    """A reference and a compared lane, each with all that it does, exchange included, against plain prefill."""
    text = prompt_of_length(TOKENS)
    with engine(context=CONTEXT) as backend, tempfile.TemporaryDirectory() as folder:
        backend.tokenize(text)
        tokenized = next(event for event in collect(backend, Tokenized) if isinstance(event, Tokenized))
        path = Path(folder) / "exchange"

        def plain() -> float:
            generate(backend, "another", 0)  # nothing of the text is held
            return prefill_ns(generate(backend, text, 0))

        figures = []
        _score(backend, tokenized.tokens, path, "reference")
        for role in ("reference", "compared"):
            shares: list[float] = []

            def scored(role: Literal["reference", "compared"] = role, shares: list[float] = shares) -> float:
                decode, compute = _score(backend, tokenized.tokens, path, role)
                shares.append(compute / (decode + compute))
                return decode + compute

            ratio, plain_ns, scored_ns = paired_ratio(plain, scored, PAIRS)
            figures.append(
                Figure(
                    f"scoring a text, {role}, against plain prefill",
                    f"{ratio:.2f}",
                    "≥ 0.7",
                    ratio >= 0.7,
                    f"{TOKENS / scored_ns * 1e9:.0f} and {TOKENS / plain_ns * 1e9:.0f} tok/s; "
                    f"{statistics.median(shares):.0%} of it is arithmetic and exchange, the rest llama_decode",
                )
            )
    return figures


def _score(
    backend: Backend, tokens: tuple[int, ...], path: Path, role: Literal["reference", "compared"]
) -> tuple[float, float]:
    """Return the time in ``llama_decode`` and the time for the rest of a whole text."""
    decode = compute = 0
    row = 0
    for chunk in chunks(tokens, CONTEXT, None):
        for stretch in stretches(chunk, stretch_rows(_VOCABULARY, MICRO_BATCH)):
            backend.score(msgspec.structs.replace(stretch, exchange=os.fsencode(path), role=role, row=row))
            row += len(stretch.tokens) - stretch.first
            scored = next(event for event in collect(backend, Scored) if isinstance(event, Scored))
            decode += scored.decode_ns
            compute += scored.compute_ns
    return decode, compute
