"""Whose turn it is."""

from collections.abc import Sequence


def rotated(lanes: Sequence[int], number: int) -> list[int]:
    """Return the order of the lanes in round ``number`` (from 1): each round begins with the next one."""
    start = (number - 1) % len(lanes) if lanes else 0
    return [*lanes[start:], *lanes[:start]]
