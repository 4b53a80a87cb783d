"""Models that may be there: where they come from, what ``-m`` takes for them, and which file that is."""

from pathlib import Path
from typing import Literal

import msgspec

from .errors import ModelError

Source = Literal["demo", "folder", "huggingface", "ollama", "lmstudio", "llama.cpp", "quantized"]


def is_name(reference: str) -> bool:
    """Whether ``reference`` names a model rather than a path."""
    return reference == "demo" or reference.startswith(("hf:", "ollama:"))


class Candidate(msgspec.Struct, frozen=True):
    """A model that some place offers; its file has not been read yet."""

    source: Source
    reference: str
    """What ``-m`` takes."""
    file: Path | ModelError
    """The file, or why there is none."""
    name: str | None = None
    """What its place calls it, where the file's own name says nothing."""
