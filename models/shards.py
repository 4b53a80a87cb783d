"""Models that are split over several files, named as llama.cpp's gguf-split does: ``name-00001-of-00003.gguf``."""

import re
from collections.abc import Iterable
from pathlib import Path

from .errors import FETCH_ANEW, ModelError, listed, shown
from .header import Header, read_header

_SHARD_NAME = re.compile(r"(?P<stem>.+)-(?P<number>\d{5})-of-(?P<count>\d{5})(?P<suffix>\.gguf)", re.I | re.A | re.S)
_MAX_SHARDS = 4096


def read_shards(path: Path) -> tuple[Header, ...]:
    """Read the headers of all files of the model at ``path``, which may be any of its shards; the first one first.

    Raises ``ModelError`` when a file is missing, cannot be read, or belongs to another model.
    """
    header = read_header(path)
    count = header.integer("split.count")
    if count is None or count <= 1:
        return (header,)
    if count > _MAX_SHARDS:
        raise ModelError(
            f"{shown(path.name)} is damaged.",
            f"Its header claims that it is one of {count:,} parts; {_MAX_SHARDS:,} are possible.",
            FETCH_ANEW,
        )
    paths = _shard_paths(path, count)
    missing = [shown(shard.name) for shard in paths if not shard.exists()]
    if missing:
        raise ModelError(
            f"{shown(path.name)} is one of {count} parts, and {len(missing)} of them "
            f"{'is' if len(missing) == 1 else 'are'} missing.",
            f"Not in {shown(path.parent)}: {listed(missing)}.",
            "Put all parts of the model into one folder.",
        )
    headers = tuple(header if shard == path else read_header(shard) for shard in paths)
    for number, shard in enumerate(headers):
        if shard.integer("split.count") != count or shard.integer("split.no") != number:
            raise ModelError(
                f"{shown(shard.path.name)} is not part {number + 1} of {count} of this model.",
                "Its header says otherwise than its name.",
                "Copy or download all parts anew.",
            )
    return headers


def _shard_paths(path: Path, count: int) -> list[Path]:
    match = _SHARD_NAME.fullmatch(path.name)
    if match is None or int(match["count"]) != count:
        raise ModelError(
            f"{shown(path.name)} is one of {count} parts, but its name does not say which.",
            "The parts are found by their names.",
            f"Give it the name it came with, like name-00001-of-{count:05d}.gguf, and put all parts into one folder.",
        )
    return [
        path.with_name(f"{match['stem']}-{number:05d}-of-{match['count']}{match['suffix']}")
        for number in range(1, count + 1)
    ]


def files_of(path: Path) -> list[Path]:
    """Return all files of the model at ``path``, going by its name; does not check whether they exist."""
    match = _SHARD_NAME.fullmatch(path.name)
    count = 1 if match is None else int(match["count"])
    return _shard_paths(path, count) if 1 < count <= _MAX_SHARDS else [path]


def without_shard_number(name: str) -> str:
    """Return a file name without its suffix ``.gguf`` and its shard number."""
    match = _SHARD_NAME.fullmatch(name)
    if match:
        return match["stem"]
    return name[: -len(".gguf")] if name.lower().endswith(".gguf") else name


def model_key(name: str) -> tuple[str, str]:
    """Return what is the same for all shards of one model and differs between models."""
    match = _SHARD_NAME.fullmatch(name)
    return (name, "") if match is None else (match["stem"], match["count"])


def one_per_model(paths: Iterable[Path]) -> list[Path]:
    """Return ``paths`` sorted, of split models only the lowest-numbered shard that is there."""
    models: dict[tuple[Path, str, str], Path] = {}
    for path in sorted(paths):
        models.setdefault((path.parent, *model_key(path.name)), path)
    return sorted(models.values())
