"""Small files that the program itself rewrites, while other instances of it do the same."""

import contextlib
import fcntl
import os
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

_ATTEMPT_SECONDS = 0.01


@contextlib.contextmanager
def locked(path: Path, seconds: float = 2.0) -> Iterator[bool]:
    """Keep other instances from changing ``path`` meanwhile; yield whether that succeeded.

    It does not if the file system has no locks, the folder cannot be written, or another process, which may have been
    stopped, does not release the lock within ``seconds``. The lock is on a file beside ``path``, which stays there: one
    on ``path`` itself would be on a file that is about to be replaced. It ends with the process that holds it.
    """
    try:
        lock = os.open(path.with_name(f"{path.name}.lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError:
        yield False
        return
    try:
        yield _taken(lock, seconds)
    finally:
        os.close(lock)


def _taken(lock: int, seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while True:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= deadline:
                return False
            time.sleep(_ATTEMPT_SECONDS)
        except OSError:  # NFS without a lock server, and the like
            return False
        else:
            return True


def replace(path: Path, data: bytes) -> None:
    """Replace the file's content in one step, so that nobody ever reads half of it; only its owner can read it.

    A symbolic link stays one. Raises OSError.
    """
    path = Path(os.path.realpath(path))
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, aside = tempfile.mkstemp(dir=path.parent, prefix=f"{path.name}.")
    try:
        with open(descriptor, "wb") as file:
            file.write(data)
        os.replace(aside, path)
    except OSError:
        os.unlink(aside)
        raise
