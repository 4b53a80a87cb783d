"""Makes a quantization in the child's process and puts it into the folder where such files are kept."""

import errno
import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path

from ..models.errors import ModelError
from ..models.facts import REQUANTIZED_KEY, ModelFile, read_model
from ..models.fallbacks import fallbacks
from ..models.header import read_header
from ..models.quantized import PartialFile, made_before, quantized_path, remove_leftovers, source_state
from ..models.recipes import requantized_from, with_origin
from ..models.sizes import told_apart
from .engine import EngineError, Report
from .events import Quantized, QuantizeProgress
from .text import well_formed
from .wire import OpenQuantizer

_SOURCE_KEY = "decodescope.source"
_SPARE_BYTES = 1 << 20
_PROGRESS_INTERVAL_NS = 50_000_000
_FREE_SOME = "Free some with `decodescope models clean`, or keep the cache on another disk (XDG_CACHE_HOME)."


class Quantizer:
    """Makes what ``opening`` asks for."""

    def __init__(self, opening: OpenQuantizer) -> None:
        self._opening = opening
        self._folder = Path(os.fsdecode(opening.folder))
        self._partial: PartialFile | None = None

    def make(self, report: Report) -> Quantized:
        """Return what was made, now or before, reporting ``quantize_progress``. Raises EngineError."""
        try:
            source = read_model(Path(os.fsdecode(self._opening.path)), self._opening.name)
            target = quantized_path(self._folder, source, self._opening.quantization)
            found = made_before(target, self._opening.quantization)
            if found is not None:
                return self._told(source, found, reused=True)
            self._write(source, target, report)
            return self._told(source, read_model(target), reused=False)
        except ModelError as error:
            raise EngineError(error.what, error.reason, error.remedy) from error
        except OSError as error:
            raise self._in_words(error) from error
        finally:
            self.abandon()

    def abandon(self) -> None:
        """Leave nothing half-done. From any thread."""
        if self._partial is not None:
            self._partial.discard()

    def _write(self, source: ModelFile, target: Path, report: Report) -> None:
        from .llama.quantization import Quantization  # what is there already needs no llama.cpp

        self._folder.mkdir(parents=True, exist_ok=True)
        remove_leftovers(self._folder)
        state = source_state(source)
        quantization = Quantization(source, self._opening.quantization)
        self._refuse_without_room(source, quantization.planned_bytes())
        notes = {_SOURCE_KEY: well_formed(source.path.name)}
        if origin := requantized_from(source.quantization, source.requantized_from):
            notes[REQUANTIZED_KEY] = well_formed(origin)
        partial = self._partial = PartialFile(self._folder)
        try:
            quantization.write(os.fsencode(partial.path), notes, _throttled(report))
            report(QuantizeProgress(t=time.perf_counter_ns(), fraction=1.0))
        except EngineError as error:
            if shutil.disk_usage(self._folder).free < _SPARE_BYTES:
                raise EngineError(error.what, f"{error.reason}\nThe disk is full.", _FREE_SOME) from error
            raise
        if source_state(source) != state:
            raise EngineError(
                f"{source.name} was changed while it was being quantized.", remedy="Try again when it is complete."
            )
        read_model(partial.path)  # refuses what is not whole
        partial.keep_as(target)

    def _refuse_without_room(self, source: ModelFile, weights: int | None) -> None:
        # Where llama.cpp does not tell, a file as large as the source's is the best guess.
        header = sum(shard.stat().st_size for shard in source.shards) - source.bytes
        needed = (source.bytes if weights is None else weights) + max(0, header) + _SPARE_BYTES
        free = shutil.disk_usage(self._folder).free
        if needed > free:
            takes, there = told_apart(needed, free)
            raise EngineError(
                f"There is no room for {source.name} in {self._opening.quantization}.",
                f"It takes {takes}, and {there} are free in {self._folder}.",
                _FREE_SOME,
            )

    def _told(self, source: ModelFile, made: ModelFile, *, reused: bool) -> Quantized:
        tensors = [tensor for shard in made.shards for tensor in read_header(shard).tensors]
        return Quantized(
            t=time.perf_counter_ns(),
            path=os.fsencode(made.path),
            quantization=self._opening.quantization,
            source_quantization=with_origin(source.quantization, source.requantized_from),
            bytes=made.bytes,
            reused=reused,
            fallbacks=fallbacks(tensors, self._opening.quantization),
        )

    def _in_words(self, error: OSError) -> EngineError:
        reason = error.strerror or str(error)
        source = Path(os.fsdecode(self._opening.path)).absolute()
        if error.filename is not None and Path(os.fsdecode(error.filename)).absolute().parent == source.parent:
            return EngineError(
                f"{self._opening.name} can no longer be read.",
                f"{reason}: {error.filename}.",
                "Try again when the file is there and complete.",
            )
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            return EngineError(
                f"There is no room for {self._opening.name} in {self._opening.quantization}.", f"{reason}.", _FREE_SOME
            )
        return EngineError(
            f"{self._opening.quantization} cannot be kept in {self._folder}.",
            f"{reason}: {error.filename}." if error.filename else f"{reason}.",
            "Make that folder writable, or keep the cache elsewhere (XDG_CACHE_HOME).",
        )


def _throttled(report: Report) -> Callable[[float], None]:
    last = 0

    def advance(fraction: float) -> None:
        nonlocal last
        now = time.perf_counter_ns()
        if now - last >= _PROGRESS_INTERVAL_NS:
            last = now
            report(QuantizeProgress(t=now, fraction=fraction))

    return advance
