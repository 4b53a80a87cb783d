"""From a reference to a running engine."""

import os
from collections.abc import Sequence
from pathlib import Path

import msgspec

from ..models.errors import ModelError
from ..models.facts import ModelFile
from ..models.references import resolve as resolve_model
from ..models.user_folders import expanded
from .contract import Backend
from .model_sampling import ModelSampling, model_sampling
from .model_warnings import model_warnings
from .requests import EngineSettings
from .text import well_formed
from .wire import OpenLlama, OpenScript

_SCRIPT_PREFIX = "script:"


class ScriptFile(msgspec.Struct, frozen=True):
    """A script to be played instead of a model."""

    path: Path

    @property
    def name(self) -> str:
        """The name to show."""
        return self.path.name


Source = ModelFile | ScriptFile


def resolve(reference: str | None, folders: Sequence[Path] = ()) -> Source:
    """Return what ``-m REFERENCE`` names: a script or a model file, checked as far as possible without loading it.

    Raises ModelError, which says what is wrong and what to do.
    """
    if reference is None or not reference.startswith(_SCRIPT_PREFIX):
        return resolve_model(reference, folders)
    file = reference.removeprefix(_SCRIPT_PREFIX)
    if not file.strip():
        raise ModelError("-m script: names no file.", remedy="Write script:FILE.")
    from .scripted.script import ScriptError, read_script

    path = expanded(file)
    try:
        read_script(path)
    except ScriptError as error:
        raise ModelError(f"The script {path.name} cannot be played.", str(error), "Correct that line.") from error
    except OSError as error:
        raise ModelError(
            f"The script {path} cannot be read.", error.strerror or str(error), "Check the path."
        ) from error
    return ScriptFile(path)


def sampling_of(source: Source | None) -> ModelSampling:
    """Return a model's own sampling defaults; none without a model, or for a script."""
    return model_sampling(source.sampling) if isinstance(source, ModelFile) else ModelSampling()


def launch(source: Source, settings: EngineSettings) -> Backend:
    """Start an engine and return at once; ``load_progress`` and ``model_ready`` follow as events.

    The engine has the priority that this process had when it started the first one. Raises OSError, and ModelError
    when the model cannot have a cache of the types asked for.
    """
    # What processes need is loaded when there is to be one: a screen is drawn before.
    from .host import EngineHost
    from .process import start_at_first_priority

    opening = opening_of(source, settings)
    return start_at_first_priority(lambda: EngineHost(opening))


def opening_of(source: Source, settings: EngineSettings) -> OpenLlama | OpenScript:
    """Return the command that opens an engine. Raises ModelError as ``launch``."""
    if isinstance(source, ScriptFile):
        return OpenScript(path=os.fsencode(source.path), settings=settings)
    traffic = source.weight_traffic
    return OpenLlama(
        path=os.fsencode(source.path),
        name=well_formed(source.name),
        quantization=source.quantization,
        bytes=source.bytes,
        trained_context=source.trained_context,
        kv_bytes_per_token=source.kv_bytes_per_token(settings.cache_type_k, settings.cache_type_v),
        settings=settings,
        weight_bytes_per_token=None if traffic is None else traffic.per_token,
        weight_bytes_per_pass=None if traffic is None else traffic.per_pass,
        sliding_window=source.sliding_window,
        attention_growth=source.attention_growth,
        requantized_from=well_formed(source.requantized_from),
        dominant_type=source.dominant_type,
        warnings=tuple(map(well_formed, model_warnings(source))),
    )
