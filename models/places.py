"""Where this machine keeps models: environment variables first, then each program's own default."""

import os
from pathlib import Path

from .errors import ModelError, shown

_OLLAMA_SERVICE_HOMES = (Path("/usr/share/ollama/.ollama"), Path("/var/lib/ollama/.ollama"), Path("/var/lib/ollama"))
_POINTER_LIMIT = 4096


def home() -> Path | None:
    """Return the home folder, ``None`` for a user without one."""
    try:
        return Path.home()
    except RuntimeError:
        return None


def expanded(path: str) -> Path:
    """Return ``path`` with a leading ``~`` replaced; raises ``ModelError`` when there is no such home."""
    try:
        return Path(path).expanduser()
    except RuntimeError as error:
        raise ModelError(f"{shown(path)} cannot be found.", f"{error}", "Give the whole path.") from error


def named_folders() -> list[Path]:
    """Return the folders listed in ``DECODESCOPE_MODELS``."""
    return [expanded(entry) for entry in os.environ.get("DECODESCOPE_MODELS", "").split(os.pathsep) if entry]


def huggingface_hub() -> Path | None:
    """Return the Hugging Face cache, as huggingface_hub and llama.cpp look for it."""
    for variable in ("HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE"):
        if value := os.environ.get(variable):
            return expanded(value)
    if value := os.environ.get("HF_HOME"):
        return expanded(value) / "hub"
    cache = _cache_home()
    return None if cache is None else cache / "huggingface" / "hub"


def ollama_stores() -> list[Path]:
    """Return the folders where Ollama may keep its models: the one it was told, else the user's and the service's."""
    if value := os.environ.get("OLLAMA_MODELS"):
        return [expanded(value)]
    user = home()
    homes = ([] if user is None else [user / ".ollama"]) + list(_OLLAMA_SERVICE_HOMES)
    return [folder / "models" for folder in homes]


def lmstudio_folders() -> list[Path]:
    """Return the folders in which LM Studio may keep its models."""
    user = home()
    if user is None:
        return []
    homes = [user / ".lmstudio", user / ".cache" / "lm-studio"]
    pointer = user / ".lmstudio-home-pointer"
    if pointer.is_file() and pointer.stat().st_size <= _POINTER_LIMIT:
        pointed = Path(pointer.read_text("utf-8", "replace").strip())
        if pointed.is_absolute() and pointed not in homes:
            homes.insert(0, pointed)
    return [folder / "models" for folder in homes]


def llama_cpp_cache() -> Path | None:
    """Return the folder into which llama.cpp's own programs download."""
    if value := os.environ.get("LLAMA_CACHE"):
        return expanded(value)
    return _cache_of("llama.cpp")


def own_cache() -> Path | None:
    """Return the folder for what this program can make anew."""
    return _cache_of("decodescope")


def _cache_of(program: str) -> Path | None:
    if os.name == "posix" and "darwin" not in os.uname().sysname.lower():
        # What platformdirs says, which takes 9 ms to import.
        cache = _cache_home()
        return None if cache is None else cache / program
    import platformdirs

    return Path(platformdirs.user_cache_dir(program, appauthor=False, opinion=False))


def _cache_home() -> Path | None:
    if value := os.environ.get("XDG_CACHE_HOME"):
        return expanded(value)
    user = home()
    return None if user is None else user / ".cache"
