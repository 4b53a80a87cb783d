import json
import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from decodescope.models.discovery import discover, survey
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


def _settings(folder: Path, content: str | bytes) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "settings.json").write_bytes(content if isinstance(content, bytes) else content.encode())


@pytest.mark.parametrize("below", [".lmstudio", ".cache/lm-studio", ".config/LM Studio", "elsewhere"])
@pytest.mark.skipif(sys.platform != "linux", reason="another folder of settings")
def test_lm_studios_settings_name_another_folder(home: Path, tmp_path: Path, below: str) -> None:
    path = write(tmp_path / "disk" / "publisher" / "repo" / "m.gguf")
    (home / ".lmstudio-home-pointer").write_text(str(home / "elsewhere"))
    _settings(home / below, '\ufeff{"other": [1], "downloadsFolder": ' + json.dumps(str(tmp_path / "disk")) + "}")
    assert listing() == [("lmstudio", str(path))]
    [looked_into] = [one for one in survey() if one.models]
    assert looked_into.place.folder == tmp_path / "disk"
    assert str(home / below / "settings.json") in looked_into.place.named_by


@pytest.mark.parametrize(
    "content",
    [
        "", "{", "[]", "null", '{"downloadsFolder": 3}', '{"downloadsFolder": ["/a"]}', '{"downloadsFolder": "a/b"}',
        b"\xff\xfe", "[" * 100_000, " " * 2_000_000, '{"downloadsFolder": "\\ud800"}',
    ],
)  # fmt: skip
def test_settings_of_lm_studio_that_are_broken_are_told_and_no_obstacle(home: Path, content: str | bytes) -> None:
    path = write(home / ".lmstudio" / "models" / "m.gguf")
    _settings(home / ".lmstudio", content)
    assert listing() == [("lmstudio", str(path))]
    [note] = [one.place.note for one in survey() if one.place.note]
    assert note.startswith(f"{home / '.lmstudio' / 'settings.json'} is not used: ")


@pytest.mark.parametrize("content", ["{}", '{"downloadsFolder": null}', '{"downloadsFolder": ""}'])
def test_settings_of_lm_studio_that_name_no_folder(home: Path, content: str) -> None:
    path = write(home / ".lmstudio" / "models" / "m.gguf")
    _settings(home / ".lmstudio", content)
    assert listing() == [("lmstudio", str(path))]
    assert not any(one.place.note for one in survey())


@pytest.mark.parametrize("what", ["a folder", "a dangling link", "a null character"])
def test_settings_of_lm_studio_that_are_no_file(home: Path, what: str) -> None:
    path = home / ".lmstudio" / "settings.json"
    path.parent.mkdir()
    if what == "a folder":
        path.mkdir()
    elif what == "a dangling link":
        path.symlink_to(home / "gone")
    else:
        (home / ".lmstudio-home-pointer").write_text("/a\0b")
    assert listing() == []
    assert len([one for one in survey() if one.place.note]) == 1


@pytest.mark.parametrize("where", ["itself", "above", "below"])
@pytest.mark.parametrize(
    ("source", "below"),
    [
        ("folder", "named"),
        ("huggingface", ".cache/huggingface/hub"),
        ("ollama", ".ollama/models"),
        ("lmstudio", ".lmstudio/models"),
        ("llama.cpp", ".cache/llama.cpp"),
        ("quantized", ".cache/decodescope/quantized"),
    ],
)
@pytest.mark.skipif(sys.platform != "linux", reason="other folders of caches")
def test_a_link_that_leads_nowhere_is_not_an_empty_folder(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, source: str, below: str, where: str
) -> None:
    if source == "folder":
        below = f"{below}/more"
        monkeypatch.setenv("DECODESCOPE_MODELS", str(home / below))
    if where == "below" and source in ("huggingface", "ollama"):
        pytest.skip("their folders have names of a kind")
    link = home / below
    link = {"itself": link, "above": link.parent, "below": link / "Model-2.5-7B"}[where]
    link.parent.mkdir(parents=True, exist_ok=True)
    link.symlink_to(tmp_path / "gone")
    listed = [(one.source, one.error.reason) for one in discover() if one.error is not None]
    assert (source, listed[0][1]) in listed
    assert str(tmp_path / "gone") in listed[0][1]
    [looked_into] = [one for one in survey() if one.source == source and one.place.folder == home / below]
    assert any(str(tmp_path / "gone") in problem for problem in looked_into.problems)


def test_what_is_looked_into_and_what_names_it(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OLLAMA_MODELS", f' "{tmp_path / "ollama"}" ')
    monkeypatch.setenv("HF_HOME", "$HOME/hf")
    monkeypatch.setenv("LLAMA_CACHE", str(tmp_path / "file"))
    monkeypatch.setenv("DECODESCOPE_MODELS", os.pathsep.join([str(tmp_path / "a"), str(tmp_path / "b")]))
    write(tmp_path / "a" / "m.gguf", other_model(1))
    write(tmp_path / "a" / "broken.gguf", b"x")
    (tmp_path / "b").mkdir()
    (tmp_path / "file").write_text("")
    hub_file(home / "hf" / "hub", "org/repo", "m.gguf", other_model(2))
    seen = {one.place.folder: one for one in survey()}
    assert [(seen[tmp_path / name].models, seen[tmp_path / name].problems) for name in "ab"] == [(2, ()), (0, ())]
    assert seen[home / "hf" / "hub"].models == 1
    assert seen[home / "hf" / "hub"].place.named_by == "HF_HOME"
    assert seen[tmp_path / "ollama"].place.named_by == "OLLAMA_MODELS"
    assert not seen[tmp_path / "ollama"].place.is_merely_missing()
    assert seen[home / ".lmstudio/models"].place.is_merely_missing()
    assert "not a folder" in seen[tmp_path / "file"].problems[0]


def test_llama_cpps_own_cache_may_be_laid_out_as_the_hugging_face_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LLAMA_CACHE", str(tmp_path))
    flat = write(tmp_path / "org_repo_m.gguf", other_model(1))
    linked = hub_file(tmp_path, "org/repo", "m.gguf", other_model(2))
    assert listing() == [("llama.cpp", "hf:org/repo/m.gguf"), ("llama.cpp", str(flat))]
    assert resolve("hf:org/repo").path == linked


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
