"""The file of defaults: TOML, its keys the long names of the flags."""

import codecs
import json
import os
import re
from pathlib import Path
from typing import Any

import msgspec

from ..models.suggestions import did_you_mean, nearest
from ..models.user_folders import expanded, own_folder

VARIABLE = "DECODESCOPE_CONFIG"
"""Names another file than the one in the platform's folder."""
OTHER_NAMES = {"predict": "n-predict", "gpu-layers": "n-gpu-layers"}
"""Second long names of flags, and the keys that they stand for."""

_REPEATED = ("model", "stop")
"""Flags that can be given several times."""
_LIMIT = 1024 * 1024
_REMEDY = "Correct it there; decodescope config --example prints a file that works."

Value = str | int | float | bool
"""A setting as it is written in TOML; the flag's own type decides what it means, and which words it takes."""
_Number = int | float | str
"""In quotes as well, as on the command line."""
_Texts = str | tuple[str, ...]
_EXPECTED: dict[Any, str] = {
    str | None: "a text in quotes",
    _Texts | None: "a text in quotes or a list of such",
    _Number | None: "a number",
    bool | None: "true or false",
    Value | None: "a text in quotes",
}
_SHOWN = 60
"""Most characters that are shown of a wrong value."""


class Defaults(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, rename="kebab"):
    """The settings that a file can hold, under the flags' long names; ``None``: not in the file."""

    model: str | None = None
    system_prompt: str | None = None
    raw: bool | None = None
    n_predict: _Number | None = None
    stop: _Texts | None = None
    ctx_size: _Number | None = None
    batch_size: _Number | None = None
    ubatch_size: _Number | None = None
    threads: _Number | None = None
    threads_batch: _Number | None = None
    n_gpu_layers: _Number | None = None
    flash_attn: Value | None = None
    cache_type_k: Value | None = None
    cache_type_v: Value | None = None
    repack: bool | None = None
    seed: _Number | None = None
    temp: _Number | None = None
    top_k: _Number | None = None
    top_p: _Number | None = None
    min_p: _Number | None = None
    repeat_penalty: _Number | None = None
    repeat_last_n: _Number | None = None
    ignore_eos: bool | None = None
    theme: str | None = None
    fps: _Number | None = None
    low_bandwidth: bool | None = None


KEYS: tuple[str, ...] = Defaults.__struct_encode_fields__
"""The keys, in the order of the flags."""


class ConfigError(Exception):
    """The file cannot be used; the text says where, why and what to do."""


class ConfigFile(msgspec.Struct, frozen=True):
    """What was found at ``path``."""

    path: Path
    exists: bool = False
    defaults: Defaults = Defaults()
    lines: dict[str, int] = {}
    """The line of a key, from 1, where it is certain."""

    @property
    def arguments(self) -> dict[str, str | tuple[str, ...]]:
        """The settings of the file as the flags take them: in words."""
        values = msgspec.to_builtins(self.defaults)
        listed = {key: (values[key],) for key in _REPEATED if isinstance(values.get(key), Value)}
        return {key: _in_words(value) for key, value in {**values, **listed}.items()}

    def place(self, key: str) -> str:
        """Say where ``key`` is set."""
        line = self.lines.get(key)
        return f"'{key}' in {self.path}" + ("" if line is None else f", line {line}")


def config_path(named: str | None) -> Path:
    """Return the file: ``named``, or the one in the user's folder; an empty one for a user without a home."""
    if named is not None:
        return expanded(named)
    folder = own_folder("config")
    return Path(os.devnull) if folder is None else folder / "config.toml"


def read_config(named: str | None) -> ConfigFile:
    """Read the file. Only one that was named has to exist. Raises ConfigError."""
    path = config_path(named)
    try:
        with path.open("rb") as file:
            data = file.read(_LIMIT + 1)
    except (FileNotFoundError, NotADirectoryError) as error:
        if named is None:
            return ConfigFile(path)
        raise ConfigError(f"There is no file {path}, which {VARIABLE} or --config names.") from error
    except OSError as error:
        raise ConfigError(f"The settings in {path} cannot be read: {error.strerror or error}.") from error
    if len(data) > _LIMIT:
        raise ConfigError(f"{path} holds more than 1 MiB, too much for a file of settings.")
    return _parsed(path, data.removeprefix(codecs.BOM_UTF8))


def _parsed(path: Path, data: bytes) -> ConfigFile:
    import tomllib

    try:
        text = data.decode()
        table = tomllib.loads(text + "\n")  # else a mistake in the last line is "at end of document"
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ConfigError(
            f"{path} is not UTF-8: line {line} holds byte 0x{data[error.start]:02x}. {_REMEDY}"
        ) from error
    except ValueError as error:
        raise ConfigError(f"{path} is not TOML: {error}. {_REMEDY}") from error
    except RecursionError as error:
        raise ConfigError(f"{path} is nested too deeply; settings are plain lines, as in temp = 0.7.") from error
    types = {field.encode_name: field.type for field in msgspec.structs.fields(Defaults)}
    file = ConfigFile(path, exists=True, lines=_lines(text, table))
    settings: dict[str, Any] = {}
    for name, value in table.items():
        key = OTHER_NAMES.get(name, name)
        if key not in types:
            raise ConfigError(f"There is no setting {file.place(name)}. {_suggestion(name)}")
        if key in settings:
            raise ConfigError(f"{file.place(name)} is given twice: it is another name of '{key}'. {_REMEDY}")
        settings[key] = _checked(file, name, value, types[key])
    lines = {OTHER_NAMES.get(name, name): line for name, line in file.lines.items()}
    return msgspec.structs.replace(file, defaults=msgspec.convert(settings, Defaults), lines=lines)


def _checked(file: ConfigFile, name: str, value: Any, kind: Any) -> Any:
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        raise ConfigError(
            f"Invalid value for {file.place(name)}: {_written(value)} is not {_EXPECTED[kind]}. {_REMEDY}"
        ) from error


def _written(value: Any) -> str:
    """Return a value nearly as it stands in the file, cut where it is long."""
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"


def _suggestion(name: str) -> str:
    meant = did_you_mean(nearest(name.lstrip("-"), [*KEYS, *OTHER_NAMES], abbreviated=True))
    return meant or "Settings are the long names of flags; decodescope config --example prints them all."


def _lines(text: str, names: dict[str, Any]) -> dict[str, int]:
    """Return the lines of the keys; one that might stand at several places, as in a text of several lines, has none."""
    numbers: dict[str, list[int]] = {}
    for number, line in enumerate(text.split("\n"), 1):
        found = re.match(r"""\s*\[{0,2}\s*(["']?)([^"'\s=.\]]+)\1\s*[=.\]]""", line)
        if found:
            numbers.setdefault(found.group(2), []).append(number)
    return {name: numbers[name][0] for name in names if len(numbers.get(name, ())) == 1}


def _in_words(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return tuple(_in_words(one) for one in value)
    return str(value).lower() if isinstance(value, bool) else str(value)
