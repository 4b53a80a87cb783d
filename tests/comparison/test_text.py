"""A text cut into chunks and stretches."""

import pytest

from decodescope.comparison.text import Chunk, chunks, stretches


def test_a_text_that_fits_is_one_chunk_scored_at_every_position_but_the_first() -> None:
    assert chunks((5, 6, 7), 3, bos=1) == [Chunk((5, 6, 7), 1, 0)]
    assert chunks((5, 6, 7), 3, bos=1)[0].count == 2


def test_a_longer_text_is_cut_as_llama_perplexity_cuts_it() -> None:
    """9 tokens in contexts of 4: two chunks, BOS in the place of each one's first token, the ninth token dropped.

    llama-perplexity takes the logits at positions 4/2 = 2 and after, which say how likely the token at position 3 was.
    """
    assert chunks(range(10, 19), 4, bos=1) == [Chunk((1, 11, 12, 13), 3, 0), Chunk((1, 15, 16, 17), 3, 4)]
    assert chunks(range(10, 19), 4, bos=None) == [Chunk((10, 11, 12, 13), 3, 0), Chunk((14, 15, 16, 17), 3, 4)]


@pytest.mark.parametrize(("count", "context"), [(0, 8), (1, 8), (5, 1), (5, 2)])
def test_what_is_too_short_has_no_chunks(count: int, context: int) -> None:
    assert chunks(range(count), context, bos=1) == []


@pytest.mark.parametrize("rows", [1, 2, 3, 100])
def test_stretches_score_every_position_once_and_in_order(rows: int) -> None:
    chunk = Chunk(tuple(range(10)), 3, 40)
    scored: list[int] = []
    for request in stretches(chunk, rows):
        assert request.start == 40
        assert request.tokens == chunk.tokens[: len(request.tokens)]
        assert len(request.tokens) - request.first <= rows
        scored += range(request.first, len(request.tokens))
    assert scored == list(range(3, 10))
    assert len(scored) == chunk.count
