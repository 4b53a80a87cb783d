"""A session in memory, for those who want it after the fact."""

import time
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from .versions import ONE_ENGINE

if TYPE_CHECKING:
    from .compression import Packer
    from .memory import Written
    from .recording import Recording

_BATCH = 512
"""Events that are compressed together: for a frame's dozen, filling the caches with the compressor's tables would cost
more than the compression."""


class SessionTape:
    """Everything that was received since the session began; also in a file where there is a recording.

    In memory are compressed lines, but for the newest events: a token takes about 40 bytes, 160 with its probabilities.
    """

    def __init__(self, *, text: bool = True, recording: "Recording | None" = None, format: int = ONE_ENGINE) -> None:
        """``text``: with what is asked and answered. ``format``: of a file that is saved."""
        self.text = text
        self._format = format
        self._recording = recording
        self._newest: list[Written] = []
        """Not yet compressed."""
        self._packer: Packer | None = None
        self._ending = ""
        self._parts: list[bytes] = []
        self._began_ns = time.perf_counter_ns()
        self._began = time.time()

    @property
    def size(self) -> int:
        """Bytes that it takes in memory, nearly; without the newest events."""
        return sum(len(part) for part in self._parts)

    def take(self, records: "Iterable[Written]") -> None:
        """Keep what was received; never raises."""
        records = list(records)
        if not records:
            return
        if self._recording is not None:
            self._recording.take(records)
        self._newest += records
        if len(self._newest) >= _BATCH:
            self._compress()

    def news(self) -> str | None:
        """Return what went wrong with the recording, in a sentence; once."""
        return None if self._recording is None else self._recording.news()

    @property
    def broken(self) -> bool:
        """Whether the recording ended before the session did."""
        return self._recording is not None and self._recording.broken

    def save(self, folder: Path, settings: dict[str, Any]) -> Path | None:
        """Write everything so far to a new file in ``folder``, named after the date; return its path.

        ``settings``: as ``settings.described``. ``None``: there is nothing yet. Nothing is ever overwritten. Raises
        OSError when the folder cannot be written; then no file is left behind.
        """
        packer = self._compress()
        if packer is None:
            return None
        self._keep(packer.end())
        path, file = _new_file(folder, time.strftime("decodescope-%Y%m%d-%H%M%S"), f".jsonl{self._ending}")
        try:
            with file:
                file.write(self._packed_header(packer, settings))
                file.writelines(self._parts)
        except OSError:
            path.unlink(missing_ok=True)
            raise
        return path

    def close(self) -> None:
        """End the recording; never raises. Harmless when repeated."""
        if self._recording is not None:
            self._recording.close()

    def _compress(self) -> "Packer | None":
        """Compress the newest events; return with what, ``None`` while there was never an event."""
        if self._newest:
            # As all that writes, only when there is something to write: the first frame does not wait for it.
            from .writer import encoded

            if self._packer is None:
                self._packer, self._ending = _smallest_form()
            self._keep(self._packer.gather(encoded(self._newest, text=self.text)))
            self._newest.clear()
        return self._packer

    def _keep(self, packed: bytes) -> None:
        if packed:
            self._parts.append(packed)

    def _packed_header(self, packer: "Packer", settings: dict[str, Any]) -> bytes:
        # Only here: it takes a while to load, and few save.
        from .header import new_header
        from .no_text import settings_without_text
        from .writer import encode_header

        settings = settings if self.text else settings_without_text(settings)
        header = new_header(settings, text=self.text, format=self._format, began_ns=self._began_ns, began=self._began)
        line = encode_header(header)
        return packer.gather(line) + packer.end()


def _smallest_form() -> tuple["Packer", str]:
    from .compression import GzipPacker, ZstdPacker
    from .errors import TraceError

    try:
        return ZstdPacker(), ".zst"
    except TraceError:
        return GzipPacker(), ".gz"


def _new_file(folder: Path, stem: str, ending: str) -> tuple[Path, BinaryIO]:
    number = 1
    while True:
        path = folder / (f"{stem}{ending}" if number == 1 else f"{stem}-{number}{ending}")
        try:
            return path, path.open("xb")
        except FileExistsError:
            number += 1
