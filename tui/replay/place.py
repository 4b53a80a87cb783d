"""Where to go, as the reader writes it."""

import re
from typing import Protocol

HOW = "A time such as 12.5s, 250ms or 1:30, a token such as #340, or a share such as 50%."

_TIME = re.compile(r"([-+−]?\d+(?:\.\d+)?)\s*(s|ms)")
_CLOCK = re.compile(r"(\d+):(\d{1,2}(?:\.\d+)?)")
_TOKEN = re.compile(r"#\s*([\d,]{1,15})")
_SHARE = re.compile(r"(\d+(?:\.\d+)?)\s*%")
_MOST_SECONDS = 1e9


class Scale(Protocol):
    """What positions are on."""

    @property
    def length(self) -> int:
        """Position of the end, ns."""
        ...

    def of_token(self, index: int) -> int:
        """Return the position of a token, from 1."""
        ...

    def since_asked(self, position: int) -> int:
        """Return the time from the request to a position, ns."""
        ...

    def at(self, since_asked: int) -> int:
        """Return the position of a time from the request on, ns, within the whole."""
        ...


def position_of(text: str, scale: Scale) -> int | None:
    """Return the position that is meant; times and shares count from the request. ``None``: it is not understood."""
    text = text.strip().lower()
    if found := _TOKEN.fullmatch(text):
        return scale.of_token(int(found[1].replace(",", "") or 0))
    if found := _SHARE.fullmatch(text):
        return scale.at(round(min(float(found[1]), 100.0) / 100 * scale.since_asked(scale.length)))
    if found := _TIME.fullmatch(text):
        seconds = float(found[1].replace("−", "-")) / (1000 if found[2] == "ms" else 1)
    elif found := _CLOCK.fullmatch(text):
        seconds = int(found[1][:9]) * 60 + float(found[2])
    else:
        return None
    return scale.at(round(min(max(seconds, -_MOST_SECONDS), _MOST_SECONDS) * 1e9))
