"""Suggests what an unknown name may have meant, in the same way for every kind of name."""

from collections.abc import Iterable, Sequence

_SHORTEST = 3
"""The least number of letters of an abbreviation."""
_LONGEST = 100
"""Swapped letters are looked for among so many first ones."""


def nearest(
    word: str, known: Iterable[str], *, most: int = 3, alike: float = 0.6, abbreviated: bool = False
) -> list[str]:
    """Return up to ``most`` of ``known`` that ``word`` may be a misspelling of, the likeliest first.

    Capitals, and ``_`` instead of ``-``, do not matter; if nothing else is wrong, or only two neighbouring letters are
    swapped, nothing else is returned. ``alike``: how similar two words have to be, from 0 to 1 (``difflib``'s ratio).
    ``abbreviated``: a word that begins with the other is near too.
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
    """Return the question whether one of ``names`` was meant, ready to be shown; empty if there are none."""
    if not names:
        return ""
    *others, last = names
    return f"Did you mean {', '.join(others)} or {last}?" if others else f"Did you mean {last}?"


def _folded(word: str) -> str:
    return word.lower().replace("_", "-")
