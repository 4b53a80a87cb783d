"""What may have been meant by a word that names nothing: said in the same way wherever something has a name."""

from collections.abc import Iterable, Sequence

_SHORTEST = 3
"""Letters of which an abbreviation has to have as many at least."""
_LONGEST = 100
"""Letters after which none are looked at that may have changed places."""


def nearest(
    word: str, known: Iterable[str], *, most: int = 3, alike: float = 0.6, abbreviated: bool = False
) -> list[str]:
    """Return up to ``most`` of ``known`` that ``word`` may be misspelt for, the likeliest first.

    Capitals, and ``_`` in the place of ``-``, are not looked at; where they are all that is wrong, nothing else is
    returned. Nor is where two neighbours have changed places. ``alike``: how much of two words has to be the same, from
    0 to 1 (``difflib``'s ratio). ``abbreviated``: one that begins with the other is near as well.
    """
    folded: dict[str, list[str]] = {}
    for name in known:
        folded.setdefault(_folded(name), []).append(name)
    meant = _folded(word)
    swapped = [meant[:at] + meant[at + 1] + meant[at] + meant[at + 2 :] for at in range(min(len(meant), _LONGEST) - 1)]
    near = [key for key in (meant, *swapped) if key in folded]
    if not near:
        from difflib import get_close_matches  # slow to load

        if abbreviated and len(meant) >= _SHORTEST:
            near += [
                key for key in folded if key.startswith(meant) or (len(key) >= _SHORTEST and meant.startswith(key))
            ]
        near += get_close_matches(meant, folded, n=most, cutoff=alike)
    return [name for key in dict.fromkeys(near) for name in folded[key]][:most]


def did_you_mean(names: Sequence[str]) -> str:
    """Return the question whether one of ``names`` was meant, ready to be shown; empty when there are none."""
    if not names:
        return ""
    *others, last = names
    return f"Did you mean {', '.join(others)} or {last}?" if others else f"Did you mean {last}?"


def _folded(word: str) -> str:
    return word.lower().replace("_", "-")
