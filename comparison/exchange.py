"""The private file in which the reference's distributions are handed over to the other lanes."""

import os
import shutil
import tempfile
from collections.abc import Callable, Iterable

from ..models.sizes import size, told_apart

_ON_DISK = "/var/tmp"
"""By custom on a disk, where ``/tmp`` may be memory."""

Free = Callable[[str], int]


class NoRoomError(Exception):
    """There is no place for the file; the text says how much is missing where."""


class ExchangeFile:
    """A file that only this user can read, and that is gone when it is closed. Raises NoRoomError."""

    def __init__(self, needed: int, *, spooled: bool, free: Free | None = None) -> None:
        """``needed``: bytes. ``spooled``: it is large and belongs on a disk."""
        folder = _roomy(_folders(spooled), needed, free or _free)
        try:
            descriptor, name = tempfile.mkstemp(prefix="decodescope-scores-", dir=folder)
        except OSError as error:
            raise NoRoomError(f"{folder} cannot be written: {error.strerror}") from error
        os.close(descriptor)
        self._name: str | None = name
        self.path = os.fsencode(name)

    def close(self) -> None:
        """Remove the file. Harmless when repeated."""
        if self._name is not None:
            os.unlink(self._name)
            self._name = None


def _folders(spooled: bool) -> Iterable[str]:
    if spooled and not os.environ.get("TMPDIR") and os.access(_ON_DISK, os.W_OK):
        yield _ON_DISK
    yield tempfile.gettempdir()


def _free(folder: str) -> int:
    return shutil.disk_usage(folder).free


def _roomy(folders: Iterable[str], needed: int, free: Free) -> str:
    """Return the first folder with room. Raises NoRoomError, which names the one with the most."""
    found = [(free(folder), folder) for folder in folders]
    for room, folder in found:
        if room >= needed:
            return folder
    room, folder = max(found)
    there, wanted = told_apart(room, needed) if room else (size(0), size(needed))
    raise NoRoomError(f"it needs {wanted} for a temporary file, and {folder} has {there} (TMPDIR names another folder)")
