"""Where this machine keeps models: folders that environment variables and settings name, else programs' defaults."""

import os
from pathlib import Path

import msgspec

from .errors import ModelError, shown
from .user_folders import base_folder, expanded, home, own_folder, variable_of
from .walk import lost_link, not_looked_into

_OLLAMA_SERVICE_HOMES = (Path("/usr/share/ollama/.ollama"), Path("/var/lib/ollama/.ollama"), Path("/var/lib/ollama"))
_DEFAULT = "default"


class Place(msgspec.Struct, frozen=True):
    """A folder that is searched for models."""

    folder: Path
    named_by: str = _DEFAULT
    """The variable, or the setting and its file, that names the folder; else ``default``."""
    expected: bool = False
    """Whether it ought to exist: somebody named it, and no program creates it when needed."""
    note: str = ""
    """A sentence about a setting that could not be used, or empty."""

    def problem(self) -> ModelError | None:
        """Return why the folder cannot be searched; ``None`` if it can."""
        if os.path.isdir(self.folder):
            return None
        if (link := _dangling(self.folder)) is not None:
            return lost_link(self.folder, link)
        try:
            os.stat(self.folder)
        except (OSError, ValueError) as error:
            return not_looked_into(self.folder, error)
        return ModelError(f"{shown(self.folder)} could not be looked into.", "It is not a folder.")

    def is_merely_missing(self) -> bool:
        """Whether the only thing wrong with the folder is that no program has created it yet."""
        try:
            os.stat(self.folder)
        except FileNotFoundError:
            return not self.expected and _dangling(self.folder) is None
        except (OSError, ValueError):
            pass
        return False


def _dangling(folder: Path) -> Path | None:
    """Return the broken link at ``folder`` or above it; ``None`` if there is none."""
    return next(
        (path for path in (folder, *folder.parents) if os.path.islink(path) and not os.path.exists(path)),
        None,
    )


def named_folders() -> list[Place]:
    """Return the folders listed in ``DECODESCOPE_MODELS``."""
    variable = "DECODESCOPE_MODELS"
    entries = os.environ.get(variable, "").split(os.pathsep)
    return [Place(expanded(entry), variable, expected=True) for entry in entries if entry]


def huggingface_hub() -> Place | None:
    """Return the Hugging Face cache, as huggingface_hub looks for it; ``None`` for a user without a home."""
    for variable, below in (("HF_HUB_CACHE", ""), ("HUGGINGFACE_HUB_CACHE", ""), ("HF_HOME", "hub")):
        if value := os.environ.get(variable):
            return Place(expanded(os.path.expandvars(value)) / below, variable)
    cache = base_folder("cache", xdg=True)
    return None if cache is None else Place(cache / "huggingface" / "hub", variable_of("cache") or _DEFAULT)


def ollama_stores() -> list[Place]:
    """Return the folders where Ollama may keep its models: the one it was told, else the user's and the service's."""
    variable = "OLLAMA_MODELS"
    if value := os.environ.get(variable, "").strip().strip("\"'"):  # as Ollama itself reads it
        return [Place(expanded(value), variable, expected=True)]
    user = home()
    homes = ([] if user is None else [user / ".ollama"]) + list(_OLLAMA_SERVICE_HOMES)
    return [Place(folder / "models") for folder in homes]


def llama_cpp_cache() -> Place | None:
    """Return the folder into which llama.cpp's own programs download; ``None`` for a user without a home."""
    if value := os.environ.get("LLAMA_CACHE"):
        return Place(expanded(value), "LLAMA_CACHE")
    cache = base_folder("cache")
    return None if cache is None else Place(cache / "llama.cpp", variable_of("cache") or _DEFAULT)


def quantizations() -> Place | None:
    """Return the folder of what was quantized here; ``None`` for a user without a home."""
    cache = own_folder("cache")
    return None if cache is None else Place(cache / "quantized", variable_of("cache") or _DEFAULT)
