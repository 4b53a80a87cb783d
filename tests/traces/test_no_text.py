"""What is left out for sharing: every text and every id, of every kind of event."""

import re
import types
from pathlib import Path
from typing import Any, Literal, Union, get_args, get_origin

import msgspec
import pytest

from decodescope.backends.events import Event
from decodescope.backends.requests import EngineSettings, Sampling
from decodescope.traces.generations import generations
from decodescope.traces.lanes import Line
from decodescope.traces.memory import Written
from decodescope.traces.no_text import settings_without_text, without_text
from decodescope.traces.reader import read_trace
from decodescope.traces.recording import Recording
from decodescope.traces.settings import described
from decodescope.traces.writer import TraceWriter, encoded

from .samples import session

SECRET = "/srv/alice/the secret"
SECRET_NUMBER = 777_777
KINDS: dict[str, type[msgspec.Struct]] = {
    kind.__struct_config__.tag: kind for kind in (*get_args(Event), *get_args(Line))
}

OF_THE_MODEL = {"name", "architecture", "quantization", "context_note", "devices", "template", "source_quantization"}
"""Texts that a model or a setting has, whoever uses it."""
OF_THE_MODEL |= {"dominant_type", "template_note", "from_model"}
OF_THE_MODEL |= {"fallbacks", "make", "requantized_from", "model", "processors", "gpus", "backends"}


def filled(kind: Any, name: str = "") -> Any:
    """Return a value of a type in which every text is the secret, and every number the secret number."""
    origin = get_origin(kind)
    if name in OF_THE_MODEL:
        return msgspec.convert(("public",) if origin is tuple else "public", kind)
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        return kind(**{field.name: filled(field.type, field.name) for field in msgspec.structs.fields(kind)})
    if origin is Literal:
        return get_args(kind)[0]
    if origin in (Union, types.UnionType):
        return filled(next(one for one in get_args(kind) if one is not types.NoneType), name)
    if origin is tuple:
        return (filled(get_args(kind)[0], name),) * 3
    values: dict[Any, Any] = {str: SECRET, bytes: SECRET.encode(), int: SECRET_NUMBER, float: 0.5, bool: True}
    return values[kind]


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_no_text_of_any_kind_stays(kind: type[msgspec.Struct]) -> None:
    event = filled(kind)
    shared = without_text(event)
    line = encoded([event], text=False).decode()
    for part in ("alice", "srv", "YWxpY2U", "L3Nydi9h"):
        assert part not in line
    # What a path ends with stays: a model's file.
    without_file = line.replace('"the secret"', "").replace('"dGhlIHNlY3JldA=="', "")
    assert "secret" not in without_file
    assert type(shared) is kind
    assert msgspec.json.decode(line, type=Written) == shared


@pytest.mark.parametrize("name", ["token", "prompt_ready", "scored", "scoring"])
def test_no_id_stays(name: str) -> None:
    shared = msgspec.to_builtins(without_text(filled(KINDS[name])))
    assert SECRET_NUMBER not in [shared.get("id"), *shared.get("tokens", ())]
    assert "[777777" not in msgspec.json.encode(shared.get("top", ())).decode()
    assert "[777777" not in msgspec.json.encode(shared.get("probability", ())).decode()


def test_numbers_and_times_stay() -> None:
    for event in session():
        shared = without_text(event)
        assert shared.t == event.t
        kept = msgspec.to_builtins(shared)
        for name, value in msgspec.to_builtins(event).items():
            if isinstance(value, float) or (isinstance(value, int) and name != "id"):
                assert kept[name] == value


def test_the_figures_are_the_same(tmp_path: Path) -> None:
    for name, text in (("with.jsonl", True), ("without.jsonl", False)):
        recording = Recording(TraceWriter(tmp_path / name), {}, text=text)
        recording.take(session())
        recording.close()
    mine, shared = (
        [generation.run() for generation in generations(read_trace(tmp_path / name).events)]
        for name in ("with.jsonl", "without.jsonl")
    )
    for one, other in zip(mine, shared, strict=True):
        for figure in (
            "ttft_ns",
            "tpot_ns",
            "percentiles",
            "prefill_rate",
            "evaluated_tokens",
            "token_count",
            "e2e_ns",
        ):
            assert getattr(one, figure) == getattr(other, figure)


def test_the_lengths_of_tokens_are_left_out() -> None:
    """From a sequence of lengths a text can be guessed."""
    lines = [encoded([event], text=False) for event in session() if "Token" in type(event).__name__]
    assert len(lines) == 6
    assert all(b'"piece":"",' in line for line in lines)


def test_a_text_tells_its_length(tmp_path: Path) -> None:
    settings = described(
        model="script:/srv/alice/mine.gguf",
        settings=EngineSettings(),
        sampling=Sampling(),
        max_tokens=-1,
        stop=("END", ""),
        system="Be brief." * 200,
        raw=False,
    )
    shared = settings_without_text(settings)
    assert shared["system_prompt"] == "(1,800 characters left out)"
    assert shared["stop"] == ["(3 characters left out)", ""]
    assert shared["model"] == "mine.gguf"
    assert {name: value for name, value in settings.items() if name not in ("system_prompt", "stop", "model")} == {
        name: value for name, value in shared.items() if name not in ("system_prompt", "stop", "model")
    }
    assert settings_without_text({"model": None, "system_prompt": None, "stop": []})["model"] is None


def test_the_header_tells_that_there_is_no_text(tmp_path: Path) -> None:
    recording = Recording(TraceWriter(tmp_path / "a.jsonl"), {"system_prompt": "secret"}, text=False)
    recording.close()
    header = read_trace(tmp_path / "a.jsonl").header
    assert header is not None
    assert not header.text
    assert not re.search("secret", (tmp_path / "a.jsonl").read_text())


def test_nothing_names_who_recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("USER", "LOGNAME", "HOSTNAME"):
        monkeypatch.setenv(name, "alice")
    monkeypatch.setattr("platform.node", lambda: "alices-laptop")
    monkeypatch.setattr("socket.gethostname", lambda: "alices-laptop")
    Recording(TraceWriter(tmp_path / "a.jsonl"), {}, text=False).close()
    text = (tmp_path / "a.jsonl").read_text()
    assert "alice" not in text
    assert str(Path.home()) not in text
