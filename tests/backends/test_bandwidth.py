"""The memory bandwidth: measured, kept, and never a reason to stop."""

import json
import subprocess
import sys
import time
from pathlib import Path

import msgspec
import pytest

from decodescope.backends import bandwidth
from decodescope.backends.bandwidth import (
    Bandwidth,
    BandwidthError,
    cache_file,
    cached_bandwidth,
    cached_bandwidths,
    measure_bandwidth,
)

from ..conftest import DEADLINE_SECONDS

SMALL = 2 << 20


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """A quick measurement: how fast this machine is does not matter here."""
    monkeypatch.setattr(bandwidth, "_BLOCK_BYTES", SMALL)
    monkeypatch.setattr(bandwidth, "_LEAST_BYTES", SMALL)
    monkeypatch.setattr(bandwidth, "_BUDGET_NS", 0)


def test_what_was_measured_is_found_again() -> None:
    assert cached_bandwidths() == []
    before = int(time.time())
    measured = measure_bandwidth(2)
    assert (measured.threads, measured.block_bytes) == (2, SMALL)
    assert measured.bytes_per_second > 0
    assert before <= measured.measured_at <= time.time()
    assert cached_bandwidth(2) == measured
    assert cached_bandwidth(1) is None


def test_each_number_of_threads_is_kept_and_measured_anew() -> None:
    measure_bandwidth(1)
    other = measure_bandwidth(2)
    again = measure_bandwidth(1)
    assert cached_bandwidth(1) == again
    assert cached_bandwidth(2) == other
    assert len(cached_bandwidths()) == 2


def test_more_threads_than_processors_are_no_trouble() -> None:
    assert measure_bandwidth(10_000).threads == 10_000


def test_no_threads_is_a_mistake() -> None:
    with pytest.raises(ValueError, match="at least 1"):
        measure_bandwidth(0)


def _file() -> Path:
    path = cache_file()
    assert path is not None
    return path


@pytest.mark.parametrize(
    "content",
    [
        b"", b"{", b"[]", b"\xff\xfe", b"null", b"{" * 100_000, b'{"machine": 1, "measurements": []}',
        b'{"machine": "x", "measurements": [{"threads": "2"}]}', b'{"x":' * 10_000,
    ],
)  # fmt: skip
def test_a_damaged_cache_is_as_good_as_none(content: bytes) -> None:
    _file().parent.mkdir(parents=True)
    _file().write_bytes(content)
    assert cached_bandwidths() == []
    measured = measure_bandwidth(1)
    assert cached_bandwidth(1) == measured


def test_another_machines_cache_is_as_good_as_none() -> None:
    measure_bandwidth(1)
    kept = json.loads(_file().read_bytes())
    kept["machine"] += " and more"
    _file().write_text(json.dumps(kept))
    assert cached_bandwidths() == []


@pytest.mark.parametrize(
    "change", [{"bytes_per_second": 0.0}, {"bytes_per_second": 1e300}, {"threads": 0}, {"measured_at": 10**15}]
)
def test_impossible_figures_are_left_out(change: dict[str, float]) -> None:
    measure_bandwidth(1)
    kept = json.loads(_file().read_bytes())
    good = kept["measurements"][0] | {"threads": 3}
    kept["measurements"] = [kept["measurements"][0] | change, good]
    _file().write_text(json.dumps(kept))
    assert cached_bandwidths() == [msgspec.convert(good, Bandwidth)]


def test_a_folder_that_cannot_be_written_costs_nothing_but_the_cache() -> None:
    _file().parent.parent.mkdir(parents=True)
    _file().parent.write_text("a file where the folder would be")
    assert measure_bandwidth(1).bytes_per_second > 0
    assert cached_bandwidths() == []


def test_nothing_half_written_stays() -> None:
    _file().mkdir(parents=True)  # cannot be replaced
    measure_bandwidth(1)
    name = _file().name
    assert {path.name for path in _file().parent.iterdir()} == {name, f"{name}.lock"}


def test_too_little_memory_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bandwidth, "available_bytes", lambda: SMALL)
    with pytest.raises(BandwidthError, match="too little free memory"):
        measure_bandwidth(1)


def test_short_memory_takes_a_smaller_block(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bandwidth, "_LEAST_BYTES", SMALL // 4)
    monkeypatch.setattr(bandwidth, "available_bytes", lambda: 4 * SMALL)
    assert measure_bandwidth(1).block_bytes == SMALL // 2


def test_looking_into_the_cache_loads_no_numpy(tmp_path: Path) -> None:
    measure_bandwidth(1)
    code = (
        "import sys; from decodescope.backends.bandwidth import cached_bandwidth; "
        "print(cached_bandwidth(1) is not None, 'numpy' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=DEADLINE_SECONDS, check=True
    )
    assert done.stdout == "True False\n"
