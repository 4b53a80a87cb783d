"""Warnings of engines."""

from collections.abc import Iterable

from .events import Event, Log


def warnings_in(events: Iterable[Event]) -> list[str]:
    """Return the texts of the warnings and errors among the ``log`` events, each once."""
    return list(dict.fromkeys(event.text for event in events if isinstance(event, Log) and event.level != "info"))
