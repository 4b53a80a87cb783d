"""From what a person types after ``-m`` to a model."""

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path

from . import huggingface, ollama
from .candidates import Candidate
from .demo import DEMO_REMEDY, demo_path, find_demo
from .discovery import Found, candidates, examine, path_reference
from .errors import ModelError, listed, shown
from .facts import ModelFile, read_model
from .user_folders import expanded
from .walk import find_gguf, not_looked_into

_SHOWN = 3
_COMPARED = 8
_CHOOSE = "`decodescope models` lists what is there; choose one with -m."


def resolve(reference: str | None, folders: Sequence[Path] = ()) -> ModelFile:
    """Return the model that ``reference`` names, its header read and found fit.

    A reference is ``demo``, ``hf:ORG/REPO[/FILE|:QUANTIZATION]``, ``ollama:NAME[:TAG]``, the path of a GGUF file (of
    any shard), or the path of a folder that holds one model. ``None`` stands for the only model in ``folders`` and
    this machine's stores, else the demo model. Raises ``ModelError`` when there is no such model or it cannot be used.
    """
    try:
        if reference is None:
            return _only_model(folders)
        if reference == "demo":
            return read_model(demo_path())
        if reference.startswith("hf:"):
            return huggingface.resolve(reference)
        if reference.startswith("ollama:"):
            return ollama.resolve(reference)
        return _at_path(reference, folders)
    except OSError as error:
        raise not_looked_into(Path(error.filename or reference or "."), error) from error


def is_name(reference: str) -> bool:
    """Whether ``reference`` names a model rather than a path."""
    return reference == "demo" or reference.startswith(("hf:", "ollama:"))


def only_model(folders: Sequence[Path] = ()) -> ModelFile | None:
    """Return the only model in ``folders`` and this machine's stores; ``None`` when there are several to choose from.

    The demo model counts where there is no other, what was quantized here never does. Raises ``ModelError`` when there
    is none that can be used.
    """
    usable = [found.model for found in islice((one for one in _own(folders) if one.model is not None), 2)]
    return None if len(usable) > 1 else resolve(None, folders) if not usable else usable[0]


def _own(folders: Sequence[Path]) -> Iterator[Found]:
    """Yield the models that a person has put there, as opposed to the demo model and what was made here."""
    return examine(one for one in candidates(folders) if one.source not in ("demo", "quantized"))


def _only_model(folders: Sequence[Path]) -> ModelFile:
    usable: list[Found] = []
    refused: list[Found] = []
    for found in _own(folders):
        (refused if found.model is None else usable).append(found)
        if len(usable) > 1 and find_demo() is not None:
            break  # more than one: which ones does not matter
    if len(usable) == 1 and usable[0].model is not None:
        return usable[0].model
    if find_demo() is not None:
        return read_model(demo_path())
    if usable:
        raise ModelError(
            f"There are {len(usable)} models, and none was chosen.",
            f"They are {listed([shown(found.reference) for found in usable])}.",
            "Choose one with -m.",
        )
    reason = "There is none in the given folders, the Hugging Face cache, Ollama's store or LM Studio's folder."
    if refused:
        reason = (
            f"None of the {len(refused)} that were found can be used: {shown(refused[0].reference)}: {refused[0].error}"
        )
    raise ModelError("There is no model to use.", reason, f"{DEMO_REMEDY} Or give the path of a GGUF file with -m.")


def _at_path(reference: str, folders: Sequence[Path]) -> ModelFile:
    if not reference.strip():
        raise ModelError("The name of the model is empty.", remedy=_CHOOSE)
    if re.match(r"https?://", reference, re.IGNORECASE):
        raise ModelError(
            f"{shown(reference)} is an address, not a model on this machine.",
            remedy="Download the file and give its path.",
        )
    path = expanded(reference)
    if os.path.isdir(path):
        return _in_folder(path)
    if os.path.lexists(path):
        return read_model(path)
    raise ModelError(f"There is no model '{shown(reference)}'.", *_advice(reference, path, folders))


def _in_folder(folder: Path) -> ModelFile:
    walk = find_gguf(folder)
    if not walk.models:
        if walk.problems:
            raise walk.problems[0]
        raise ModelError(f"There is no GGUF file in {shown(os.path.abspath(folder))} or below it.", remedy=_CHOOSE)
    usable: list[ModelFile] = []
    refused: list[ModelError] = []
    for path in walk.models:
        try:
            usable.append(read_model(path))
        except ModelError as error:
            refused.append(error)
    if not usable and len(refused) == 1:
        raise refused[0]
    if not usable:
        raise ModelError(
            f"None of the {len(refused)} GGUF files in {shown(os.path.abspath(folder))} can be used.",
            " ".join(error.what for error in refused[:_SHOWN]) + (" …" if len(refused) > _SHOWN else ""),
            f"`decodescope models {shown(folder)}` lists them with all reasons.",
        )
    if len(usable) > 1:
        references = [shown(path_reference(model.path)) for model in usable]
        raise ModelError(
            f"There are {len(usable)} models in {shown(os.path.abspath(folder))}.",
            f"They are {listed(references)}.",
            f"Choose one, as in -m {references[0]}",
        )
    return usable[0]


def _advice(reference: str, path: Path, folders: Sequence[Path]) -> tuple[str, str]:
    """Return reason and remedy for a reference that leads nowhere; only what can be used is suggested."""
    reason = "" if path.parent.is_dir() else f"The folder {shown(os.path.abspath(path.parent))} does not exist."
    for alike in _alike(reference, path, folders):
        near = list(islice(_usable(alike), _SHOWN))
        if near:
            return reason, f"Did you mean {' or '.join(map(shown, near))}?"
    return reason, _CHOOSE


def _usable(offers: Iterable[tuple[str, Candidate]]) -> Iterator[str]:
    seen: set[str] = set()
    for name, candidate in offers:
        if name not in seen and next(examine(iter([candidate]))).model is not None:
            seen.add(name)
            yield name


def _alike(reference: str, path: Path, folders: Sequence[Path]) -> Iterator[Iterable[tuple[str, Candidate]]]:
    """Yield groups of references, with the models they lead to, that may have been meant; the likeliest first."""
    from difflib import get_close_matches  # needed only here, and slow to load

    known = {candidate.reference: candidate for candidate in candidates(folders)}
    yield [
        (prefixed, candidate)
        for prefixed in (f"hf:{reference}", f"ollama:{reference}", f"ollama:{reference}:latest")
        for other, candidate in known.items()
        if other == prefixed or other.startswith(f"{prefixed}/")
    ]
    near = [(name, known[name]) for name in get_close_matches(reference, sorted(known), n=_COMPARED, cutoff=0.7)]
    if path.parent.is_dir():
        beside = [entry.name for entry in os.scandir(path.parent) if entry.name.lower().endswith(".gguf")]
        prefix = reference[: len(reference) - len(path.name)] if reference.endswith(path.name) else ""
        near += [
            (prefix + name, Candidate("folder", prefix + name, path.parent / name))
            for name in get_close_matches(path.name, beside, n=_COMPARED, cutoff=0.6)
        ]
    yield near
    by_name = {Path(other).name.lower(): other for other in known}
    names = get_close_matches(path.name.lower(), sorted(by_name), n=_COMPARED, cutoff=0.6)
    yield [(by_name[name], known[by_name[name]]) for name in names]
