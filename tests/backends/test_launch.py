"""From a reference and settings to what an engine is told, and the settings that are refused before."""

import json
import os
import subprocess
import sys
import textwrap
import threading
from pathlib import Path

import pytest

from decodescope.backends import host
from decodescope.backends.checks import check_settings
from decodescope.backends.events import Event, Failed, ModelReady
from decodescope.backends.launch import ScriptFile, launch, resolve
from decodescope.backends.requests import EngineSettings
from decodescope.backends.wire import OpenLlama, OpenScript
from decodescope.models.errors import ModelError
from decodescope.models.facts import ModelFile

DEADLINE_S = 120

MODEL = ModelFile(
    path=Path(os.fsdecode(b"/models/\xff.gguf")),
    shards=(Path(os.fsdecode(b"/models/\xff.gguf")),),
    name="Small",
    title="A small model",
    architecture="llama",
    quantization="Q4_1",
    bytes=92_000_000,
    parameters=134_000_000,
    trained_context=8192,
    layers=2,
    has_template=True,
    experts=None,
    experts_used=None,
    sliding_window=None,
    key_widths=(192, 192),
    value_widths=(192, 192),
)


class TestResolve:
    def test_a_script(self, tmp_path: Path) -> None:
        path = tmp_path / "one.jsonl"
        path.write_text('{"text":"a"}\n')
        source = resolve(f"script:{path}")
        assert source == ScriptFile(path)
        assert source.name == "one.jsonl"

    def test_a_script_at_home(self) -> None:
        path = Path(os.environ["HOME"]) / "one.jsonl"
        path.write_text('{"text":"a"}\n')
        assert resolve("script:~/one.jsonl") == ScriptFile(path)

    def test_a_script_with_a_wrong_line(self, tmp_path: Path) -> None:
        path = tmp_path / "one.jsonl"
        path.write_text('{"text":"a"}\n{"txt":"b"}\n')
        with pytest.raises(ModelError) as caught:
            resolve(f"script:{path}")
        assert "one.jsonl" in caught.value.what
        assert caught.value.reason.startswith("line 2: ")
        assert "txt" in caught.value.reason
        assert caught.value.remedy

    def test_a_script_that_is_not_there(self, tmp_path: Path) -> None:
        path = tmp_path / "none.jsonl"
        with pytest.raises(ModelError) as caught:
            resolve(f"script:{path}")
        assert str(path) in caught.value.what
        assert caught.value.reason == "No such file or directory"

    @pytest.mark.parametrize("reference", ["script:", "script: "])
    def test_no_script_at_all(self, reference: str) -> None:
        with pytest.raises(ModelError) as caught:
            resolve(reference)
        assert caught.value.what == "-m script: names no file."

    def test_a_folder_is_no_script(self, tmp_path: Path) -> None:
        with pytest.raises(ModelError) as caught:
            resolve(f"script:{tmp_path}")
        assert caught.value.reason == "Is a directory"

    def test_anything_else_is_a_model(self, tmp_path: Path) -> None:
        path = tmp_path / "notes.gguf"
        path.write_text("not a model")
        with pytest.raises(ModelError, match=r"notes\.gguf"):
            resolve(str(path))

    def test_a_file_called_script_is_no_script(self, tmp_path: Path) -> None:
        path = tmp_path / "script"
        path.write_text('{"text":"a"}\n')
        with pytest.raises(ModelError):
            resolve(str(path))


class Recorder:
    """Stands where engines are started and keeps what it was given."""

    openings: list[OpenLlama | OpenScript]
    threads: list[int]

    def __init__(self) -> None:
        self.openings = []
        self.threads = []

    def __call__(self, opening: OpenLlama | OpenScript) -> "Recorder":
        self.openings.append(opening)
        self.threads.append(threading.get_ident())
        return self


@pytest.fixture
def recorder(monkeypatch: pytest.MonkeyPatch) -> Recorder:
    recorder = Recorder()
    monkeypatch.setattr(host, "EngineHost", recorder)
    return recorder


class TestLaunch:
    def test_a_model_is_opened_as_its_header_says(self, recorder: Recorder) -> None:
        settings = EngineSettings(context=1024, threads=3)
        launch(MODEL, settings)
        assert recorder.openings == [
            OpenLlama(
                path=b"/models/\xff.gguf",
                name="Small",
                quantization="Q4_1",
                bytes=92_000_000,
                trained_context=8192,
                kv_bytes_per_token=1536,  # 2 layers × (192 + 192) values × 2 bytes
                settings=settings,
            )
        ]

    def test_the_estimate_follows_the_types_of_the_cache(self, recorder: Recorder) -> None:
        # q8_0: 34 bytes for 32 values, 2 × 6 × 34 = 408; q4_0: 18 bytes for 32, 2 × 6 × 18 = 216.
        launch(MODEL, EngineSettings(cache_type_k="q8_0", cache_type_v="q4_0", flash_attention="on"))
        (opening,) = recorder.openings
        assert isinstance(opening, OpenLlama)
        assert opening.kv_bytes_per_token == 624

    def test_a_script_is_opened_by_its_path(self, recorder: Recorder) -> None:
        path = Path(os.fsdecode(b"/scripts/\xff.jsonl"))
        launch(ScriptFile(path), EngineSettings())
        assert recorder.openings == [OpenScript(path=b"/scripts/\xff.jsonl", settings=EngineSettings())]

    def test_every_engine_is_started_from_one_thread_that_is_not_the_caller_s(self, recorder: Recorder) -> None:
        for _ in range(3):
            launch(MODEL, EngineSettings())
        assert len(set(recorder.threads)) == 1
        assert recorder.threads[0] != threading.get_ident()

    def test_what_goes_wrong_reaches_the_caller(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def refuse(opening: OpenLlama | OpenScript) -> None:
            raise BlockingIOError(11, "Resource temporarily unavailable")

        monkeypatch.setattr(host, "EngineHost", refuse)
        with pytest.raises(OSError, match="temporarily unavailable"):
            launch(MODEL, EngineSettings())

    @pytest.mark.skipif(sys.platform != "linux", reason="only Linux gives threads a priority of their own")
    def test_engines_keep_the_priority_of_the_first_launch(self, tmp_path: Path) -> None:
        path = tmp_path / "idle.jsonl"
        path.write_text('{"text":"a"}\n')
        program = """
            import json, os, sys
            from pathlib import Path
            import psutil
            from decodescope.backends.launch import ScriptFile, launch
            from decodescope.backends.requests import EngineSettings

            source = ScriptFile(Path(sys.argv[1]))
            before = os.nice(0)
            engines = [launch(source, EngineSettings())]
            os.nice(5)
            engines.append(launch(source, EngineSettings()))
            print(json.dumps([before, os.nice(0), *(psutil.Process(engine.pid).nice() for engine in engines)]))
            for engine in engines:
                engine.close()
        """
        result = subprocess.run(
            [sys.executable, "-c", textwrap.dedent(program), str(path)],
            capture_output=True,
            timeout=DEADLINE_S,
            check=False,
        )
        assert result.returncode == 0, result.stderr.decode()
        before, after, first, second = json.loads(result.stdout)
        assert after == min(before + 5, 19)
        assert (first, second) == (before, before)


class TestSettings:
    @pytest.mark.parametrize(
        "settings",
        [
            EngineSettings(),
            EngineSettings(context=512, batch=64, micro_batch=64, threads=1, threads_batch=1, gpu_layers=0),
            EngineSettings(cache_type_v="q4_0"),  # "auto" turns flash attention on
            EngineSettings(cache_type_v="q4_0", flash_attention="on"),
            EngineSettings(cache_type_k="q4_0", flash_attention="off"),  # only the V cache needs it
            EngineSettings(cache_type_v="bf16", flash_attention="off"),
            EngineSettings(cache_type_v="f32", flash_attention="off"),
        ],
    )
    def test_what_works_is_left_alone(self, settings: EngineSettings) -> None:
        assert check_settings(settings) == []

    @pytest.mark.parametrize(
        ("settings", "words"),
        [
            (EngineSettings(cache_type_v="q4_0", flash_attention="off"), ("q4_0", "-ctv", "-fa off")),
            (EngineSettings(cache_type_v="q8_0", flash_attention="off"), ("q8_0", "-ctv", "-fa off")),
            (EngineSettings(batch=256), ("512", "-ub", "256", "-b")),
            (EngineSettings(context=-1), ("-c", "-1", "least is 0")),
            (EngineSettings(threads=0), ("-t", "0", "least is 1")),
            (EngineSettings(threads_batch=-2), ("-tb", "-2", "least is 1")),
            (EngineSettings(gpu_layers=-2), ("-ngl", "-2", "least is -1")),
            (EngineSettings(micro_batch=0), ("-ub", "0", "least is 1")),
        ],
    )
    def test_what_does_not_is_refused_with_its_flag(self, settings: EngineSettings, words: tuple[str, ...]) -> None:
        (problem,) = check_settings(settings)
        for word in words:
            assert word in problem
        assert problem.endswith(".")

    def test_every_problem_is_told_at_once(self) -> None:
        settings = EngineSettings(batch=0, micro_batch=1, threads=0, cache_type_v="q4_0", flash_attention="off")
        problems = check_settings(settings)
        assert len(problems) == 4
        assert any("(-b) cannot be 0" in problem for problem in problems)


def test_a_script_that_never_ends_is_refused_unread(tmp_path: Path) -> None:
    fifo = tmp_path / "pipe.jsonl"
    os.mkfifo(fifo)
    for path in ("/dev/zero", str(fifo)):
        with pytest.raises(ModelError) as caught:
            resolve(f"script:{path}")
        assert "device or a pipe" in caught.value.reason


def test_a_file_name_that_is_not_utf_8_can_be_opened(demo_path: Path, tmp_path: Path) -> None:
    link = tmp_path / os.fsdecode(b"y\xff.gguf")
    link.symlink_to(demo_path)
    backend = launch(resolve(str(link)), EngineSettings(context=256))
    try:
        events: list[Event] = []
        while not any(isinstance(event, ModelReady | Failed) for event in events):
            events += backend.receive(60)
        assert isinstance(events[-1], ModelReady)
        assert "\ufffd" in events[-1].name
    finally:
        backend.close()


@pytest.mark.parametrize(
    "settings", [EngineSettings(threads=100_000), EngineSettings(threads_batch=513), EngineSettings(batch=2**31)]
)
def test_sizes_that_native_code_cannot_hold_are_refused(settings: EngineSettings) -> None:
    assert any("the most is" in problem for problem in check_settings(settings))
