"""From what a person types after ``-m`` to a model."""

import os
import re
import shlex
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path

from . import huggingface, ollama
from .candidates import Candidate, is_name
from .demo import DEMO_REMEDY, demo_path, find_demo
from .discovery import Found, candidates, examine, path_reference
from .errors import ModelError, listed, shown
from .facts import ModelFile, read_model
from .suggestions import did_you_mean, nearest
from .user_folders import expanded
from .walk import find_gguf, not_looked_into

_SUGGESTED = 3
_SHOWN = 8
_COMPARED = 8
_TAKES_TAG = re.compile(r"hf:[^/:]+/[^/:]+|ollama:[^:]+")
"""Models after which ``:TYPE`` means, in the first place, another model of the same store."""
_CHOOSE = "`decodescope models` lists what is there; choose one with -m."


def resolve(reference: str | None, folders: Sequence[Path] = ()) -> ModelFile:
    """Return the model that ``reference`` names, its header read and found fit.

    A reference is ``demo``, ``hf:ORG/REPO[/FILE|:QUANTIZATION]``, ``ollama:NAME[:TAG]``, the path of a GGUF file (of
    any shard), or the path of a folder that holds one model. Followed by ``:TYPE``, it names the quantization that was
    made of that model here; a file or a tag of that very name comes first. ``None`` stands for the only model in
    ``folders`` and this machine's stores, else the demo model. Raises ``ModelError`` when there is no such model or it
    cannot be used.
    """
    try:
        if reference is None:
            return _only_model(folders)
        if (found := _named(reference)) is not None:
            return found
    except OSError as error:
        raise not_looked_into(Path(error.filename or reference or "."), error) from error
    raise ModelError(f"There is no model '{shown(reference)}'.", *_advice(reference, expanded(reference), folders))


def _named(reference: str) -> ModelFile | None:
    """Return the model that ``reference`` names; ``None`` for a path that leads nowhere."""
    if reference == "demo":
        return read_model(demo_path())
    if is_name(reference):
        try:
            return huggingface.resolve(reference) if reference.startswith("hf:") else ollama.resolve(reference)
        except ModelError:
            if (made := _made_here(reference)) is None:
                raise
            return made
    path = _path(reference)
    if os.path.isdir(path):
        return _in_folder(path)
    return read_model(path) if os.path.lexists(path) else _made_here(reference)


def _made_here(reference: str) -> ModelFile | None:
    """Return the quantization that ``MODEL:TYPE`` names; ``None`` for another form, and if MODEL is not there.

    Raises ``ModelError`` if MODEL is there but was not quantized to TYPE.
    """
    from .quantized import made_of, made_under, split_reference  # only where it is needed: it loads hashes

    split = split_reference(reference)
    if split is None:
        return None
    named, recipe = split
    try:
        source = _named(named)
    except ModelError:
        source = None
    if source is None:
        return made_under(named, recipe)
    made = made_of(source, recipe)
    if made is None and not _TAKES_TAG.fullmatch(named):
        raise ModelError(
            f"{shown(named)} has not been quantized to {recipe} here, or it has changed since then.",
            remedy=f"Make it: decodescope models quantize {shown(shlex.quote(named))} --to {recipe}",
        )
    return made


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
    reason = (
        "There is none in the given folders, the Hugging Face cache, Ollama's store or LM Studio's folder; "
        "`decodescope doctor` lists the folders that were searched, and why no model was found there."
    )
    if refused:
        reason = (
            f"None of the {len(refused)} that were found can be used: {shown(refused[0].reference)}: {refused[0].error}"
        )
    raise ModelError("There is no model to use.", reason, f"{DEMO_REMEDY} Or give the path of a GGUF file with -m.")


def _path(reference: str) -> Path:
    if not reference.strip():
        raise ModelError("The name of the model is empty.", remedy=_CHOOSE)
    if re.match(r"https?://", reference, re.IGNORECASE):
        raise ModelError(
            f"{shown(reference)} is an address, not a model on this machine.",
            remedy="Download the file and give its path.",
        )
    return expanded(reference)


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
            " ".join(error.what for error in refused[:_SHOWN])
            + (f" And {len(refused) - _SHOWN:,} more." if len(refused) > _SHOWN else ""),
            f"{_lister(folder)} lists them with all reasons.",
        )
    if len(usable) > 1:
        references = [shown(path_reference(model.path)) for model in usable]
        raise ModelError(
            f"There are {len(usable)} models in {shown(os.path.abspath(folder))}.",
            f"They are {listed(references, _SHOWN)}.",
            f"Choose one, as in -m {shown(shlex.quote(path_reference(usable[0].path)))}"
            + (f"; {_lister(folder)} lists them all." if len(usable) > _SHOWN else ""),
        )
    return usable[0]


def _lister(folder: Path) -> str:
    return f"`decodescope models {shown(shlex.quote(str(folder)))}`"


def _advice(reference: str, path: Path, folders: Sequence[Path]) -> tuple[str, str]:
    """Return reason and remedy for a reference that leads nowhere; only what can be used is suggested."""
    reason = "" if path.parent.is_dir() else f"The folder {shown(os.path.abspath(path.parent))} does not exist."
    for alike in _alike(reference, path, folders):
        near = list(islice(_usable(alike), _SUGGESTED))
        if near:
            return reason, did_you_mean([shown(name) for name in near])
    return reason, _CHOOSE


def _usable(offers: Iterable[tuple[str, Candidate]]) -> Iterator[str]:
    seen: set[str] = set()
    for name, candidate in offers:
        if name not in seen and next(examine(iter([candidate]))).model is not None:
            seen.add(name)
            yield name


def _alike(reference: str, path: Path, folders: Sequence[Path]) -> Iterator[Iterable[tuple[str, Candidate]]]:
    """Yield groups of references, with the models they lead to, that may have been meant; the likeliest first."""
    known = {candidate.reference: candidate for candidate in candidates(folders)}
    yield [
        (prefixed, candidate)
        for prefixed in (f"hf:{reference}", f"ollama:{reference}", f"ollama:{reference}:latest")
        for other, candidate in known.items()
        if other == prefixed or other.startswith(f"{prefixed}/")
    ]
    near = [(name, known[name]) for name in nearest(reference, sorted(known), most=_COMPARED, alike=0.7)]
    if path.parent.is_dir():
        beside = [entry.name for entry in os.scandir(path.parent) if entry.name.lower().endswith(".gguf")]
        prefix = reference[: len(reference) - len(path.name)] if reference.endswith(path.name) else ""
        near += [
            (prefix + name, Candidate("folder", prefix + name, path.parent / name))
            for name in nearest(path.name, sorted(beside), most=_COMPARED)
        ]
    yield near
    by_name = {Path(other).name: other for other in known}
    names = nearest(path.name, sorted(by_name), most=_COMPARED)
    yield [(by_name[name], known[by_name[name]]) for name in names]
