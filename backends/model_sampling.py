"""A model's own defaults for sampling, ``general.sampling.…`` in its file, as llama.cpp's tools take them.

They stand between what a person has set and llama.cpp's own defaults.
"""

from collections.abc import Collection, Mapping

import msgspec

from ..models.header import Scalar
from .limits import LIMITS, parse
from .requests import Sampling

_FIELDS = {
    "temp": "temp",
    "top_k": "top_k",
    "top_p": "top_p",
    "min_p": "min_p",
    "penalty_repeat": "repeat_penalty",
    "penalty_last_n": "repeat_last_n",
}
_DEFAULTS = Sampling()
_PREFIX = "general.sampling."
_SWITCHES = {"xtc_probability": "xtc_threshold", "mirostat": "mirostat_"}
"""Samplers that are not in the chain here: the key that is 0 when they are off, and the prefix of their other keys."""
_CHAIN = ("penalties", "top_k", "top_p", "min_p", "temperature")
_SPELLINGS = {"temp": "temperature", "nucleus": "top_p"}
_SHOWN = 40


class ModelSampling(msgspec.Struct, frozen=True):
    """What a file says about sampling."""

    values: dict[str, int | float] = {}
    """Defaults by the names of the fields of ``Sampling``; all within their limits."""
    warnings: tuple[str, ...] = ()
    """Settings in the file that are not applied, a sentence each."""

    def applied(self, sampling: Sampling, chosen: Collection[str]) -> Sampling:
        """Return ``sampling`` with the defaults in every field that is not among the ``chosen``.

        Values that came from another model are replaced by llama.cpp's own.
        """
        own = {name: value for name, value in self.values.items() if name not in chosen}
        left = {name: getattr(_DEFAULTS, name) for name in sampling.from_model if name not in chosen}
        return msgspec.structs.replace(sampling, **{**left, **own}, from_model=tuple(own))


def model_sampling(stored: Mapping[str, Scalar]) -> ModelSampling:
    """Return what is stored under ``general.sampling.``, without that prefix, as far as it can be applied."""
    values: dict[str, int | float] = {}
    warnings: list[str] = []
    for key, value in stored.items():
        if (name := _FIELDS.get(key)) is None:
            continue
        try:
            values[name] = _number(name, value)
        except ValueError as error:
            warnings.append(f"The model's own {_PREFIX}{key} is ignored: {error}")
    if lacking := _not_applied(stored):
        warnings.append(
            f"The model asks for sampling that decodescope does not apply: {', '.join(lacking)}."
            " Its answers may differ from those of llama.cpp's tools."
        )
    return ModelSampling(values, tuple(warnings))


def _number(name: str, value: Scalar) -> int | float:
    """Raises ValueError, which says in words what is wrong."""
    if isinstance(value, bool | str):
        raise ValueError(f"{_shown(value)} is not a number.")
    if LIMITS[name].whole and isinstance(value, float) and value.is_integer():
        value = int(value)
    # The file holds single precision: 0.1, not 0.10000000149011612.
    return parse(name, f"{value:.7g}" if isinstance(value, float) else str(value))


def _not_applied(stored: Mapping[str, Scalar]) -> list[str]:
    lacking = []
    for switch, further in _SWITCHES.items():
        if stored.get(switch, 0) not in (0, False, "0", ""):
            lacking += [key for key in stored if key == switch or key.startswith(further)]
    known = {*_FIELDS, *_SWITCHES, "xtc_threshold", "mirostat_tau", "mirostat_eta", "sequence"}
    lacking += [key for key in stored if key not in known]
    found = [f"{key} {_shown(stored[key])}" for key in lacking]
    sequence = stored.get("sequence", "")
    if sequence and _chain(sequence) != _CHAIN:
        found.append(f"the order {_shown(sequence)}")
    return found


def _chain(sequence: Scalar) -> tuple[str, ...]:
    """Return the samplers that are in the chain here, in the order of ``sequence``, in which others may do nothing."""
    names = (name.strip().replace("-", "_") for name in str(sequence).split(";"))
    return tuple(name for name in (_SPELLINGS.get(name, name) for name in names) if name in _CHAIN)


def _shown(value: Scalar) -> str:
    text = (
        str(value).lower() if isinstance(value, bool) else f"{value:.7g}" if isinstance(value, float) else repr(value)
    )
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"
