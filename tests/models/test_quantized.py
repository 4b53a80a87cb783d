"""The folder of quantizations: names, whole files, leftovers."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from decodescope.models.discovery import discover
from decodescope.models.errors import ModelError
from decodescope.models.facts import ModelFile, read_model
from decodescope.models.quantized import (
    PartialFile,
    being_made,
    kept,
    leftovers,
    made_before,
    quantized_folder,
    quantized_path,
    remove_leftovers,
)
from decodescope.models.recipes import RECIPES
from decodescope.models.references import only_model, resolve

from .gguf_files import gguf, tiny_llama, write, write_shards
from .stores import hub_file, ollama_model, other_model


@pytest.fixture
def source(tmp_path: Path) -> ModelFile:
    return read_model(write(tmp_path / "models" / "Tiny-F16.gguf"))


def test_a_name_tells_type_and_source(source: ModelFile, tmp_path: Path) -> None:
    path = quantized_path(tmp_path, source, "Q2_K")
    assert path.parent == tmp_path
    assert path.name.startswith("Tiny-Q2_K.from-Q4_0.")
    assert quantized_path(tmp_path, source, "Q2_K") == path


def test_the_same_name_elsewhere_is_another_source(source: ModelFile, tmp_path: Path) -> None:
    other = read_model(write(tmp_path / "others" / "Tiny-F16.gguf"))
    assert quantized_path(tmp_path, source, "Q2_K") != quantized_path(tmp_path, other, "Q2_K")


def test_a_changed_source_is_another_source(source: ModelFile, tmp_path: Path) -> None:
    before = quantized_path(tmp_path, source, "Q2_K")
    os.utime(source.path, ns=(1, 1))
    assert quantized_path(tmp_path, source, "Q2_K") != before


def test_a_link_to_a_source_is_the_source(source: ModelFile, tmp_path: Path) -> None:
    link = tmp_path / "Tiny-F16.gguf"
    link.symlink_to(source.path)
    assert quantized_path(tmp_path, read_model(link), "Q2_K") == quantized_path(tmp_path, source, "Q2_K")


@pytest.mark.parametrize("name", ["../../etc", "a\x1b[2J/b\n", "..", " ", "n" * 500, "日本語" * 100, "\udcff"])
def test_odd_names_stay_in_the_folder(source: ModelFile, tmp_path: Path, name: str) -> None:
    path = quantized_path(tmp_path, msgspec.structs.replace(source, name=name, quantization="type 99/"), "Q2_K")
    assert path.parent == tmp_path
    assert path.name.isprintable()
    assert len(os.fsencode(path.name)) < 200
    path.touch()


def test_a_file_has_its_name_only_when_it_is_whole(source: ModelFile, tmp_path: Path) -> None:
    folder = tmp_path / "kept"
    folder.mkdir()
    path = quantized_path(folder, source, "Q4_0")
    partial = PartialFile(folder)
    assert partial.path.name.endswith(".part")
    assert (kept(folder), [one.path for one in being_made(folder)]) == ([], [partial.path])
    assert leftovers(folder) == []
    remove_leftovers(folder)
    shutil.copyfile(source.path, partial.path)
    partial.keep_as(path)
    partial.discard()
    assert [one.path for one in kept(folder)] == [path]
    assert made_before(path, "Q4_0") is not None
    assert made_before(path, "Q2_K") is None


def test_a_damaged_file_counts_as_none(source: ModelFile, tmp_path: Path) -> None:
    path = quantized_path(tmp_path, source, "Q4_0")
    path.write_bytes(source.path.read_bytes()[:-1])
    assert made_before(path, "Q4_0") is None


def test_what_a_dead_process_left_is_removed(tmp_path: Path) -> None:
    program = "import os, sys\nfrom pathlib import Path\nfrom decodescope.models.quantized import PartialFile\n"
    program += "PartialFile(Path(sys.argv[1])).path.write_bytes(bytes(5))\nos._exit(0)"
    subprocess.run([sys.executable, "-c", program, str(tmp_path)], check=True)
    living = PartialFile(tmp_path)
    assert [one.bytes for one in leftovers(tmp_path)] == [5]
    remove_leftovers(tmp_path)
    assert [one.path for one in being_made(tmp_path)] == [living.path]
    assert leftovers(tmp_path) == []
    living.discard()


def test_two_at_once_end_with_one_whole_file(source: ModelFile, tmp_path: Path) -> None:
    path = quantized_path(tmp_path, source, "Q4_0")
    first, second = PartialFile(tmp_path), PartialFile(tmp_path)
    assert first.path != second.path
    for one in (first, second):
        shutil.copyfile(source.path, one.path)
        one.keep_as(path)
        assert made_before(path, "Q4_0") is not None
    assert [one.name for one in tmp_path.glob("*") if one.is_file()] == [path.name]


def test_a_folder_that_is_not_there_is_empty(tmp_path: Path) -> None:
    nowhere = tmp_path / "nowhere"
    assert (kept(nowhere), leftovers(nowhere), being_made(nowhere)) == ([], [], [])
    remove_leftovers(nowhere)


def test_other_files_are_nobodys_business(tmp_path: Path) -> None:
    write(tmp_path / "mine.gguf")
    assert kept(tmp_path) == []


def test_what_was_made_is_found_with_its_origin(source: ModelFile) -> None:
    folder = quantized_folder()
    assert folder is not None
    path = quantized_path(folder, source, "Q2_K")
    write(path, gguf(tiny_llama(decodescope__requantized_from="Q4_1", general__file_type=10)))
    (found,) = (one for one in discover() if one.source == "quantized")
    assert found.model is not None
    assert (found.model.name, found.model.quantization) == ("Tiny", "Q2_K")
    assert found.model.requantized_from == "Q4_1"


@pytest.mark.usefixtures("without_demo")
def test_what_was_made_is_never_chosen_unasked(source: ModelFile, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = quantized_folder()
    assert folder is not None
    write(quantized_path(folder, source, "Q2_K"))
    with pytest.raises(ModelError, match="no model"):
        only_model()
    monkeypatch.setenv("DECODESCOPE_MODELS", str(source.path.parent))
    assert only_model() == resolve(None) == resolve(str(source.path))


# What people call them


def _made(source: ModelFile, recipe: str) -> Path:
    """Put something of that type where it would be."""
    folder = quantized_folder()
    assert folder is not None
    return write(quantized_path(folder, source, recipe), gguf(tiny_llama(general__file_type=RECIPES[recipe])))


def _listed() -> dict[str, Path]:
    return {one.reference: one.model.path for one in discover() if one.source == "quantized" and one.model is not None}


def test_a_quantization_is_called_after_its_source(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, demo_file: Path
) -> None:
    monkeypatch.setenv("DECODESCOPE_MODELS", str(tmp_path / "named"))
    sources = {
        "demo": demo_file,
        str(tmp_path / "named/My-F16.gguf"): write(tmp_path / "named/My-F16.gguf", other_model(1)),
        "hf:org/repo/m.gguf": hub_file(home / ".cache/huggingface/hub", "org/repo", "m.gguf", other_model(2)),
        "ollama:llama3:8b": ollama_model(home / ".ollama/models", "library/llama3:8b", other_model(3)),
        "Else": write(tmp_path / "elsewhere/Else-F16.gguf", other_model(4)),
    }
    made = {f"{name}:Q2_K": _made(read_model(path), "Q2_K") for name, path in sources.items()}
    assert _listed() == made
    assert {name: resolve(name).path for name in made} == made
    assert resolve("demo:q2_k").path == made["demo:Q2_K"]
    monkeypatch.chdir(tmp_path)
    assert resolve("elsewhere:Q2_K").path == resolve("elsewhere/Else-F16.gguf:Q2_K").path == made["Else:Q2_K"]


def test_of_a_split_model_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shards = write_shards(tmp_path / "split", 2)
    monkeypatch.setenv("DECODESCOPE_MODELS", str(tmp_path / "split"))
    path = _made(read_model(shards[0]), "Q4_0")
    assert _listed() == {f"{shards[0]}:Q4_0": path}
    assert resolve(f"{shards[1]}:Q4_0").path == path


def test_what_was_not_made_says_how(source: ModelFile) -> None:
    with pytest.raises(ModelError) as refused:
        resolve(f"{source.path}:q4_k")
    assert refused.value.remedy == f"Make it: decodescope models quantize {source.path} --to Q4_K_M"
    _made(source, "Q4_K_M")
    assert resolve(f"{source.path}:q4_k").quantization == "Q4_K_M"
    os.utime(source.path, ns=(1, 1))
    with pytest.raises(ModelError, match="changed since"):
        resolve(f"{source.path}:Q4_K_M")


def test_what_is_really_called_so_comes_first(
    source: ModelFile, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = write(Path(f"{source.path}:Q2_K"), other_model(1))
    _made(source, "Q2_K")
    assert resolve(str(file)).path == file
    hub, store = home / ".cache/huggingface/hub", home / ".ollama/models"
    first = hub_file(hub, "org/repo", "m-F16.gguf", other_model(2))
    tagged = hub_file(hub, "org/repo", "m-Q2_K.gguf", other_model(3))
    _made(read_model(first), "Q2_K")
    assert resolve("hf:org/repo:Q2_K").path == tagged
    ollama = ollama_model(store, "library/llama3:Q2_K", other_model(4))
    latest = ollama_model(store, "library/llama3:latest", other_model(5))
    made = _made(read_model(latest), "Q2_K")
    assert resolve("ollama:llama3:Q2_K").path == ollama
    assert resolve("ollama:llama3:latest:Q2_K").path == made
    with pytest.raises(ModelError, match="is not in Ollama's store"):
        resolve("ollama:llama3:Q4_0")
    with pytest.raises(ModelError, match="has no such file in the Hugging Face cache"):
        resolve("hf:org/repo:Q4_0")


def test_two_that_would_be_called_the_same_are_listed_by_their_files(tmp_path: Path) -> None:
    paths = [_made(read_model(write(tmp_path / name / "Tiny-F16.gguf")), "Q2_K") for name in ("a", "b")]
    assert sorted(_listed()) == sorted(map(str, paths))
    with pytest.raises(ModelError, match="There is no model 'Tiny:Q2_K'"):
        resolve("Tiny:Q2_K")


@pytest.mark.parametrize("name", ["demo", "hf:x", "ollama:y"])
def test_a_source_that_is_called_like_another_model(source: ModelFile, name: str) -> None:
    path = _made(msgspec.structs.replace(source, name=name), "Q2_K")
    assert _listed() == {str(path): path}


def test_a_misspelt_type_is_suggested(source: ModelFile, demo_file: Path) -> None:
    _made(read_model(demo_file), "Q2_K")
    with pytest.raises(ModelError) as refused:
        resolve("demo:Q2K")
    assert refused.value.remedy == "Did you mean demo:Q2_K?"
