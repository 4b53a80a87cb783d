"""Where LM Studio keeps models: ``models`` in its home, or the ``downloadsFolder`` of its ``settings.json``."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import msgspec

from .errors import shown
from .places import Place
from .user_folders import base_folder, expanded, home

_KEY = "downloadsFolder"
_POINTER_LIMIT = 4096
_SETTINGS_LIMIT = 1 << 20
_BOM = b"\xef\xbb\xbf"
_Read = TypeVar("_Read")


class _Settings(msgspec.Struct):
    downloadsFolder: str | None = None


class _UnusableError(Exception):
    """A file of LM Studio that cannot be used; the text says why."""


def folders() -> list[Place]:
    """Return the folders in which LM Studio may keep its models, each once.

    Its home is named in ``~/.lmstudio-home-pointer``; else it is ``~/.lmstudio`` or, of older versions,
    ``~/.cache/lm-studio``. Settings are in its home, those of older versions in the user's folder of settings. The
    note of the last place names the files that cannot be used.
    """
    user = home()
    if user is None:
        return []
    pointer = user / ".lmstudio-home-pointer"
    homes = {user / ".lmstudio": "default", user / ".cache" / "lm-studio": "default"}
    notes: list[str] = []
    pointed = _noting(notes, pointer, _pointed)
    if pointed is not None and pointed not in homes:
        homes = {pointed: shown(pointer), **homes}
    places: list[Place] = []
    for folder, named_by in homes.items():
        places += _noting(notes, folder / "settings.json", _named_in) or []
        places.append(Place(folder / "models", named_by))
    if (config := base_folder("config")) is not None:
        places += _noting(notes, config / "LM Studio" / "settings.json", _named_in) or []
    once = {place.folder: place for place in reversed(places)}
    *others, last = reversed(once.values())
    return [*others, msgspec.structs.replace(last, note=" ".join(notes))]


def _noting(notes: list[str], path: Path, read: Callable[[Path], _Read]) -> _Read | None:
    """Return what is read from ``path``; ``None`` and a sentence in ``notes`` where it cannot be used."""
    try:
        return read(path)
    except _UnusableError as error:
        notes.append(f"{shown(path)} is not used: {error}")
        return None


def _named_in(settings: Path) -> list[Place]:
    named = _settings(settings).downloadsFolder
    if not named:
        return []
    folder = expanded(named)
    if not folder.is_absolute() or "\0" in named:
        raise _UnusableError(f"{_KEY} is not an absolute path ({shown(named)}).")
    return [Place(folder, f"{_KEY} in {shown(settings)}", expected=True)]


def _settings(path: Path) -> _Settings:
    data = _content(path, _SETTINGS_LIMIT)
    if data is None:
        return _Settings()
    try:
        return msgspec.json.decode(data.removeprefix(_BOM), type=_Settings)
    except msgspec.ValidationError as error:
        raise _UnusableError(f"{shown(str(error))}.") from error
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise _UnusableError(f"it is not JSON ({shown(str(error))}).") from error


def _pointed(path: Path) -> Path | None:
    data = _content(path, _POINTER_LIMIT)
    if data is None:
        return None
    folder = Path(os.fsdecode(data.strip()))
    if not folder.is_absolute() or "\0" in str(folder):
        raise _UnusableError("it does not hold an absolute path.")
    return folder


def _content(path: Path, limit: int) -> bytes | None:
    """Return the content of a file; ``None`` if it does not exist. Raises ``_UnusableError``."""
    if os.path.exists(path) and not os.path.isfile(path):
        raise _UnusableError("it is not a file.")
    try:
        with path.open("rb") as file:
            data = file.read(limit + 1)
    except (FileNotFoundError, NotADirectoryError):
        if os.path.islink(path):
            raise _UnusableError(f"it is a link to {shown(os.readlink(path))}, which does not exist.") from None
        return None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else None
        raise _UnusableError(f"{reason or error}.") from error
    if len(data) > limit:
        raise _UnusableError(f"it is longer than {limit:,} bytes.")
    return data
