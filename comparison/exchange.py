"""The private file in which the reference's distributions are handed over to the other lanes."""

import contextlib
import fcntl
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from ..models.sizes import size, told_apart

_PREFIX = "decodescope-scores-"
_ON_DISK = "/var/tmp"
"""By custom on a disk, where ``/tmp`` may be memory."""

Free = Callable[[str], int]


class NoRoomError(Exception):
    """There is no place for the file; the text says how much is missing where."""


class ExchangeFile:
    """A file that only this user can read, and that is gone when it is closed.

    It is locked for as long as this process lives; what is not locked was left by one that was killed, and is removed
    by the next one. Raises NoRoomError.
    """

    def __init__(self, needed: int, *, spooled: bool) -> None:
        """``needed``: bytes. ``spooled``: it is large and belongs on a disk."""
        folders = list(_folders(spooled))
        for folder in folders:
            remove_leftovers(Path(folder))
        folder = _roomy(folders, needed)
        try:
            self._descriptor, name = tempfile.mkstemp(prefix=_PREFIX, dir=folder)
        except OSError as error:
            raise NoRoomError(f"{folder} cannot be written: {error.strerror}") from error
        fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        self._name: str | None = name
        self.path = os.fsencode(name)
        try:
            _reserve(self._descriptor, needed)
        except OSError as error:
            self.close()
            raise NoRoomError(f"{folder} has no room for {size(needed)}: {error.strerror}") from error

    def close(self) -> None:
        """Remove the file. Harmless when repeated."""
        if self._name is not None:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(self._name)
            os.close(self._descriptor)
            self._name = None


def remove_leftovers(folder: Path) -> None:
    """Remove what killed processes of this user have left in ``folder``."""
    for path in folder.glob(f"{_PREFIX}*"):
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_NOFOLLOW)
        except OSError:  # another user's, or gone
            continue
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            path.unlink()
        except OSError:  # in use, or gone
            continue
        finally:
            os.close(descriptor)


def _reserve(descriptor: int, needed: int) -> None:
    """Take the room now, so that a full disk or a quota is known before the text is scored."""
    if needed and hasattr(os, "posix_fallocate"):
        os.posix_fallocate(descriptor, 0, needed)


def _folders(spooled: bool) -> Iterator[str]:
    if spooled and not os.environ.get("TMPDIR") and os.access(_ON_DISK, os.W_OK):
        yield _ON_DISK
    yield tempfile.gettempdir()


def _free(folder: str) -> int:
    return shutil.disk_usage(folder).free


def _roomy(folders: Iterable[str], needed: int) -> str:
    """Return the first folder with room. Raises NoRoomError, which names the one with the most."""
    found = [(_free(folder), folder) for folder in folders]
    for room, folder in found:
        if room >= needed:
            return folder
    room, folder = max(found)
    there, wanted = told_apart(room, needed) if room else (size(0), size(needed))
    raise NoRoomError(f"it needs {wanted} for a temporary file, and {folder} has {there} (TMPDIR names another folder)")
