"""Whether a build of llama.cpp suits the processor, and what becomes of an engine where it does not."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from decodescope.backends import build_check
from decodescope.backends.build_check import check_build
from decodescope.backends.events import Failed, Log, ModelReady, Quantized
from decodescope.backends.processor import features
from decodescope.backends.quantizing import start_quantizing
from decodescope.models.errors import ModelError
from decodescope.models.facts import read_model

from ..conftest import DEADLINE_SECONDS
from .broken_builds import broken_build, installed_library
from .engines import Open, text_of
from .tiny_models import tiny_llama

pytestmark = pytest.mark.slow
needs_library = pytest.mark.skipif(installed_library() is None, reason="llama.cpp has no library that can be changed")


def run_check() -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", "decodescope.backends.build_check"],
        capture_output=True,
        text=True,
        timeout=DEADLINE_SECONDS,
        check=False,
    )


def test_a_build_that_works() -> None:
    assert check_build().verdict == "works"
    done = run_check()
    assert (done.returncode, done.stderr) == (0, "")


@needs_library
def test_a_build_that_crashes_is_broken(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("LD_LIBRARY_PATH", str(broken_build(tmp_path, r"^ggml_graph_compute$")))
    found = check_build()
    assert found.verdict == "broken"
    assert "SIGILL" in found.what
    assert found.reason == ""
    assert "pip install" in found.remedy
    done = run_check()
    assert done.returncode == 3
    assert "SIGILL" in done.stderr


@needs_library
def test_a_build_that_cannot_be_loaded_is_broken(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (broken_build(tmp_path, r"^ggml_graph_compute$") / "libggml-cpu.so.0").write_bytes(b"")
    monkeypatch.setenv("LD_LIBRARY_PATH", str(tmp_path))
    found = check_build()
    assert found.verdict == "broken"
    assert "libggml-cpu" in found.reason


@pytest.mark.parametrize("flags", [("avx2",), ("avx512f", "amx_tile")])
def test_nonsense_is_broken(monkeypatch: pytest.MonkeyPatch, flags: tuple[str, ...]) -> None:
    monkeypatch.setattr(build_check, "_ANSWER", " 17,")
    monkeypatch.setattr(build_check, "features", lambda: flags)
    found = check_build()
    assert found.verdict == "broken"
    assert "' 41" in found.reason
    assert ("CXXFLAGS=-fno-dse" in found.remedy) == ("amx_tile" in flags)


def test_what_says_nothing_of_the_build(monkeypatch: pytest.MonkeyPatch) -> None:
    assert check_build(0.001).verdict == "unknown"

    def none() -> Path:
        raise ModelError("There is none.")

    monkeypatch.setattr(build_check, "demo_path", none)
    assert check_build().verdict == "unknown"


def test_what_the_processor_can_do(tmp_path: Path) -> None:
    intel, arm = tmp_path / "intel", tmp_path / "arm"
    intel.write_text(
        "processor\t: 0\nmodel name\t: X avx2\nflags\t\t: fpu sse2 smep avx avx512f avx512_vnni amx_tile\n"
    )
    arm.write_text("processor\t: 0\nFeatures\t: fp asimd aes asimddp i8mm sve\n")
    assert features(intel) == ("avx", "avx512f", "avx512_vnni", "amx_tile")
    assert features(arm) == ("asimd", "asimddp", "i8mm", "sve")
    assert features(tmp_path / "none") == ()


@needs_library
def test_an_engine_whose_fast_kernels_crash_goes_on_without_them(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, demo_path: Path, open_llama: Open
) -> None:
    making = start_quantizing(read_model(tiny_llama(tmp_path / "tiny.gguf", demo_path)), "Q4_0", tmp_path)
    while not isinstance(told := making.receive(DEADLINE_SECONDS)[-1], Quantized | Failed):
        pass
    making.close()
    assert isinstance(told, Quantized)
    model = Path(os.fsdecode(told.path))
    expected = open_llama(model, repack=False)
    expected.load()
    answer = text_of(expected.ask("?"))

    monkeypatch.setenv("LD_LIBRARY_PATH", str(broken_build(tmp_path, r"repack13tensor_traits.*15compute_forward")))
    engine = open_llama(model)
    events = engine.until(ModelReady)
    (warning,) = (event.text for event in events if isinstance(event, Log) and event.level == "warning")
    assert "SIGILL" in warning
    assert text_of(engine.ask("?")) == answer
