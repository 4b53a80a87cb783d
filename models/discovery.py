"""Lists the models of this machine without loading any."""

import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import msgspec

from . import huggingface, ollama
from .candidates import Candidate, Source
from .demo import find_demo
from .errors import ModelError
from .facts import ModelFile, read_model
from .places import llama_cpp_cache, lmstudio_folders, named_folders
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


def _offers(folders: Sequence[Path]) -> Iterator[Candidate]:
    from .quantized import quantized_folder  # only for who searches: it loads hashes

    demo = find_demo()
    if demo is not None:
        yield Candidate("demo", "demo", demo)
    yield from _guarded("folder", lambda: _below("folder", folders, must_exist=True))
    yield from _guarded("folder", lambda: _below("folder", named_folders(), must_exist=True))
    yield from _guarded("huggingface", huggingface.offered)
    yield from _guarded("ollama", ollama.offered)
    yield from _guarded("lmstudio", lambda: _below("lmstudio", lmstudio_folders()))
    yield from _guarded("llama.cpp", lambda: _below("llama.cpp", [llama_cpp_cache()]))
    yield from _guarded("quantized", lambda: _below("quantized", [quantized_folder()]))


def _guarded(source: Source, offers: Callable[[], Iterator[Candidate]]) -> Iterator[Candidate]:
    """Pass candidates on; a place that cannot be searched is listed and does not keep the others from being."""
    try:
        yield from offers()
    except ModelError as error:
        yield Candidate(source, source, error)
    except OSError as error:
        yield Candidate(source, str(error.filename or source), not_looked_into(Path(error.filename or source), error))


def _below(source: Source, roots: Sequence[Path | None], *, must_exist: bool = False) -> Iterator[Candidate]:
    for root in roots:
        if root is None or not (must_exist or root.exists()):
            continue
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
