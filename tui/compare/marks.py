"""How lanes are told apart: by number, colour and marker."""

MARKERS = "●▲■◆○△"
"""One for each lane, in order."""


def marker(number: int) -> str:
    """Return a lane's marker, ``number`` from 0."""
    return MARKERS[number % len(MARKERS)]


def role(number: int) -> str:
    """Return the role of a lane's colour among those of ``Cells``."""
    return f"lane{number % len(MARKERS) + 1}"
