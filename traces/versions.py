"""Versions of the format of recordings."""

ONE_ENGINE = 1
"""One engine speaks at a time."""

SEVERAL_ENGINES = 2
"""With lines that tell whose events follow; who skips them takes one engine's events for another's."""
