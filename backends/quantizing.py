"""From a model to another quantization of it, made by a process of its own."""

import contextlib
import os
import signal
from pathlib import Path

from ..models.errors import ModelError
from ..models.facts import ModelFile
from ..models.quantized import quantized_folder, remove_leftovers
from ..models.recipes import recipe_named
from .events import Event, Failed, Quantized
from .process import ENGINE_REMEDIES, ChildProcess, start_at_first_priority
from .text import well_formed
from .wire import OpenQuantizer

_REMEDIES = {
    **ENGINE_REMEDIES,
    signal.SIGKILL: "The system may have run out of memory: try again with fewer programs running.",
    signal.SIGABRT: "llama.cpp gave up; its last words are above.",
    signal.SIGSEGV: "llama.cpp crashed: check the model file.",
}


class Making:
    """A quantization being made; received from as from a ``Backend``.

    Gives ``quantize_progress* quantized | failed``; a process that dies gives a ``failed`` of stage ``load``.
    """

    def __init__(self, opening: OpenQuantizer) -> None:
        self._folder = Path(os.fsdecode(opening.folder))
        self._child = ChildProcess(opening, "The quantizer", _REMEDIES)
        self._told = False

    @property
    def pid(self) -> int:
        """Process id of the quantizer."""
        return self._child.pid

    def fileno(self) -> int:
        """See ``Backend``."""
        return self._child.fileno()

    @property
    def closed(self) -> bool:
        """See ``Backend``."""
        return self._child.closed

    def receive(self, timeout: float | None = 0.0) -> list[Event]:
        """See ``Backend``."""
        if self.closed:
            return []
        events = self._child.receive(timeout)
        self._told = self._told or any(isinstance(event, Quantized | Failed) for event in events)
        if self.closed and not self._told:
            events.append(self._child.death("load"))
        return events

    def close(self) -> None:
        """End the process; what it has not finished is removed. Harmless when repeated."""
        self._child.close()
        with contextlib.suppress(OSError):  # what cannot be removed now is removed by the next one
            remove_leftovers(self._folder)


def start_quantizing(source: ModelFile, type: str, folder: Path | None = None) -> Making:
    """Start making ``type`` (see ``models.recipes``) of ``source``, kept in ``folder`` (default: this user's cache).

    Returns at once. What was made before of the same source is found again. Raises OSError when the process cannot be
    started, and ModelError for a type that cannot be made.
    """
    folder = folder or quantized_folder()
    if folder is None:
        raise ModelError("There is no folder for quantizations.", "This user has no home.", "Set XDG_CACHE_HOME.")
    opening = OpenQuantizer(
        path=os.fsencode(source.path),
        name=well_formed(source.name),
        quantization=recipe_named(type),
        folder=os.fsencode(folder.absolute()),
    )
    return start_at_first_priority(lambda: Making(opening))
