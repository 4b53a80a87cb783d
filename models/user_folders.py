"""Where this user's files belong: one rule for caches, settings and state, ours and those of other programs.

The rule is that of platformdirs, and so of the XDG Base Directory Specification: a variable counts only when it holds
an absolute path, and if ``HOME`` holds none, home is the system's entry for this user.
"""

import os
import pwd
from pathlib import Path
from typing import Literal

Kind = Literal["cache", "config", "state"]

_PROGRAM = "decodescope"
_VARIABLES: dict[Kind, str] = {"cache": "XDG_CACHE_HOME", "config": "XDG_CONFIG_HOME", "state": "XDG_STATE_HOME"}


def home() -> Path | None:
    """Return the home folder, an absolute path; ``None`` for a user without one.

    It is ``HOME``; if that is unset, empty or relative, the system's entry for this user.
    """
    named = os.environ.get("HOME", "")
    if not os.path.isabs(named):
        try:
            named = pwd.getpwuid(os.getuid()).pw_dir
        except KeyError:
            return None
    return Path(named) if os.path.isabs(named) else None


def expanded(path: str) -> Path:
    """Return ``path`` with a leading ``~`` or ``~user`` replaced; unchanged if there is no such home."""
    if path == "~" or path.startswith("~/"):
        folder = home()
        return Path(path) if folder is None else folder / path[2:].lstrip("/")
    return Path(os.path.expanduser(path))


def base_folder(kind: Kind, *, xdg: bool = False) -> Path | None:
    """Return the folder in which programs keep their files of a kind; ``None`` for a user without a home.

    ``xdg``: use the specification's default on macOS too, for programs that have no other.
    """
    # Not needed for a help text.
    from platformdirs import PlatformDirs
    from platformdirs.unix import Unix

    folders = Unix() if xdg else PlatformDirs()
    try:
        found: Path = getattr(folders, f"user_{kind}_path")
    except RuntimeError:  # there is no home
        return None
    return found if found.is_absolute() else None


def variable_of(kind: Kind) -> str | None:
    """Return the variable that names the folder of a kind; ``None`` if the default is in use."""
    variable = _VARIABLES[kind]
    return variable if os.path.isabs(os.environ.get(variable, "")) else None


def own_folder(kind: Kind) -> Path | None:
    """Return this program's folder of a kind, which need not be there; ``None`` for a user without a home."""
    base = base_folder(kind)
    return None if base is None else base / _PROGRAM


def oddities() -> list[str]:
    """Return what is wrong with the variables that name the folders, a sentence each."""
    said = []
    named = os.environ.get("HOME")
    if named is None or not os.path.isabs(named):
        how = "is not set" if named is None else "is empty" if not named else f"is a relative path ({named})"
        instead = home()
        said.append(
            f"HOME {how}: "
            + (f"the system's entry for this user is used, {instead}." if instead else "this user has no home folder.")
        )
    for variable in _VARIABLES.values():
        value = os.environ.get(variable, "")
        if value and not os.path.isabs(value):
            said.append(f"{variable} is a relative path ({value}): it is ignored, as the XDG specification requires.")
    return said
