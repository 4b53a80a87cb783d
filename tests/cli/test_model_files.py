"""What model files say of themselves, from the command line."""

import json
from pathlib import Path
from typing import Any

import pytest

from ..backends.tiny_models import spoil, tiny_llama
from ..conftest import RunCommand
from ..models.gguf_files import Value

pytestmark = pytest.mark.slow

OWN: dict[str, Value | None] = {
    "general.sampling.temp": 0.1,
    "general.sampling.top_k": 20,
    "general.sampling.penalty_repeat": 1.3,
    "general.sampling.min_p": float("nan"),
    "general.sampling.mirostat": 2,
}
SHORT = ("-n", "2", "-t", "1", "-c", "256")


def printed(output: bytes) -> Any:
    return json.loads(output)


@pytest.fixture
def own(tmp_path: Path, demo_model: Path) -> Path:
    """A tiny model with defaults for sampling of its own, two of which cannot be applied."""
    return tiny_llama(tmp_path / "own.gguf", demo_model, OWN)


def test_what_is_set_wins_over_the_model_and_that_over_llama_cpp(
    decodescope: RunCommand, own: Path, tmp_path: Path
) -> None:
    settings = tmp_path / "settings.toml"
    settings.write_text("repeat-penalty = 1.1\n")
    record = tmp_path / "r.jsonl"
    words = ("run", "hi", "-m", str(own), *SHORT, "--config", str(settings), "--top-k", "7", "--record", str(record))
    done = decodescope(*words, "--json")
    assert done.returncode == 0
    report = printed(done.stdout)
    found = report["settings"]
    assert (found["temp"], found["top_k"], found["repeat_penalty"], found["min_p"]) == (0.1, 7, 1.1, 0.05)
    assert found["from_model"] == ["temp"]
    assert [name for name in ("min_p", "mirostat") if any(name in one for one in report["warnings"])] == [
        "min_p",
        "mirostat",
    ]
    assert all(done.stderr.decode().count(warning) == 1 for warning in report["warnings"])
    again = printed(decodescope("replay", str(record), "--json").stdout)
    assert again == report
    shown = printed(decodescope("config", "--json", "-m", str(own), "--top-k", "7").stdout)["settings"]
    assert {name: (shown[name]["value"], shown[name]["source"]) for name in ("temp", "top-k", "min-p")} == {
        "temp": (0.1, "model"),
        "top-k": (7, "flag"),
        "min-p": (0.05, "default"),
    }
    listed = printed(decodescope("models", "--json", str(own)).stdout)[0]
    assert listed["sampling"] == {"temp": 0.1, "top_k": 20, "repeat_penalty": 1.3}
    assert listed["warnings"] == report["warnings"]


def test_lanes_are_sampled_alike_and_that_is_said(decodescope: RunCommand, own: Path, demo_model: Path) -> None:
    plain = tiny_llama(own.parent / "plain.gguf", demo_model)
    words = ("compare", "hi", "-m", str(plain), "-m", str(own), *SHORT, "--rounds", "1", "--no-quality", "--json")
    report = printed(decodescope(*words).stdout)
    assert (report["settings"]["temp"], report["settings"]["from_model"]) == (0.8, [])
    assert [len(lane["warnings"]) for lane in report["lanes"]] == [0, 2]
    assert any("own" in note and "temp 0.1" in note for note in report["notes"])


def test_a_base_model_is_told_of_raw_once_and_only_where_it_is_not_given(
    decodescope: RunCommand, tmp_path: Path, demo_model: Path
) -> None:
    base = tiny_llama(tmp_path / "base.gguf", demo_model, {"tokenizer.chat_template": None})
    failed = decodescope("run", "Once", "-m", str(base), *SHORT)
    assert failed.returncode == 1
    assert failed.stderr.count(b"--raw") == 1
    assert failed.stderr.count(b"no chat template") == 1
    raw = decodescope("run", "Once", "--raw", "-m", str(base), *SHORT, "--json")
    assert raw.returncode == 0
    assert raw.stderr == b""
    assert printed(raw.stdout)["warnings"] == []


def test_output_that_is_not_a_number_fails_everywhere(
    decodescope: RunCommand, tmp_path: Path, demo_model: Path
) -> None:
    sound = tiny_llama(tmp_path / "sound.gguf", demo_model)
    damaged = spoil(tiny_llama(tmp_path / "nan.gguf", demo_model), "output_norm.weight")
    run = decodescope("run", "hi", "-m", str(damaged), *SHORT, "--json")
    assert run.returncode == 1
    assert "not a number at token 1" in printed(run.stdout)["error"]["what"]
    bench = decodescope("bench", "-m", str(damaged), "-p", "8", "-n", "2", "-r", "1", "-t", "1", "-o", "json")
    assert bench.returncode == 1
    assert printed(bench.stdout) == []
    lanes = ("compare", "hi", "-m", str(sound), "-m", str(damaged), *SHORT, "--rounds", "1", "--json")
    compared = decodescope(*lanes)
    assert compared.returncode == 1
    good, bad = printed(compared.stdout)["lanes"]
    assert good["error"] is None
    assert "not a number" in bad["error"]["what"]
