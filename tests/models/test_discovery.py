import os
from collections.abc import Callable
from pathlib import Path

import pytest

from decodescope.models.discovery import discover
from decodescope.models.references import resolve

from .gguf_files import gguf, tiny_llama, write, write_shards
from .stores import hub_file, ollama_model, other_model


def listing(*folders: Path) -> list[tuple[str, str]]:
    return [(found.source, found.reference) for found in discover(folders) if found.source != "demo"]


def problems(*folders: Path) -> list[str]:
    return [str(found.error) for found in discover(folders) if found.error is not None]


def test_the_demo_model_is_found_without_being_imported(demo_file: Path) -> None:
    (found,) = discover()
    assert (found.source, found.reference) == ("demo", "demo")
    assert found.model is not None
    assert found.model.path == demo_file
    assert found.error is None


@pytest.mark.usefixtures("without_demo")
def test_nothing_is_found_where_nothing_is() -> None:
    assert discover() == []


def test_all_places_are_searched_and_all_references_lead_back(tmp_path: Path, home: Path) -> None:
    folder = write(tmp_path / "given" / "a.gguf", other_model(1))
    hub_file(home / ".cache/huggingface/hub", "org/repo", "sub/b.gguf", other_model(2))
    ollama_model(home / ".ollama/models", "library/llama3:8b", other_model(3))
    studio = write(home / ".lmstudio/models/publisher/repo/c.gguf", other_model(4))
    cached = write(home / ".cache/llama.cpp/org_repo_d.gguf", other_model(5))
    found = [found for found in discover([tmp_path / "given"]) if found.source != "demo"]
    assert [(each.source, each.reference) for each in found] == [
        ("folder", str(folder)),
        ("huggingface", "hf:org/repo/sub/b.gguf"),
        ("ollama", "ollama:llama3:8b"),
        ("lmstudio", str(studio)),
        ("llama.cpp", str(cached)),
    ]
    titles = [f"Number {number}" for number in range(1, 6)]
    assert [each.model.title for each in found if each.model is not None] == titles
    assert [resolve(each.reference).title for each in found] == titles


def test_what_cannot_be_used_is_listed_with_its_reason(tmp_path: Path) -> None:
    write(tmp_path / "a-good.gguf")
    write(tmp_path / "b-mmproj.gguf", gguf({"general.architecture": "clip"}))
    write(tmp_path / "c-half.gguf", gguf()[:-100])
    write(tmp_path / "d-page.gguf", b"<html>")
    write(tmp_path / "not-a-model.txt", b"text")
    os.mkfifo(tmp_path / "e-pipe.gguf")
    (tmp_path / "f-gone.gguf").symlink_to(tmp_path / "nowhere")
    (tmp_path / "g-circle.gguf").symlink_to(tmp_path / "g-circle.gguf")
    found = [found for found in discover([tmp_path]) if found.source == "folder"]
    reasons = ["None", "projector", "incomplete", "a web page", "a named pipe", "No such file", "symbolic links"]
    assert len(found) == len(reasons)
    for each, reason in zip(found, reasons, strict=True):
        assert reason in str(each.error)
        assert (each.model is None) == (each.error is not None)


def test_split_models_and_linked_files_are_listed_once(tmp_path: Path) -> None:
    shards = write_shards(tmp_path, 3)
    single = write(tmp_path / "single.gguf", other_model(1))
    (tmp_path / "zz-link.gguf").symlink_to(single)
    (tmp_path / "zz-hard.gguf").hardlink_to(single)
    assert listing(tmp_path, tmp_path) == [("folder", str(shards[0])), ("folder", str(single))]


def test_a_split_model_without_its_first_shard_is_listed_with_what_is_missing(tmp_path: Path) -> None:
    write_shards(tmp_path, 3)[0].unlink()
    (found,) = [found for found in discover([tmp_path]) if found.source == "folder"]
    assert "big-00001-of-00003.gguf" in str(found.error)


def test_links_in_circles_end(tmp_path: Path) -> None:
    path = write(tmp_path / "deep" / "m.gguf")
    (tmp_path / "deep" / "up").symlink_to(tmp_path)
    assert [reference for _, reference in listing(tmp_path)] == [str(path)]


def test_the_walk_ends_at_a_depth_and_skips_hidden_folders(tmp_path: Path) -> None:
    near = write(tmp_path / "1/2/3/4/5/6/7/8" / "m.gguf")
    write(tmp_path / "1/2/3/4/5/6/7/8/9" / "m.gguf", other_model(1))
    write(tmp_path / ".hidden" / "m.gguf", other_model(2))
    assert listing(tmp_path) == [("folder", str(near))]


def test_a_given_folder_that_is_not_there_is_a_problem(tmp_path: Path) -> None:
    assert "absent could not be looked into. No such file" in problems(tmp_path / "absent")[0]


@pytest.fixture
def lock(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Make all folders of a name unreadable, also for a superuser, whom permissions do not bind."""
    scandir = os.scandir

    def lock_folders(name: str) -> None:
        def denied(folder: Path) -> object:
            if Path(folder).name == name:
                raise PermissionError(13, "Permission denied", str(folder))
            return scandir(folder)

        monkeypatch.setattr(os, "scandir", denied)

    return lock_folders


def test_a_folder_that_cannot_be_read_keeps_nothing_else_from_being_found(
    tmp_path: Path, lock: Callable[[str], None]
) -> None:
    good = write(tmp_path / "good" / "m.gguf")
    write(tmp_path / "locked" / "m.gguf")
    lock("locked")
    found = [found for found in discover([tmp_path]) if found.source == "folder"]
    assert [each.reference for each in found if each.model is not None] == [str(good)]
    assert [str(each.error) for each in found if each.error is not None] == [
        f"{tmp_path / 'locked'} could not be looked into. Permission denied."
    ]


def test_a_store_that_cannot_be_read_keeps_nothing_else_from_being_found(
    home: Path, lock: Callable[[str], None]
) -> None:
    hub = home / ".cache/huggingface/hub"
    hub_file(hub, "org/repo", "m.gguf", other_model(1))
    write(home / ".ollama/models/manifests/registry.ollama.ai/library/broken/latest", b"{")
    ollama_model(home / ".ollama/models", "library/fine:latest", other_model(2))
    lock("hub")
    found = {each.reference: str(each.error) for each in discover() if each.source != "demo"}
    assert list(found) == [str(hub), "ollama:broken:latest", "ollama:fine:latest"]
    assert found[str(hub)] == f"{hub} could not be looked into. Permission denied."
    assert "broken:latest is damaged" in found["ollama:broken:latest"]
    assert found["ollama:fine:latest"] == "None"


def test_folders_from_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = write(tmp_path / "a" / "m.gguf", other_model(1)), write(tmp_path / "b" / "m.gguf", other_model(2))
    monkeypatch.setenv("DECODESCOPE_MODELS", os.pathsep.join([str(first.parent), "", str(second.parent)]))
    assert listing() == [("folder", str(first)), ("folder", str(second))]


def test_lm_studio_keeps_its_home_elsewhere(home: Path, tmp_path: Path) -> None:
    path = write(tmp_path / "studio" / "models" / "publisher" / "repo" / "m.gguf")
    (home / ".lmstudio-home-pointer").write_text(f"{tmp_path / 'studio'}\n")
    assert listing() == [("lmstudio", str(path))]


@pytest.mark.parametrize("pointer", ["relative/path", "", "\0", "/nowhere", "x" * 10_000])
def test_a_pointer_that_leads_nowhere_is_harmless(home: Path, pointer: str) -> None:
    (home / ".lmstudio-home-pointer").write_text(pointer)
    assert listing() == []


def test_the_cache_of_llama_cpp_is_where_the_environment_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path / "org_repo_m.gguf")
    monkeypatch.setenv("LLAMA_CACHE", str(tmp_path))
    assert listing() == [("llama.cpp", str(path))]


def test_a_relative_folder_gives_references_that_are_paths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path / "demo.gguf", gguf(tiny_llama()))
    monkeypatch.chdir(tmp_path)
    (found,) = [found for found in discover([Path()]) if found.source == "folder"]
    assert found.reference == "./demo.gguf"
    assert resolve(found.reference) == found.model
