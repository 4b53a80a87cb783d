"""The floor of the time per output token."""

import msgspec
import numpy as np
import pytest
from msgspec.structs import replace

from decodescope.backends.events import ModelReady, PromptReady, RequestTaken, Token
from decodescope.backends.requests import Sampling
from decodescope.metrics.floor import (
    Limit,
    MemoryFloor,
    NoFloor,
    bandwidth_use,
    gap_depths,
    limit,
    mean_depth,
    memory_floor,
    verdict,
)
from decodescope.metrics.run import Run

from ..small_model import SMALL

MS = 1_000_000
FLOOR = MemoryFloor(weight_bytes=90_000_000, kv_bytes_per_token=20_000, bytes_per_second=10e9)


def model(gpu_layers: int = 0, weights: int | None = 90_000_000) -> ModelReady:
    return replace(SMALL, gpu_layers=gpu_layers, kv_bytes_per_token=20_000, weight_bytes_per_token=weights)


def run(prompt: int, *times_ms: float) -> Run:
    run = Run(RequestTaken(t=0, request=1, sampling=Sampling(), seed=0))
    run.apply(PromptReady(t=0, tokens=tuple(range(prompt)), cached=0))
    for index, ms in enumerate(times_ms, start=1):
        run.apply(Token(t=round(ms * MS), index=index, id=index, piece=b"x", decode_ns=1, sample_ns=1))
    return run


def test_the_floor_is_bytes_over_bandwidth() -> None:
    # 90 MB in 10 GB/s: 9 ms; each token of context adds 20 kB: 2 µs
    assert FLOOR.ns(0) == pytest.approx(9 * MS)
    assert FLOOR.ns(1000) == pytest.approx(11 * MS)
    assert FLOOR.along(np.array([0, 500, 1000])) == pytest.approx([9 * MS, 10 * MS, 11 * MS])
    assert FLOOR.along(np.array([], dtype=np.int64)).shape == (0,)


def test_with_a_sliding_window_only_what_every_layer_sees_counts() -> None:
    # Beyond 500 tokens: 90 MB + 500 x 20 kB
    windowed = memory_floor(msgspec.structs.replace(model(), sliding_window=500), 10e9)
    assert isinstance(windowed, MemoryFloor)
    assert windowed.ns(250) == pytest.approx(9.5 * MS)
    assert windowed.ns(4000) == pytest.approx(10 * MS)
    assert windowed.along(np.array([250, 4000])) == pytest.approx([9.5 * MS, 10 * MS])


def test_the_share_is_floor_over_time() -> None:
    assert FLOOR.share(1000, 22 * MS) == pytest.approx(0.5)
    assert FLOOR.share(1000, None) is None
    assert FLOOR.share(1000, 0) is None


def test_why_there_is_no_floor() -> None:
    assert memory_floor(model(), 10e9) == FLOOR
    assert memory_floor(model(gpu_layers=1), 10e9) is NoFloor.ON_GPU
    assert memory_floor(model(weights=None), 10e9) is NoFloor.WEIGHTS_UNKNOWN
    assert memory_floor(model(weights=0), 10e9) is NoFloor.WEIGHTS_UNKNOWN
    assert memory_floor(model(), None) is NoFloor.NOT_MEASURED


def test_depths_of_the_gaps() -> None:
    # The gap before the second token computes the first one, which sees 100 prompt tokens and itself.
    written = run(100, 0, 10, 20, 30)
    assert gap_depths(written).tolist() == [101, 102, 103]
    assert mean_depth(written) == 102
    assert gap_depths(run(100)).tolist() == gap_depths(run(100, 5)).tolist() == []
    assert mean_depth(run(100, 5)) is None


def test_bandwidth_use_of_a_run() -> None:
    # Depths 499, 500, 501: (90 MB + 500 x 20 kB) x 50 tokens/s / 10 GB/s = 100 MB x 50 / 10 GB
    assert bandwidth_use(run(498, 0, 20, 40, 60), FLOOR) == pytest.approx(0.5)
    assert bandwidth_use(run(498, 0), FLOOR) is None


@pytest.mark.parametrize(
    ("share", "expected"),
    [(0.1, Limit.COMPUTE), (0.59, Limit.COMPUTE), (0.6, Limit.MEMORY), (1.0, Limit.MEMORY), (1.3, Limit.CACHE)],
)
def test_what_sets_the_pace(share: float, expected: Limit) -> None:
    assert limit(share) is expected
    said = verdict(share)
    assert said is not None
    assert f"{share:.0%}" in said
    assert ("not memory" in said) == (expected is Limit.COMPUTE)


def test_no_share_no_verdict() -> None:
    assert limit(None) is None
    assert verdict(None) is None
