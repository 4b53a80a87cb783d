"""The folder of quantizations that were made here: what they are called, and how they are written whole or not at all.

A file is named after its source, its type and the state of the source's files, so a source that has changed gets
another one. It is written under a name of its own in the same folder, locked for as long as its process lives, and
takes its final name when it is whole and on the disk. What is not locked any more was left by a process that died.

A person calls such a file ``MODEL:TYPE``, where MODEL refers to the source: ``demo:Q2_K``, ``my.gguf:Q4_K_M``.
"""

import contextlib
import fcntl
import hashlib
import os
import re
import secrets
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

import msgspec

from .candidates import is_name
from .errors import ModelError
from .facts import MADE_SUFFIX, ModelFile, read_model
from .places import quantizations
from .recipes import known_recipe
from .shards import files_of

_PARTIAL = re.compile(r"\.making-[0-9a-f]{16}\.part", re.ASCII)
_NAME_BYTES = 120


class Kept(msgspec.Struct, frozen=True):
    """A file in the folder."""

    path: Path
    bytes: int

    @property
    def made(self) -> "MadeName | None":
        """The parts of its name; ``None`` for a file that is not complete."""
        return made_name(self.path)


class MadeName(msgspec.Struct, frozen=True):
    """The parts of the name of a quantization."""

    stem: str
    """The source's name, as far as a file name can hold it."""
    recipe: str
    state: str
    """State of the source; see ``source_state``."""


def made_name(path: Path) -> MadeName | None:
    """Return the parts of the name of a file in the folder; ``None`` for one that was not made here."""
    match = MADE_SUFFIX.search(path.name.removesuffix(".gguf")) if path.name.endswith(".gguf") else None
    return None if match is None else MadeName(path.name[: match.start()], match["recipe"], match["state"])


def quantized_folder() -> Path | None:
    """Return the folder, which need not be there; ``None`` for a user without a home."""
    place = quantizations()
    return None if place is None else place.folder


def quantized_path(folder: Path, source: ModelFile, recipe: str) -> Path:
    """Return the file in which ``recipe`` made of ``source``, as it is now, is kept. Raises OSError."""
    stem = "".join(
        character if character.isprintable() and character not in "/\\" else "_" for character in source.name
    )
    stem = os.fsencode(stem.strip(". ") or "model")[:_NAME_BYTES].decode("utf-8", "ignore")
    origin = re.sub(r"\W", "_", source.quantization, flags=re.ASCII)
    path = folder / f"{stem}-{recipe}.from-{origin}.{source_state(source)}.gguf"
    assert MADE_SUFFIX.search(path.stem)
    return path


def source_state(source: ModelFile) -> str:
    """Return what changes when a file of ``source`` does: of path, size and time, 10 hexadecimal digits.

    Raises OSError.
    """
    return state_of(source.shards)


def state_of(shards: Iterable[Path]) -> str:
    """Return the same for the files of a model, in order. Raises OSError."""
    state = hashlib.sha256()
    for shard in shards:
        status = shard.stat()
        state.update(os.fsencode(os.path.realpath(shard)) + f"\0{status.st_size} {status.st_mtime_ns}\0".encode())
    return state.hexdigest()[:10]


def made_before(path: Path, recipe: str) -> ModelFile | None:
    """Return the model at ``path`` when it is there, whole, and what it is called."""
    if not path.exists():
        return None
    try:
        model = read_model(path)
    except ModelError:  # damaged by what is beyond our reach, such as the disk: it is made anew
        return None
    return model if model.quantization == recipe else None


def split_reference(reference: str) -> tuple[str, str] | None:
    """Return MODEL and the type of ``MODEL:TYPE``, in the spelling of ``recipes``; ``None`` for another form."""
    source, _, type = reference.rpartition(":")
    recipe = known_recipe(type)
    return (source, recipe) if source and recipe is not None else None


def made_of(source: ModelFile, recipe: str) -> ModelFile | None:
    """Return the quantization of ``source``, as it is now, to ``recipe``; ``None`` if there is none. Raises OSError."""
    state = source_state(source)
    return _first(lambda name: (name.recipe, name.state) == (recipe, state))


def made_under(stem: str, recipe: str) -> ModelFile | None:
    """Return the only quantization to ``recipe`` of a source of this name; ``None`` if there is not exactly one.

    For sources in folders that are not searched. Raises OSError.
    """
    return _first(lambda name: (name.stem, name.recipe) == (stem, recipe), only=True)


def _first(fits: Callable[[MadeName], bool], *, only: bool = False) -> ModelFile | None:
    folder = quantized_folder()
    paths = [one.path for one in (kept(folder) if folder else []) if one.made is not None and fits(one.made)]
    return None if not paths or (only and len(paths) > 1) else read_model(paths[0])


def references(paths: Sequence[Path], sources: Iterable[tuple[str, Path]]) -> dict[Path, str]:
    """Return the reference for each of ``paths``, files of the folder, if one leads to it.

    ``sources``: models that were found elsewhere, with their references.
    """
    names = {path: name for path in paths if (name := made_name(path)) is not None}
    known: dict[str, str] = {}
    for reference, path in sources if names else ():
        with contextlib.suppress(OSError):  # reading its header says why
            known.setdefault(state_of(files_of(path)), reference)
    called = Counter((name.stem, name.recipe) for name in names.values())
    return {
        path: f"{known.get(name.state, name.stem)}:{name.recipe}"
        for path, name in names.items()
        if name.state in known
        or (called[name.stem, name.recipe] == 1 and not is_name(name.stem) and not os.path.lexists(name.stem))
    }


class PartialFile:
    """A file being written. Raises OSError."""

    def __init__(self, folder: Path) -> None:
        while True:
            self.path = folder / f".making-{secrets.token_hex(8)}.part"
            self._descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o644)
            fcntl.flock(self._descriptor, fcntl.LOCK_EX)
            if _is(self.path, self._descriptor):
                return
            os.close(self._descriptor)  # taken for a leftover between the two calls

    def keep_as(self, path: Path) -> None:
        """Give the file its final name, once its content is on the disk; one of that name is replaced."""
        os.fsync(self._descriptor)
        os.replace(self.path, path)
        folder = os.open(path.parent, os.O_RDONLY | os.O_CLOEXEC)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
            os.close(self._descriptor)

    def discard(self) -> None:
        """Remove the file, unless it has got its final name. From any thread."""
        self.path.unlink(missing_ok=True)


def _is(path: Path, descriptor: int) -> bool:
    try:
        there, held = path.stat(), os.fstat(descriptor)
    except FileNotFoundError:
        return False
    return (there.st_dev, there.st_ino) == (held.st_dev, held.st_ino)


def kept(folder: Path) -> list[Kept]:
    """Return what was made, sorted by name. Raises OSError when the folder is there and cannot be read."""
    return sorted(
        _entries(folder, lambda name: name.endswith(".gguf") and MADE_SUFFIX.search(name[:-5]) is not None),
        key=lambda one: one.path.name,
    )


def leftovers(folder: Path) -> list[Kept]:
    """Return what processes that died in the middle have left. Raises OSError, as ``kept`` does."""
    return [one for one in _entries(folder, _is_partial) if _unlocked(one.path, remove=False)]


def being_made(folder: Path) -> list[Kept]:
    """Return what living processes are writing. Raises OSError, as ``kept`` does."""
    return [one for one in _entries(folder, _is_partial) if not _unlocked(one.path, remove=False)]


def remove_leftovers(folder: Path) -> None:
    """Remove what processes that died in the middle have left. Raises OSError, as ``kept`` does."""
    for one in _entries(folder, _is_partial):
        _unlocked(one.path, remove=True)


def _is_partial(name: str) -> bool:
    return _PARTIAL.fullmatch(name) is not None


def _entries(folder: Path, wanted: Callable[[str], bool]) -> Iterator[Kept]:
    try:
        names = [name for name in os.listdir(folder) if wanted(name)]
    except FileNotFoundError:
        return
    for name in names:
        with contextlib.suppress(FileNotFoundError):  # gone meanwhile
            yield Kept(folder / name, (folder / name).stat().st_size)


def _unlocked(path: Path, *, remove: bool) -> bool:
    """Whether no process holds the file; if so it is removed on demand, while nobody else can take it."""
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if remove:
            path.unlink(missing_ok=True)
    except BlockingIOError:
        return False
    finally:
        os.close(descriptor)
    return True
