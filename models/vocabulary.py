"""Whether two models speak of the same tokens, so that their probabilities can be compared."""

import hashlib
from functools import lru_cache
from pathlib import Path

from .errors import ModelError, shown
from .facts import ModelFile
from .header import stored_value

_TOKENS = "tokenizer.ggml.tokens"


def vocabulary_difference(one: ModelFile, other: ModelFile) -> str:
    """Return in words how their vocabularies differ; empty when each number stands for the same token in both.

    What else a tokenizer has (how it cuts text, which tokens are control tokens) may differ. Raises ``ModelError`` when
    a file cannot be read.
    """
    if one.path == other.path:
        return ""
    if one.vocabulary != other.vocabulary:
        return f"their vocabularies differ: {_count(one)} and {_count(other)}"
    return "" if _digest(one.path) == _digest(other.path) else f"their vocabularies of {_count(one)} differ"


def _count(model: ModelFile) -> str:
    return "no known number of tokens" if model.vocabulary is None else f"{model.vocabulary:,} tokens"


def _digest(path: Path) -> bytes:
    try:
        status = path.stat()
    except OSError as error:
        raise ModelError(
            f"{shown(path.name)} cannot be read.", error.strerror or str(error), f"Look at {shown(path)}."
        ) from error
    return _digest_of(path, status.st_ino, status.st_size, status.st_mtime_ns)


@lru_cache(maxsize=64)
def _digest_of(path: Path, _inode: int, _bytes: int, _changed_ns: int) -> bytes:
    return hashlib.blake2b(stored_value(path, _TOKENS) or b"", digest_size=16).digest()
