"""Why a model cannot be used, in words for the person who asked for it."""

import os


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

    File names and header values are of unknown origin, so control characters, bidirectional overrides and lone
    surrogates become ``\\x1b``-like escapes.
    """
    characters = os.fspath(text)
    if len(characters) > limit:
        characters = characters[: limit - 1] + "…"
    if characters.isprintable():
        return characters
    return "".join(
        character if character.isprintable() else character.encode("unicode_escape").decode("ascii")
        for character in characters
    )


def listed(names: list[str], limit: int = 8) -> str:
    """Return ``names`` as one comma-separated line, cut after ``limit`` of them with the number left out."""
    line = ", ".join(names[:limit])
    return line if len(names) <= limit else f"{line} and {len(names) - limit} more"


def sizes(first: int, second: int) -> tuple[str, str]:
    """Return two sizes in bytes as texts of one unit that tell them apart."""
    for divisor, unit in ((10**9, "GB"), (10**6, "MB")):
        texts = f"{first / divisor:,.1f} {unit}", f"{second / divisor:,.1f} {unit}"
        if min(first, second) >= divisor and texts[0] != texts[1]:
            return texts
    return f"{first:,} bytes", f"{second:,} bytes"
