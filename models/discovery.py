"""Lists the models of this machine without loading any."""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path

import msgspec

from . import huggingface, lmstudio, ollama
from .candidates import Candidate, Source
from .demo import find_demo
from .errors import ModelError
from .facts import ModelFile, read_model
from .places import Place, huggingface_hub, llama_cpp_cache, named_folders, ollama_stores, quantizations
from .walk import find_gguf, not_looked_into


class Found(msgspec.Struct, frozen=True):
    """A model that was found, fit for use or not."""

    source: Source
    reference: str
    """What ``-m`` takes."""
    outcome: ModelFile | ModelError
    """The model, or why it is refused."""

    @property
    def model(self) -> ModelFile | None:
        """The model, ``None`` when it is refused."""
        return self.outcome if isinstance(self.outcome, ModelFile) else None

    @property
    def error(self) -> ModelError | None:
        """Why the model is refused, ``None`` when it is not."""
        return self.outcome if isinstance(self.outcome, ModelError) else None


def discover(folders: Sequence[Path] = ()) -> list[Found]:
    """Return the models of this machine, each once however many names lead to its file.

    Looks at the demo model, ``folders`` and those in ``DECODESCOPE_MODELS``, the Hugging Face cache, Ollama's store, LM
    Studio's folders, llama.cpp's cache and what was quantized here, in this order. What cannot be used is listed with
    its reason.
    """
    return list(examine(candidates(folders)))


def examine_files(paths: Sequence[Path]) -> list[Found]:
    """Return the models in these files, fit for use or not."""
    return list(examine(Candidate("folder", path_reference(path), path) for path in paths))


def examine(offers: Iterator[Candidate]) -> Iterator[Found]:
    """Read the header behind each candidate, one by one as they are asked for."""
    return map(look, offers)


def look(candidate: Candidate) -> Found:
    """Read the header behind a candidate."""
    outcome: ModelFile | ModelError
    try:
        outcome = (
            candidate.file if isinstance(candidate.file, ModelError) else read_model(candidate.file, candidate.name)
        )
    except ModelError as error:
        outcome = error
    return Found(candidate.source, candidate.reference, outcome)


def candidates(folders: Sequence[Path] = ()) -> Iterator[Candidate]:
    """Yield what may be a model, by the same order as ``discover``, without reading any file's header."""
    seen: set[tuple[int, int]] = set()
    for candidate in _offers(folders):
        if isinstance(candidate.file, Path) and (identity := _identity(candidate.file)) is not None:
            if identity in seen:
                continue
            seen.add(identity)
        yield candidate


class Survey(msgspec.Struct, frozen=True):
    """A place that was searched, and what is there."""

    source: Source
    place: Place
    models: int
    """How many models, usable or not; a split model counts once."""
    problems: tuple[str, ...]
    """Why nothing was found there, or not everything."""


def survey(folders: Sequence[Path] = ()) -> list[Survey]:
    """Return all places that ``discover`` searches, except the demo model's, with what is there; reads no headers."""
    surveyed = []
    for search in _searches(folders):
        problem = search.place.problem()
        found = list(_found(search)) if problem is None else []
        problems = [one.file for one in found if isinstance(one.file, ModelError)] if problem is None else [problem]
        surveyed.append(
            Survey(
                search.source,
                search.place,
                sum(isinstance(one.file, Path) for one in found),
                tuple(map(str, problems)),
            )
        )
    return surveyed


class _Search(msgspec.Struct, frozen=True):
    source: Source
    place: Place
    offered: Callable[[Path], Iterator[Candidate]]


def _searches(folders: Sequence[Path]) -> Iterator[_Search]:
    """Yield the places to search, in the order of ``discover``."""
    below = partial(_below, "folder")
    given = [Place(folder, "given", expected=True) for folder in folders]
    yield from (_Search("folder", place, below) for place in (*given, *named_folders()))
    if (hub := huggingface_hub()) is not None:
        yield _Search("huggingface", hub, huggingface.offered)
    yield from (_Search("ollama", store, ollama.offered) for store in ollama_stores())
    yield from (_Search("lmstudio", place, partial(_below, "lmstudio")) for place in lmstudio.folders())
    if (cache := llama_cpp_cache()) is not None:
        yield _Search("llama.cpp", cache, _in_llama_cpp_cache)
    if (made := quantizations()) is not None:
        yield _Search("quantized", made, partial(_below, "quantized"))


def _offers(folders: Sequence[Path]) -> Iterator[Candidate]:
    sources: list[tuple[str, Path]] = []
    demo = find_demo()
    if demo is not None:
        sources.append(("demo", demo))
        yield Candidate("demo", "demo", demo)
    for search in _searches(folders):
        problem = search.place.problem()
        if problem is None:
            for candidate in _named_after(sources, _found(search)) if search.source == "quantized" else _found(search):
                if isinstance(candidate.file, Path):
                    sources.append((candidate.reference, candidate.file))
                yield candidate
        elif not search.place.is_merely_missing():
            yield Candidate(search.source, path_reference(search.place.folder), problem)


def _found(search: _Search) -> Iterator[Candidate]:
    """Pass candidates on; a place that cannot be searched is listed and does not keep the others from being."""
    source = search.source
    try:
        yield from search.offered(search.place.folder)
    except ModelError as error:
        yield Candidate(source, source, error)
    except OSError as error:
        yield Candidate(source, str(error.filename or source), not_looked_into(Path(error.filename or source), error))


def _named_after(sources: Iterable[tuple[str, Path]], made: Iterable[Candidate]) -> Iterator[Candidate]:
    """Pass on what was quantized here, named after its source."""
    from .quantized import references  # only for a search: it loads hashes

    made = list(made)
    names = references([one.file for one in made if isinstance(one.file, Path)], sources)
    for one in made:
        known = names.get(one.file) if isinstance(one.file, Path) else None
        yield one if known is None else msgspec.structs.replace(one, reference=known)


def _in_llama_cpp_cache(folder: Path) -> Iterator[Candidate]:
    """Yield the files of older versions, which lie flat, and of newer ones, laid out like the Hugging Face cache."""
    yield from huggingface.offered(folder, "llama.cpp")
    yield from _below("llama.cpp", folder)


def _below(source: Source, root: Path) -> Iterator[Candidate]:
    walk = find_gguf(root)
    for path in walk.models:
        yield Candidate(source, path_reference(path), path)
    for problem in walk.problems:
        yield Candidate(source, path_reference(root), problem)


def path_reference(path: Path) -> str:
    """Return the text by which ``-m`` finds ``path``, whatever it is called."""
    text = str(path)
    return text if os.sep in text else os.path.join(os.curdir, text)


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        status = path.stat()
    except (OSError, ValueError):  # reading its header says why
        return None
    return status.st_dev, status.st_ino
