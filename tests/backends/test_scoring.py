"""Scoring without a model: stretches, the exchange file, and the arithmetic against naive sums in double precision."""

import errno
import os
import tracemalloc
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from decodescope.backends.engine import EngineError
from decodescope.backends.llama.probabilities import Arithmetic
from decodescope.backends.scoring import Exchange, exchange_bytes, stretch_rows

LARGE = 262_144
Logits = npt.NDArray[np.float32]


@pytest.mark.parametrize(
    ("vocabulary", "micro_batch", "rows"),
    [
        (49_152, 512, 512),  # 96 MiB
        (65_536, 512, 512),  # 128 MiB
        (65_537, 512, 256),
        (128_256, 512, 256),
        (LARGE, 512, 128),
        (49_152, 64, 64),
        (49_152, 1, 1),
        (10**9, 512, 1),
    ],
)
def test_a_stretch_is_a_micro_batch_or_a_part_that_fits(vocabulary: int, micro_batch: int, rows: int) -> None:
    assert stretch_rows(vocabulary, micro_batch) == rows


def drawn(seed: int, vocabulary: int) -> Logits:
    return np.random.default_rng(seed).normal(0, 4, vocabulary).astype(np.float32)


def log_softmax(logits: Logits) -> npt.NDArray[np.float64]:
    wide = logits.astype(np.float64)
    shifted = wide - wide.max()
    result: npt.NDArray[np.float64] = shifted - np.log(np.exp(shifted).sum())
    return result


def divergence(logits: Logits, reference: Logits) -> float:
    facts = Arithmetic().facts(logits, 0)
    assert facts is not None
    return Arithmetic().divergence(logits, facts, reference, int(reference.argmax()))


@pytest.mark.parametrize("vocabulary", [1, 2, 7, 1000, 49_152, LARGE])
@pytest.mark.parametrize("noise", [1e-4, 0.01, 0.3, 3.0])
def test_divergence_equals_a_naive_sum(vocabulary: int, noise: float) -> None:
    reference = drawn(1, vocabulary)
    logits = reference + np.float32(noise) * drawn(2, vocabulary) + np.float32(0.7)
    first, second = log_softmax(reference), log_softmax(logits)
    expected = (np.exp(first) * (first - second)).sum()
    assert divergence(logits, reference) == pytest.approx(expected, rel=1e-5, abs=1e-6)


@pytest.mark.parametrize("vocabulary", [7, 49_152])
def test_a_distribution_does_not_diverge_from_itself_nor_from_a_shifted_one(vocabulary: int) -> None:
    logits = drawn(3, vocabulary)
    assert divergence(logits, logits) == 0.0
    assert divergence(logits + np.float32(2), logits) < 1e-6


def test_tokens_that_cannot_be_drawn_are_no_obstacle() -> None:
    """Half the probability on each of two tokens, of which the other model knows one: half of it against e^−1000."""
    reference = np.array([0, 0, -np.inf, -np.inf], dtype=np.float32)
    logits = np.array([0, -np.inf, -np.inf, 0], dtype=np.float32)
    # 1/2 · (ln 1/2 − ln 1/2) + 1/2 · (ln 1/2 − (−1000 − ln 2))
    assert divergence(logits, reference) == pytest.approx(500)
    assert divergence(reference, reference) == 0.0


def test_a_large_vocabulary_is_compared_in_bounded_memory(tmp_path: Path) -> None:
    """A stretch's rows through the file; held are a row of either and the buffers, whatever the number of rows."""
    path = os.fsencode(tmp_path / "exchange")
    rows = 24
    arithmetic, logits, read = Arithmetic(), drawn(4, LARGE), np.empty(LARGE, dtype=np.float32)
    tracemalloc.start()
    try:
        exchange = Exchange(path, LARGE, writable=True)
        for row in range(rows):
            facts = arithmetic.facts(logits, row)
            assert facts is not None
            exchange.write(row, 100 + row, facts.top[0], logits.data)
        for row in range(rows):
            facts = arithmetic.facts(logits, row)
            assert facts is not None
            top = exchange.read(row, 100 + row, read.data)
            assert arithmetic.divergence(logits, facts, read, top) == 0.0
        exchange.close()
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert (tmp_path / "exchange").stat().st_size == exchange_bytes(rows, LARGE)
    assert peak < LARGE * 4  # less than one more row


def refused(action: object) -> EngineError:
    with pytest.raises(EngineError) as caught:
        action()  # type: ignore[operator]
    assert caught.value.what
    assert caught.value.reason
    assert caught.value.remedy
    return caught.value


def test_a_missing_file_is_told(tmp_path: Path) -> None:
    error = refused(lambda: Exchange(os.fsencode(tmp_path / "none"), 8, writable=False))
    assert "No such file" in error.reason


def test_rows_of_another_text_vocabulary_or_length_are_refused(tmp_path: Path) -> None:
    path = os.fsencode(tmp_path / "exchange")
    logits, into = drawn(5, 8), np.empty(8, dtype=np.float32)
    written = Exchange(path, 8, writable=True)
    written.write(0, 1, 3, logits.data)
    written.write(1, 2, 4, logits.data)
    assert written.read(1, 2, into.data) == 4
    assert into.tolist() == logits.tolist()
    refused(lambda: written.read(1, 3, into.data))
    assert "ends before" in refused(lambda: written.read(2, 3, into.data)).reason
    other = Exchange(path, 9, writable=False)
    refused(lambda: other.read(0, 1, np.empty(9, dtype=np.float32).data))
    other.close()
    written.close()


def test_a_full_disk_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The disk takes a part of a row, then nothing."""
    exchange = Exchange(os.fsencode(tmp_path / "exchange"), 8, writable=True)
    write = os.pwrite
    left = 20

    def full(file: int, data: memoryview, start: int) -> int:
        nonlocal left
        if not left:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        count = write(file, data[:left], start)
        left -= count
        return count

    monkeypatch.setattr(os, "pwrite", full)
    error = refused(lambda: exchange.write(0, 1, 0, drawn(6, 8).data))
    assert "no room" in error.what
    exchange.close()
