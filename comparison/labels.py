"""What the lanes are called."""

from collections import Counter
from collections.abc import Sequence


def labels(models: Sequence[tuple[str, str]]) -> list[str]:
    """Return a short and distinct label for each (name, quantization).

    The quantization where it alone tells them apart, the name where that does, else both; what is still the same is
    numbered, as in ``demo #1``.
    """
    names, quantizations = [name for name, _ in models], [quantization for _, quantization in models]
    if len(set(names)) == 1 and _distinct(quantizations):
        return quantizations
    if _distinct(names) or len(set(quantizations)) == 1:
        return _numbered(names)
    return _numbered([f"{name} {quantization}".strip() for name, quantization in models])


def _distinct(texts: Sequence[str]) -> bool:
    return all(texts) and len(set(texts)) == len(texts)


def _numbered(texts: Sequence[str]) -> list[str]:
    total, seen = Counter(texts), Counter[str]()
    numbered = []
    for text in texts:
        seen[text] += 1
        numbered.append(f"{text} #{seen[text]}" if total[text] > 1 else text)
    # A name may itself end in such a number.
    return numbered if _distinct(numbered) else [f"{text} #{place}" for place, text in enumerate(texts, start=1)]
