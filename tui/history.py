"""The prompts that were sent, kept across sessions."""

import json
import os
import queue
import threading
from pathlib import Path

from ..backends.state_file import locked, replace
from ..models.user_folders import own_folder

NO_HISTORY = "DECODESCOPE_NO_HISTORY"
"""The variable that, when it is not empty, keeps prompts from being kept."""
_CLOSE_SECONDS = 1.0
_LIMIT = 500
_MAX_PROMPT = 16_384
"""Characters; longer prompts are kept for this session only."""


def default_path() -> Path | None:
    """Return where the history is kept; None when ``DECODESCOPE_NO_HISTORY`` is set, and for a user without a home."""
    folder = None if os.environ.get(NO_HISTORY) else own_folder("state")
    return None if folder is None else folder / "history.jsonl"


class History:
    """Earlier prompts, oldest first, and a place among them.

    The file holds one JSON string a line. Other lines are left out; a file that cannot be read or written
    never stops anything: ``problem`` then says why. A separate thread writes it, so that nobody waits for a slow disk
    or for another instance, and cuts it from time to time to the newest prompts, including those of other instances.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._entries: list[str] = []
        self._place = 0
        self._draft = ""
        self._lines_in_file = 0
        self._to_write: queue.Queue[str | None] = queue.Queue()
        self._writer: threading.Thread | None = None
        self.problem: str | None = None
        self._load()

    @property
    def entries(self) -> tuple[str, ...]:
        """All prompts, oldest first."""
        return tuple(self._entries)

    def add(self, prompt: str) -> None:
        """Remember a prompt, unless it repeats the last one, and go to the end."""
        if not self._entries or self._entries[-1] != prompt:
            self._entries.append(prompt)
            del self._entries[:-_LIMIT]
            if self._path is not None and len(prompt) <= _MAX_PROMPT:
                self._to_write.put(prompt)
                if self._writer is None:
                    self._writer = threading.Thread(target=self._write_all, args=(self._path,), name="history")
                    self._writer.daemon = True
                    self._writer.start()
        self._place = len(self._entries)
        self._draft = ""

    def close(self, seconds: float = _CLOSE_SECONDS) -> None:
        """Wait until everything is written, but no longer than that; afterwards nothing can be added."""
        if self._writer is not None:
            self._to_write.put(None)
            self._writer.join(seconds)

    def earlier(self, current: str) -> str | None:
        """Return the prompt before this place; None at the oldest. ``current`` is kept as the draft."""
        if self._place == 0:
            return None
        if self._place == len(self._entries):
            self._draft = current
        self._place -= 1
        return self._entries[self._place]

    def later(self) -> str | None:
        """Return the prompt after this place, at the end the draft; None beyond it."""
        if self._place >= len(self._entries):
            return None
        self._place += 1
        return self._draft if self._place == len(self._entries) else self._entries[self._place]

    def _load(self) -> None:
        if self._path is None:
            return
        try:
            lines = self._path.read_text(encoding="utf-8", errors="replace").splitlines()
        except FileNotFoundError:
            return
        except OSError as error:
            self.problem = f"Earlier prompts cannot be read: {error.strerror}"
            return
        self._lines_in_file = len(lines)
        self._entries = [entry for line in lines[-_LIMIT:] if (entry := _prompt_of(line))]
        self._place = len(self._entries)

    def _write_all(self, path: Path) -> None:
        while (prompt := self._to_write.get()) is not None:
            try:
                path.parent.mkdir(parents=True, exist_ok=True)
                with locked(path) as alone:
                    if alone and self._lines_in_file >= 2 * _LIMIT:
                        self._cut(path)
                    self._append(path, prompt)
            except OSError as error:
                self.problem = f"Prompts can no longer be saved: {error.strerror}"
                self._path = None
                return

    def _append(self, path: Path, prompt: str) -> None:
        with os.fdopen(os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o600), "ab") as file:
            # A line that was cut off by a full disk must not swallow this one.
            size = file.seek(0, os.SEEK_END)
            broken = size > 0 and os.pread(file.fileno(), 1, size - 1) != b"\n"
            file.write((b"\n" if broken else b"") + json.dumps(prompt).encode() + b"\n")
        self._lines_in_file += 1

    def _cut(self, path: Path) -> None:
        """Keep the newest prompts, as they stand in the file now: other instances have written there too."""
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
        self._lines_in_file = len(lines)
        if len(lines) >= 2 * _LIMIT:
            kept = [entry for line in lines if (entry := _prompt_of(line))][1 - _LIMIT :]
            replace(path, "".join(json.dumps(entry) + "\n" for entry in kept).encode())
            self._lines_in_file = len(kept)


def _prompt_of(line: str) -> str | None:
    """Return the prompt in a line of the file; ``None`` if it holds none."""
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return entry if isinstance(entry, str) and entry else None
