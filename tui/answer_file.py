"""Saving an answer without ever overwriting anything."""

import re
from pathlib import Path

_MAX_STEM = 40


def save_answer(text: str, prompt: str, folder: Path) -> Path:
    """Write ``text`` to a new file in ``folder`` named after ``prompt``; return its path.

    The name holds only letters, digits and dashes. Raises OSError when the folder cannot be written.
    """
    words = re.sub(r"[^a-z0-9]+", "-", prompt.lower()).strip("-")
    stem = words if len(words) <= _MAX_STEM else words[: _MAX_STEM + 1].rpartition("-")[0] or words[:_MAX_STEM]
    stem = stem or "answer"
    number = 1
    while True:
        path = folder / (f"{stem}.md" if number == 1 else f"{stem}-{number}.md")
        try:
            with path.open("x", encoding="utf-8", errors="replace", newline="") as file:
                file.write(text if text.endswith("\n") else text + "\n")
        except FileExistsError:
            number += 1
        else:
            return path
