"""The prompts that were sent, kept across sessions."""

import json
import os
from pathlib import Path

from ..models.user_folders import own_folder

NO_HISTORY = "DECODESCOPE_NO_HISTORY"
"""The variable that, when it is not empty, keeps prompts from being kept."""
_LIMIT = 500
_MAX_PROMPT = 16_384
"""Characters; longer prompts are kept for this session only."""


def default_path() -> Path | None:
    """Return where the history is kept; None when ``DECODESCOPE_NO_HISTORY`` is set, and for a user without a home."""
    folder = None if os.environ.get(NO_HISTORY) else own_folder("state")
    return None if folder is None else folder / "history.jsonl"


class History:
    """Earlier prompts, oldest first, and a place among them.

    The file holds one JSON string a line. Lines that are none are left out; a file that cannot be read or written
    never stops anything: ``problem`` then says why.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._entries: list[str] = []
        self._place = 0
        self._draft = ""
        self._lines_in_file = 0
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
            if len(prompt) <= _MAX_PROMPT:
                self._write(prompt)
        self._place = len(self._entries)
        self._draft = ""

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
        for line in lines[-_LIMIT:]:
            try:
                entry = json.loads(line)
            except (ValueError, RecursionError):
                continue
            if isinstance(entry, str) and entry:
                self._entries.append(entry)
        self._place = len(self._entries)

    def _write(self, prompt: str) -> None:
        if self._path is None:
            return
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            if self._lines_in_file >= 2 * _LIMIT:
                self._rewrite(self._path)
                return
            with os.fdopen(os.open(self._path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o600), "ab") as file:
                # A line that was cut off by a full disk must not swallow this one.
                size = file.seek(0, os.SEEK_END)
                broken = size > 0 and os.pread(file.fileno(), 1, size - 1) != b"\n"
                file.write((b"\n" if broken else b"") + json.dumps(prompt).encode() + b"\n")
            self._lines_in_file += 1
        except OSError as error:
            self.problem = f"Prompts are not kept: {error.strerror}"
            self._path = None

    def _rewrite(self, path: Path) -> None:
        kept = [entry for entry in self._entries if len(entry) <= _MAX_PROMPT]
        fresh = path.with_name(f"{path.name}.{os.getpid()}")
        with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
            file.writelines(json.dumps(entry) + "\n" for entry in kept)
        fresh.replace(path)
        self._lines_in_file = len(kept)
