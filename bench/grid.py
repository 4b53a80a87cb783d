"""Lists and ranges as ``llama-bench`` reads them: ``512``, ``1,2,4``, ``1-4``, ``0-4096+1024``, ``1-64*2``."""

import re
from collections.abc import Collection, Sequence

from ..models.suggestions import did_you_mean, nearest

_RANGE = re.compile(r"(-?\d+)(?:-(\d+)(?:([+*])(\d+))?)?", flags=re.ASCII)
_MOST = 2**31 - 1
_MOST_VALUES = 10_000


def whole_numbers(text: str, *, least: int = 0) -> tuple[int, ...]:
    """Return the numbers of a comma list of numbers and ranges, in their order. Raises ValueError in words."""
    found: list[int] = []
    for part in text.split(","):
        match = _RANGE.fullmatch(part.strip())
        if match is None:
            raise ValueError(f"{part!r} is no whole number and no range such as 1-8, 0-4096+1024 or 1-64*2.")
        found += _range(part, match, _MOST_VALUES - len(found))
    if wrong := [number for number in found if not least <= number <= _MOST]:
        raise ValueError(f"{wrong[0]} is not between {least} and {_MOST}.")
    return tuple(found)


def _range(part: str, match: "re.Match[str]", room: int) -> list[int]:
    first = int(match[1])
    last = first if match[2] is None else int(match[2])
    step = 1 if match[4] is None else int(match[4])
    if first > last:
        raise ValueError(f"The range {part!r} ends before it begins.")
    values = []
    while first <= last:
        values.append(first)
        if len(values) > room:
            raise ValueError(f"The range {part!r} is too long.")
        following = first * step if match[3] == "*" else first + step
        if following <= first:
            raise ValueError(f"The range {part!r} does not go on from {first}.")
        first = following
    return values


def words(text: str, allowed: Collection[str]) -> tuple[str, ...]:
    """Return the words of a comma list, each one of ``allowed``. Raises ValueError in words."""
    found = tuple(word.strip() for word in text.split(","))
    for word in found:
        if word not in allowed:
            meant = did_you_mean(nearest(word, allowed))
            raise ValueError(f"{word!r} is not one of {', '.join(allowed)}.{f' {meant}' if meant else ''}")
    return found


def pairs(texts: Sequence[str]) -> tuple[tuple[int, int], ...]:
    """Return the pairs, each written ``512,128``. Raises ValueError in words."""
    found = []
    for text in texts:
        numbers = whole_numbers(text)
        if len(numbers) != 2:
            raise ValueError(f"{text!r} is no pair such as 512,128: prompt tokens, then tokens to generate.")
        found.append((numbers[0], numbers[1]))
    return tuple(found)
