"""Why a model cannot be used, in words for the person who asked for it."""

import os

FETCH_ANEW = "Copy or download the file anew."


class ModelError(Exception):
    """A model that was refused or could not be found."""

    def __init__(self, what: str, reason: str = "", remedy: str = "") -> None:
        super().__init__(what, reason, remedy)
        self.what = what
        """One sentence: what cannot be done."""
        self.reason = reason
        """Why, as the file or the system gave it; may be empty."""
        self.remedy = remedy
        """What to do about it; may be empty."""

    def __str__(self) -> str:
        return " ".join(part for part in (self.what, self.reason, self.remedy) if part)


def shown(text: str | os.PathLike[str], limit: int = 300) -> str:
    """Return ``text`` fit for a message: what cannot be printed is escaped, what is longer than ``limit`` is cut.

    File names and header values are of unknown origin, so control characters and bidirectional overrides become
    ``\\x1b``-like escapes, and what was not UTF-8 (lone surrogates) U+FFFD.
    """
    characters = os.fspath(text)
    if len(characters) > limit:
        characters = characters[: limit - 1] + "…"
    if characters.isprintable():
        return characters
    return "".join(map(_printable, characters))


def _printable(character: str) -> str:
    if character.isprintable():
        return character
    if "\ud800" <= character <= "\udfff":
        return "\ufffd"
    return character.encode("unicode_escape").decode("ascii")


def listed(names: list[str], limit: int = 8) -> str:
    """Return ``names`` as one comma-separated line, cut after ``limit`` of them with the number left out."""
    line = ", ".join(names[:limit])
    return line if len(names) <= limit else f"{line} and {len(names) - limit} more"
