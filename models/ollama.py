"""Ollama's store: ``manifests/HOST/NAMESPACE/MODEL/TAG`` is a JSON text whose layers name files in ``blobs``.

A digest from a manifest becomes a file name only when it is exactly a SHA-256.
"""

import re
from collections.abc import Iterator
from pathlib import Path

import msgspec

from .candidates import Candidate
from .errors import ModelError, listed, shown
from .facts import ModelFile, read_model
from .places import ollama_stores
from .walk import files, subfolders

_HOST = "registry.ollama.ai"
_NAMESPACE = "library"
_PART = r"[A-Za-z0-9_][A-Za-z0-9._-]*"
_REFERENCE = re.compile(
    rf"ollama:(?:(?:(?P<host>{_PART}(?::\d+)?)/)?(?P<namespace>{_PART})/)?(?P<model>{_PART})(?::(?P<tag>{_PART}))?"
)
_DIGEST = re.compile(r"sha256[:-]([0-9a-f]{64})")
_MODEL_LAYER = "application/vnd.ollama.image.model"
_ADAPTER_LAYER = "application/vnd.ollama.image.adapter"
_MANIFEST_LIMIT = 2**20


class _Layer(msgspec.Struct):
    mediaType: str = ""
    digest: str = ""


class _Manifest(msgspec.Struct):
    layers: list[_Layer] = []


def offered(store: Path) -> Iterator[Candidate]:
    """Yield all models in a store."""
    try:
        for path in _manifests(store):
            yield _candidate(store, path)
    except ModelError as error:
        yield Candidate("ollama", str(store), error)


def resolve(reference: str) -> ModelFile:
    """Return the model that ``ollama:[[HOST/]NAMESPACE/]MODEL[:TAG]`` names; the tag is ``latest`` unless given.

    Raises ``ModelError`` when no store has it or when it cannot be used.
    """
    match = _REFERENCE.fullmatch(reference)
    if match is None:
        raise ModelError(
            f"'{shown(reference)}' is not the name of a model in Ollama's store.",
            remedy="Write ollama:name or ollama:name:tag, as `ollama list` shows it.",
        )
    parts = (match["host"] or _HOST, match["namespace"] or _NAMESPACE, match["model"], match["tag"] or "latest")
    stores = [place.folder for place in ollama_stores()]
    for store in stores:
        manifest = store.joinpath("manifests", *parts)
        if manifest.is_file():
            candidate = _candidate(store, manifest)
            if isinstance(candidate.file, ModelError):
                raise candidate.file
            return read_model(candidate.file, candidate.name)
    tags = [
        candidate.reference
        for store in stores
        for candidate in offered(store)
        if candidate.reference.startswith(f"{_reference((*parts[:3], ''))}")
    ]
    raise ModelError(
        f"{shown(_reference(parts).removeprefix('ollama:'))} is not in Ollama's store.",
        f"There is {listed([shown(tag) for tag in tags])}."
        if tags
        else f"Looked in {listed([shown(store) for store in stores])}.",
        "Fetch it with `ollama pull`, or choose a model that `decodescope models` lists.",
    )


def _manifests(store: Path) -> Iterator[Path]:
    for host in subfolders(store / "manifests"):
        for namespace in subfolders(host):
            for model in subfolders(namespace):
                yield from files(model)


def _reference(parts: tuple[str, ...]) -> str:
    """Return the shortest reference to HOST, NAMESPACE, MODEL, TAG."""
    host, namespace, model, tag = parts
    if host != _HOST:
        return f"ollama:{host}/{namespace}/{model}:{tag}"
    return f"ollama:{model}:{tag}" if namespace == _NAMESPACE else f"ollama:{namespace}/{model}:{tag}"


def _candidate(store: Path, manifest: Path) -> Candidate:
    reference = _reference(manifest.relative_to(store / "manifests").parts)
    try:
        return Candidate("ollama", reference, _model_blob(store, manifest), reference.removeprefix("ollama:"))
    except ModelError as error:
        return Candidate("ollama", reference, error)


def _model_blob(store: Path, manifest: Path) -> Path:
    name = shown(manifest.parent.name + ":" + manifest.name)
    again = "Fetch it again with `ollama pull`."
    try:
        with manifest.open("rb") as file:
            layers = msgspec.json.decode(file.read(_MANIFEST_LIMIT), type=_Manifest).layers
    except OSError as error:
        raise ModelError(f"Ollama's manifest of {name} cannot be read.", f"{error.strerror}.") from error
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ModelError(f"Ollama's manifest of {name} is damaged.", f"{shown(str(error))}.", again) from error
    if any(layer.mediaType == _ADAPTER_LAYER for layer in layers):
        raise ModelError(
            f"Ollama's {name} is a base model with an adapter.",
            "Adapters are not supported.",
            "Choose the model that it builds on.",
        )
    digests = [layer.digest for layer in layers if layer.mediaType == _MODEL_LAYER]
    if len(digests) != 1:
        raise ModelError(
            f"Ollama's {name} is not kept as a single GGUF file.",
            f"Its manifest names {len(digests)} model files.",
            "Get the model as a GGUF file.",
        )
    digest = _DIGEST.fullmatch(digests[0])
    if digest is None:
        raise ModelError(
            f"Ollama's manifest of {name} is damaged.", f"'{shown(digests[0], 80)}' is not a digest.", again
        )
    blob = store / "blobs" / f"sha256-{digest[1]}"
    if not blob.exists():
        raise ModelError(f"Ollama's {name} is incomplete.", f"Its file {shown(blob)} is missing.", again)
    return blob
