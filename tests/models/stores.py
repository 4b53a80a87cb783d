"""Lays out the stores of other programs as they do themselves."""

import hashlib
import json
from pathlib import Path

from .gguf_files import gguf, tiny_llama, write

REVISION = "0123456789abcdef0123456789abcdef01234567"


def other_model(number: int) -> bytes:
    """Return a model whose bytes differ from those of every other number."""
    return gguf(tiny_llama(general__name=f"Number {number}"))


def hub_file(hub: Path, repo: str, file: str, content: bytes, revision: str = REVISION) -> Path:
    """Put a file into a Hugging Face cache: a blob, and a relative link to it in the snapshot."""
    folder = hub / f"models--{repo.replace('/', '--')}"
    blob = write(folder / "blobs" / hashlib.sha256(content).hexdigest(), content)
    (folder / "refs").mkdir(exist_ok=True)
    (folder / "refs" / "main").write_text(REVISION)
    link = folder / "snapshots" / revision / file
    link.parent.mkdir(parents=True, exist_ok=True)
    link.symlink_to(Path(*[".."] * (len(link.parent.relative_to(folder).parts)), "blobs", blob.name))
    return link


def ollama_model(
    store: Path, name: str, content: bytes, host: str = "registry.ollama.ai", digest: str | None = None
) -> Path:
    """Put a model named ``namespace/model:tag`` into an Ollama store; a wrong ``digest`` may be claimed for it."""
    sha = hashlib.sha256(content).hexdigest()
    blob = write(store / "blobs" / f"sha256-{sha}", content)
    path, tag = name.split(":")
    layers = [
        {"mediaType": "application/vnd.ollama.image.template", "digest": f"sha256:{'1' * 64}", "size": 1},
        {"mediaType": "application/vnd.ollama.image.model", "digest": digest or f"sha256:{sha}", "size": len(content)},
    ]
    manifest = {"schemaVersion": 2, "config": {"mediaType": "x", "digest": f"sha256:{'2' * 64}"}, "layers": layers}
    write(store / "manifests" / host / path / tag, json.dumps(manifest).encode())
    return blob
