"""Files that are written anew: what is there already is kept, unless somebody says otherwise."""

import os
import stat
from pathlib import Path

from .errors import TraceError


def open_new(path: Path, *, overwrite: bool, refusal: str) -> int:
    """Return a descriptor to write to. Pipes and devices are written as they are.

    Raises TraceError for a file that is not empty, unless ``overwrite``, and, with ``refusal``, for one that cannot be
    opened.
    """
    try:
        try:
            return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
        except FileExistsError:
            found = path.stat()
            if stat.S_ISREG(found.st_mode) and found.st_size and not overwrite:
                raise TraceError(
                    f"There is a file {path} already.", remedy="Name another one, or add --overwrite."
                ) from None
            return os.open(path, os.O_WRONLY | os.O_TRUNC | os.O_CLOEXEC)
    except OSError as error:
        raise TraceError(refusal, error.strerror or str(error), "Name another file.") from error
