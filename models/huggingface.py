"""The Hugging Face cache: ``models--ORG--REPO/snapshots/REVISION/FILE``, the revision named in ``refs/main``.

The text in ``refs/main`` is only compared with the revisions that are there, never used as a path.
"""

import re
from collections.abc import Iterator
from pathlib import Path

from .candidates import Candidate, Source
from .errors import ModelError, listed, shown
from .facts import ModelFile, read_model
from .places import huggingface_hub, llama_cpp_cache
from .shards import model_key
from .walk import find_gguf, subfolders

_NAME = r"[A-Za-z0-9_][A-Za-z0-9._-]*"
_REFERENCE = re.compile(rf"hf:(?P<repo>{_NAME}/{_NAME})(?::(?P<tag>[A-Za-z0-9._-]+)|/(?P<file>.+))?", re.DOTALL)
_REF_LIMIT = 1024


def offered(hub: Path, source: Source = "huggingface") -> Iterator[Candidate]:
    """Yield all GGUF models in a cache."""
    try:
        for folder in subfolders(hub):
            kind, *names = folder.name.split("--")
            if kind == "models" and names:
                yield from _offered_by(folder, "/".join(names) if len(names) == 2 else None, source)
    except ModelError as error:
        yield Candidate(source, str(hub), error)


def resolve(reference: str) -> ModelFile:
    """Return the model that ``hf:ORG/REPO``, ``hf:ORG/REPO/FILE`` or ``hf:ORG/REPO:QUANTIZATION`` names in the cache.

    Raises ``ModelError`` when it is not there, when several fit, or when it cannot be used.
    """
    match = _REFERENCE.fullmatch(reference)
    if match is None or not _is_plain(match["file"]):
        raise ModelError(
            f"'{shown(reference)}' is not the name of a model in the Hugging Face cache.",
            remedy="Write hf:organisation/repository, then perhaps /file.gguf or :quantization.",
        )
    repo = match["repo"]
    # llama.cpp's programs use the same layout, and may have a separate folder.
    hubs = [place.folder for place in (huggingface_hub(), llama_cpp_cache()) if place is not None]
    folders = [hub / f"models--{repo.replace('/', '--')}" for hub in hubs]
    found = next(filter(None, (list(_offered_by(folder, repo)) for folder in folders)), [])
    if not found:
        raise ModelError(
            f"{repo} is not in the Hugging Face cache.",
            f"Looked for GGUF files in {listed([shown(folder) for folder in folders])}."
            if folders
            else "There is no home folder.",
            f"Fetch it with `hf download {repo} FILE.gguf`, or choose a model that `decodescope models` lists.",
        )
    fitting = [candidate for candidate in found if _fits(candidate, repo, match["file"], match["tag"])]
    if not fitting:
        raise ModelError(
            f"{repo} has no such file in the Hugging Face cache.",
            f"There {'is' if len(found) == 1 else 'are'}: {_references(found)}.",
        )
    return _only(repo, fitting)


def _only(repo: str, fitting: list[Candidate]) -> ModelFile:
    usable: list[tuple[Candidate, ModelFile]] = []
    refused: list[ModelError] = []
    for candidate in fitting:
        try:
            if isinstance(candidate.file, ModelError):
                raise candidate.file
            usable.append((candidate, read_model(candidate.file)))
        except ModelError as error:
            refused.append(error)
    if not usable:
        raise refused[0]
    if len(usable) > 1:
        raise ModelError(
            f"{repo} has several models in the Hugging Face cache.",
            remedy=f"Name one: {_references([candidate for candidate, _ in usable])}.",
        )
    return usable[0][1]


def _references(found: list[Candidate]) -> str:
    return listed([shown(candidate.reference) for candidate in found])


def _is_plain(file: str | None) -> bool:
    """Tell whether a file's name within a repository stays within it."""
    if file is None:
        return True
    parts = file.split("/")
    return all(part not in ("", ".", "..") for part in parts) and "\\" not in file and "\0" not in file


def _fits(candidate: Candidate, repo: str, file: str | None, tag: str | None) -> bool:
    name = candidate.reference.removeprefix(f"hf:{repo}/")
    if file is not None:
        return model_key(name) == model_key(file)
    return tag is None or re.search(rf"(?:^|[._/-]){re.escape(tag)}(?:[./-]|$)", name, re.IGNORECASE) is not None


def _offered_by(folder: Path, repo: str | None, source: Source = "huggingface") -> Iterator[Candidate]:
    for snapshot in _snapshots(folder):
        walk = find_gguf(snapshot)
        for problem in walk.problems:
            yield Candidate(source, str(snapshot), problem)
        for path in walk.models:
            file = path.relative_to(snapshot).as_posix()
            yield Candidate(source, str(path) if repo is None else f"hf:{repo}/{file}", path)
        if walk.models:
            return


def _snapshots(folder: Path) -> list[Path]:
    """Return the revisions of a repository: the current one first, then the latest ones."""
    revisions = list(subfolders(folder / "snapshots"))
    current = _current_revision(folder)
    return sorted(revisions, key=lambda path: (path.name != current, -path.stat().st_mtime))


def _current_revision(folder: Path) -> str | None:
    ref = folder / "refs" / "main"
    if not ref.is_file() or ref.stat().st_size > _REF_LIMIT:
        return None
    return ref.read_text("utf-8", "replace").strip()
