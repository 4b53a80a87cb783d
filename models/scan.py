"""Finds the models of this machine beside other work, names first and headers after."""

import threading
from collections.abc import Callable, Sequence
from pathlib import Path

from .candidates import Candidate
from .discovery import Found, candidates, look


class Scan:
    """Two threads: one finds files, one reads their headers. Disks may be slow, so neither is waited for."""

    def __init__(self, folders: Sequence[Path] = ()) -> None:
        self._folders = folders
        self._changed = threading.Condition()
        self._entries: list[Candidate | Found] = []
        self._unread: dict[int, None] = {}
        self._wanted: Sequence[int] = ()
        self._all_found = False
        self._stopped = False
        self._error: Exception | None = None
        self.revision = 0
        """Grows with every change."""

    def start(self) -> None:
        """Begin."""
        for work in (self._find, self._read):
            threading.Thread(target=self._guarded, args=(work,), name="model-scan", daemon=True).start()

    def stop(self) -> None:
        """End soon. Harmless when repeated."""
        with self._changed:
            self._stopped = True
            self._changed.notify_all()

    def want(self, indexes: Sequence[int]) -> None:
        """Read the headers of these entries before those of the others."""
        with self._changed:
            self._wanted = tuple(indexes)

    @property
    def entries(self) -> list[Candidate | Found]:
        """What has been found so far, in the order of ``discover``; a ``Candidate`` until its header has been read.

        Raises what went wrong in a thread.
        """
        with self._changed:
            if self._error is not None:
                raise self._error
            return list(self._entries)

    @property
    def done(self) -> bool:
        """Whether everything has been found and read."""
        with self._changed:
            return self._all_found and not self._unread

    def _guarded(self, work: Callable[[], None]) -> None:
        try:
            work()
        except Exception as error:  # noqa: BLE001 (raised where the entries are asked for)
            with self._changed:
                self._error = error
                self.revision += 1
            self.stop()

    def _find(self) -> None:
        for candidate in candidates(self._folders):
            with self._changed:
                if self._stopped:
                    return
                self._unread[len(self._entries)] = None
                self._entries.append(candidate)
                self._tell()
        with self._changed:
            self._all_found = True
            self._tell()

    def _read(self) -> None:
        while (next_one := self._next()) is not None:
            index, candidate = next_one
            found = look(candidate)
            with self._changed:
                self._entries[index] = found
                del self._unread[index]
                self._tell()

    def _next(self) -> tuple[int, Candidate] | None:
        """Wait for a header to read; ``None`` when there will be no more."""
        with self._changed:
            self._changed.wait_for(lambda: self._stopped or self._unread or self._all_found)
            if self._stopped or not self._unread:
                return None
            index = next((index for index in self._wanted if index in self._unread), next(iter(self._unread)))
            entry = self._entries[index]
            assert isinstance(entry, Candidate)
            return index, entry

    def _tell(self) -> None:
        self.revision += 1
        self._changed.notify_all()
