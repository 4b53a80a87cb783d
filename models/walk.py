"""Finds GGUF files below a folder."""

import os
import re
from collections.abc import Iterator
from pathlib import Path

import msgspec

from .errors import ModelError, shown
from .shards import one_per_model

_MAX_DEPTH = 8
_MAX_FOLDERS = 20_000
_FILE_SUFFIX = re.compile(r"\.[a-z][a-z0-9_]*$", re.IGNORECASE | re.ASCII)
"""Unlike what follows a dot in a model's name, as in ``Qwen2.5-7B``."""


class Walk(msgspec.Struct, frozen=True):
    """What lies below a folder."""

    models: tuple[Path, ...]
    """Files named ``.gguf``, sorted; of a split model the first shard."""
    problems: tuple[ModelError, ...]
    """Folders that could not be looked into."""


def find_gguf(root: Path) -> Walk:
    """Look for GGUF files in ``root`` and the folders below it.

    Follows symbolic links, enters no folder twice, no hidden folder and none more than eight levels down. A ``root``
    that is not there is a problem too.
    """
    found: list[Path] = []
    problems: list[ModelError] = []
    entered: set[tuple[int, int]] = set()
    pending = [(root, 0)]
    while pending:
        folder, depth = pending.pop()
        if len(entered) >= _MAX_FOLDERS:
            problems.append(
                ModelError(
                    f"Not all of {shown(root)} was looked into.",
                    f"It has more than {_MAX_FOLDERS:,} folders.",
                    "Name a folder further down.",
                )
            )
            break
        try:
            status = os.stat(folder)
            if (status.st_dev, status.st_ino) in entered:
                continue
            entered.add((status.st_dev, status.st_ino))
            with os.scandir(folder) as entries:
                for entry in entries:
                    if _is_folder(entry):
                        if depth < _MAX_DEPTH and not entry.name.startswith("."):
                            pending.append((folder / entry.name, depth + 1))
                    elif entry.name.lower().endswith(".gguf"):
                        found.append(folder / entry.name)
                    elif _is_lost_folder(entry):
                        problems.append(lost_link(folder / entry.name, folder / entry.name))
        except (OSError, ValueError) as error:
            problems.append(not_looked_into(folder, error))
    return Walk(tuple(one_per_model(found)), tuple(problems))


def subfolders(folder: Path) -> Iterator[Path]:
    """Yield the folders in ``folder``, sorted and without hidden ones; none when it does not exist.

    Raises ``ModelError`` when it exists and cannot be listed.
    """
    yield from (Path(folder, entry) for entry, is_folder in _visible_entries(folder) if is_folder)


def files(folder: Path) -> Iterator[Path]:
    """Yield the files in ``folder``, like ``subfolders``."""
    yield from (Path(folder, entry) for entry, is_folder in _visible_entries(folder) if not is_folder)


def _visible_entries(folder: Path) -> list[tuple[str, bool]]:
    try:
        with os.scandir(folder) as entries:
            return sorted((entry.name, _is_folder(entry)) for entry in entries if not entry.name.startswith("."))
    except (FileNotFoundError, NotADirectoryError):
        return []
    except (OSError, ValueError) as error:
        raise not_looked_into(folder, error) from error


def not_looked_into(folder: Path, error: Exception) -> ModelError:
    """Return the error for a folder that could not be listed."""
    reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return ModelError(f"{shown(folder)} could not be looked into.", f"{reason[:1].upper()}{reason[1:]}.")


def lost_link(folder: Path, link: Path) -> ModelError:
    """Return the error for a folder that could not be listed: ``link``, itself or one above it, leads nowhere."""
    itself = "It" if link == folder else shown(link)
    reason = f"{itself} is a link to {shown(os.readlink(link))}, which does not exist."
    return ModelError(f"{shown(folder)} could not be looked into.", reason)


def _is_lost_folder(entry: "os.DirEntry[str]") -> bool:
    """Whether a broken link used to lead to a folder, going by its name."""
    if not entry.is_symlink() or entry.name.startswith(".") or _FILE_SUFFIX.search(entry.name):
        return False
    return not os.path.exists(entry.path)


def _is_folder(entry: "os.DirEntry[str]") -> bool:
    try:
        return entry.is_dir()
    except OSError:  # a link that leads in circles or where nobody may look: reading it as a file says which
        return False
