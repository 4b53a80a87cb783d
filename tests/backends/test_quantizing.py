"""Making quantizations of the real demo model, in a process that may die at any moment."""

import os
import shutil
import signal
import struct
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import psutil
import pytest

from decodescope.backends.engine import EngineError
from decodescope.backends.events import Event, Failed, Quantized, QuantizeProgress
from decodescope.backends.quantizer import Quantizer
from decodescope.backends.quantizing import Making, start_quantizing
from decodescope.backends.wire import OpenQuantizer
from decodescope.models.errors import ModelError
from decodescope.models.facts import ModelFile, read_model
from decodescope.models.ggml_types import TENSOR_TYPES
from decodescope.models.header import read_header

from ..models.gguf_files import F32, Value, gguf
from .engines import DEADLINE_S, Open
from .tiny_models import tiny_llama

SLOW_TYPE = "IQ3_S"  # takes many seconds, so that a kill comes in the middle


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "quantized"


@pytest.fixture
def demo(demo_path: Path) -> ModelFile:
    return read_model(demo_path)


class Maker:
    """Starts makings; every wait has a deadline."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.started: list[Making] = []

    def start(self, source: ModelFile, recipe: str) -> Making:
        making = start_quantizing(source, recipe, self.folder)
        self.started.append(making)
        return making

    def until(self, making: Making, *kinds: type[Event]) -> list[Event]:
        deadline = time.monotonic() + DEADLINE_S
        events: list[Event] = []
        while time.monotonic() < deadline and not making.closed:
            events += making.receive(1.0)
            if any(isinstance(event, kinds) for event in events):
                return events
        assert making.closed, f"nothing of {kinds} in {DEADLINE_S} s: {events[-3:]}"
        return events

    def make(self, source: ModelFile, recipe: str) -> tuple[list[Event], Quantized | Failed]:
        events = self.until(self.start(source, recipe), Quantized, Failed)
        last = events.pop()
        assert isinstance(last, Quantized | Failed)
        return events, last

    def made(self, source: ModelFile, recipe: str) -> Quantized:
        _, last = self.make(source, recipe)
        assert isinstance(last, Quantized), last
        return last


@pytest.fixture
def maker(folder: Path) -> Iterator[Maker]:
    maker = Maker(folder)
    yield maker
    for making in maker.started:
        making.close()


def _files(folder: Path) -> list[str]:
    return sorted(entry.name for entry in folder.iterdir()) if folder.exists() else []


@pytest.mark.slow
def test_a_quantization_tells_how_it_came_about(maker: Maker, demo: ModelFile, open_llama: Open) -> None:
    events, made = maker.make(demo, "q4_k")
    assert isinstance(made, Quantized), made
    fractions = [event.fraction for event in events if isinstance(event, QuantizeProgress)]
    assert len(fractions) == len(events) >= 3
    assert fractions == sorted(set(fractions))
    assert (fractions[0], fractions[-1]) == (0.0, 1.0)
    assert (made.quantization, made.source_quantization, made.reused) == ("Q4_K_M", "Q4_1", False)
    path = Path(os.fsdecode(made.path))
    model = read_model(path)
    assert _files(path.parent) == [path.name]
    assert (model.name, model.quantization, model.requantized_from) == (demo.name, "Q4_K_M", "Q4_1")
    assert model.bytes == made.bytes
    # llama.cpp says of the same: "180 of 272 tensor(s) required fallback quantization". Its rows of 576 values are no
    # multiple of 256. It does not count the output, which for the same reason is Q8_0 and not Q6_K.
    assert sum(int(text.split()[0]) for text in made.fallbacks) == 181
    written = [TENSOR_TYPES[tensor.type].name for tensor in read_header(path).tensors]
    for text in made.fallbacks:
        count, _, _, form, *_ = text.split()
        assert written.count(form) == int(count)
    ready = open_llama(path).load()
    assert (ready.quantization, ready.requantized_from) == ("Q4_K_M", "Q4_1")


@pytest.mark.slow
def test_it_is_found_again_until_the_source_changes(maker: Maker, demo_path: Path, tmp_path: Path) -> None:
    path = tmp_path / "x\x1b[2J é [red].gguf"
    shutil.copyfile(demo_path, path)
    first = maker.made(read_model(path), "Q4_0")
    events, again = maker.make(read_model(path), "Q4_0")
    assert isinstance(again, Quantized)
    assert (events, again.reused, again.path) == ([], True, first.path)
    assert again.fallbacks == first.fallbacks == ("1 tensor as Q8_0 instead of Q6_K",)
    os.utime(path, ns=(1, 1))
    changed = maker.made(read_model(path), "Q4_0")
    assert not changed.reused
    assert changed.path != first.path


@pytest.mark.slow
def test_a_renamed_file_still_says_what_it_was_made_from(maker: Maker, demo: ModelFile, tmp_path: Path) -> None:
    path = Path(os.fsdecode(maker.made(demo, "Q8_0").path)).rename(tmp_path / "mine.gguf")
    model = read_model(path)
    assert (model.name, model.requantized_from) == ("mine", "Q4_1")
    again = maker.made(model, "Q4_0")
    assert again.source_quantization == "Q8_0 from Q4_1"
    assert read_model(Path(os.fsdecode(again.path))).requantized_from == "Q8_0 from Q4_1"


def test_full_precision_is_not_requantized(maker: Maker, demo_path: Path, tmp_path: Path) -> None:
    source = read_model(tiny_llama(tmp_path / "tiny.gguf", demo_path))
    made = maker.made(source, "Q8_0")
    assert made.source_quantization == "F32"
    assert read_model(Path(os.fsdecode(made.path))).requantized_from == ""
    assert made.fallbacks == ()


def test_a_split_source(maker: Maker, demo_path: Path, tmp_path: Path) -> None:
    whole = read_header(tiny_llama(tmp_path / "tiny.gguf", demo_path))
    metadata: dict[str, Value] = {
        key: value for key, value in whole.metadata.items() if isinstance(value, int | float | str)
    }
    tensors = [(tensor.name, tensor.dimensions, F32) for tensor in whole.tensors]
    for number, part in enumerate((tensors[:4], tensors[4:])):
        split: dict[str, Value] = {
            "split.no": struct.pack("<IH", 2, number),
            "split.count": struct.pack("<IH", 2, 2),
            "split.tensors.count": struct.pack("<Ii", 5, len(tensors)),
        }
        content = gguf({**(metadata if number == 0 else {}), **split}, part)
        (tmp_path / f"split-{number + 1:05d}-of-00002.gguf").write_bytes(content)
    source = read_model(tmp_path / "split-00002-of-00002.gguf")
    made = maker.made(source, "Q8_0")
    model = read_model(Path(os.fsdecode(made.path)))
    assert len(model.shards) == 1
    assert model.parameters == source.parameters
    assert model.name == "split"


@pytest.mark.slow
def test_a_killed_quantizer_is_told_of_and_leaves_nothing_that_looks_whole(maker: Maker, demo: ModelFile) -> None:
    making = maker.start(demo, SLOW_TYPE)
    maker.until(making, QuantizeProgress)
    os.kill(making.pid, signal.SIGKILL)
    (failed,) = [event for event in maker.until(making, Failed) if isinstance(event, Failed)]
    assert failed.stage == "load"
    assert "The quantizer was ended by SIGKILL" in failed.what
    assert making.receive() == []
    (left,) = _files(maker.folder)
    assert left.endswith(".part")
    made = maker.made(demo, "Q8_0")
    assert _files(maker.folder) == [Path(os.fsdecode(made.path)).name]


@pytest.mark.slow
def test_closing_ends_it_and_removes_what_is_unfinished(maker: Maker, demo: ModelFile) -> None:
    making = maker.start(demo, SLOW_TYPE)
    maker.until(making, QuantizeProgress)
    pid = making.pid
    making.close()
    making.close()
    assert making.closed
    assert not psutil.pid_exists(pid)
    assert _files(maker.folder) == []


@pytest.mark.slow
def test_it_goes_with_its_parent(demo_path: Path, folder: Path) -> None:
    program = textwrap.dedent("""
        import sys, time
        from pathlib import Path
        from decodescope.backends.events import QuantizeProgress
        from decodescope.backends.quantizing import start_quantizing
        from decodescope.models.facts import read_model
        making = start_quantizing(read_model(Path(sys.argv[1])), sys.argv[2], Path(sys.argv[3]))
        while not any(isinstance(event, QuantizeProgress) for event in making.receive(60)):
            pass
        print(making.pid, flush=True)
        time.sleep(600)
    """)
    command = [sys.executable, "-c", program, str(demo_path), SLOW_TYPE, str(folder)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        quantizer = psutil.Process(int(parent.stdout.readline()))
        parent.kill()
    psutil.wait_procs([quantizer], timeout=DEADLINE_S)
    assert not quantizer.is_running() or quantizer.status() == psutil.STATUS_ZOMBIE
    assert _files(folder) == []


@pytest.mark.slow
def test_two_at_once_do_not_harm_each_other(maker: Maker, demo: ModelFile) -> None:
    makings = [maker.start(demo, "Q8_0") for _ in range(2)]
    made = [maker.until(making, Quantized, Failed)[-1] for making in makings]
    assert all(isinstance(one, Quantized) for one in made), made
    (name,) = _files(maker.folder)
    assert read_model(maker.folder / name).quantization == "Q8_0"


def test_a_type_that_cannot_be_made(maker: Maker, demo: ModelFile) -> None:
    with pytest.raises(ModelError, match="importance matrix"):
        maker.start(demo, "IQ2_XS")


def test_a_source_that_has_gone(maker: Maker, demo_path: Path, tmp_path: Path) -> None:
    path = tiny_llama(tmp_path / "tiny.gguf", demo_path)
    source = read_model(path)
    path.unlink()
    _, failed = maker.make(source, "Q8_0")
    assert isinstance(failed, Failed)
    assert "tiny.gguf cannot be read" in failed.what


def test_a_folder_that_cannot_be_written(maker: Maker, demo: ModelFile) -> None:
    maker.folder.parent.joinpath("file").write_bytes(b"")
    maker.folder = maker.folder.parent / "file" / "quantized"
    _, failed = maker.make(demo, "Q8_0")
    assert isinstance(failed, Failed)
    assert f"Q8_0 cannot be kept in {maker.folder}" in failed.what
    assert "Not a directory" in failed.reason
    assert "XDG_CACHE_HOME" in failed.remedy


def _in_process(demo: ModelFile, folder: Path) -> Quantizer:
    return Quantizer(
        OpenQuantizer(path=os.fsencode(demo.path), name=demo.name, quantization="Q8_0", folder=os.fsencode(folder))
    )


class _NeverWritten:
    """Stands for llama.cpp: plans, and must not be asked for more."""

    def __init__(self, source: ModelFile, recipe: str) -> None:
        pass

    def planned_bytes(self) -> int:
        return 200 << 20

    def write(self, *_: Any) -> None:
        raise AssertionError("it was begun")


@pytest.mark.parametrize(("free", "fits"), [(150 << 20, False), (210 << 20, True)])
def test_a_full_disk_is_said_before_it_starts(
    demo: ModelFile, folder: Path, monkeypatch: pytest.MonkeyPatch, free: int, fits: bool
) -> None:
    monkeypatch.setattr("decodescope.backends.llama.quantization.Quantization", _NeverWritten)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=free))
    if fits:
        with pytest.raises(AssertionError, match="it was begun"):
            _in_process(demo, folder).make(lambda _: None)
    else:
        with pytest.raises(EngineError, match="There is no room") as refused:
            _in_process(demo, folder).make(lambda _: None)
        # 200 MiB of weights, 1.7 MiB of header, 1 MiB to spare
        assert refused.value.reason == f"It takes 202.7 MiB, and 150.0 MiB are free in {folder}."
        assert "models clean" in refused.value.remedy
    assert _files(folder) == []
