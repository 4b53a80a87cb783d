"""The limits of what a person may set, and the words for what is outside them; one table for all who ask."""

import math

import msgspec


class Limit(msgspec.Struct, frozen=True, kw_only=True):
    """The range of one setting."""

    least: float
    most: float | None = None
    whole: bool = True
    """Whether it is a whole number."""
    open: bool = False
    """Whether ``least`` itself is outside."""
    about: str
    """What it does, for a help text."""


MOST_WHOLE = 2**31 - 1
"""Of whole numbers that llama.cpp holds in 32 bits."""
MOST_THREADS = 512
"""GGML_MAX_N_THREADS."""
LIMITS = {
    "temp": Limit(least=0, whole=False, about="Temperature; 0: always the likeliest token."),
    "top_k": Limit(least=0, most=MOST_WHOLE, about="Sample from the N likeliest tokens; 0: off."),
    "top_p": Limit(
        least=0,
        most=1,
        whole=False,
        about="Sample from the likeliest tokens that hold P of the probability; 1: off.",
    ),
    "min_p": Limit(least=0, most=1, whole=False, about="Leave out tokens below P times the likeliest one; 0: off."),
    "repeat_penalty": Limit(least=0, open=True, whole=False, about="Penalty for tokens seen lately; 1: off."),
    "repeat_last_n": Limit(
        least=-1, most=MOST_WHOLE, about="How many tokens back the penalty looks; 0: off, -1: the whole context."
    ),
    "seed": Limit(least=-1, most=2**32 - 1, about="Seed of the sampler; -1: a new one, which is shown."),
    "max_tokens": Limit(least=-1, most=MOST_WHOLE, about="Generate at most N tokens; -1: until the model stops."),
    "context": Limit(
        least=0,
        most=MOST_WHOLE,
        about="Context in tokens; 0: the one that the model was trained for, capped by memory.",
    ),
}
"""By the names of the fields in ``requests``; threads have their own rule in ``parse_threads``."""


def parse(name: str, text: str) -> int | float:
    """Return the number that ``text`` gives for the setting ``name``.

    Raises ValueError, which says in words what is wrong with it.
    """
    limit = LIMITS[name]
    number = _whole(text) if limit.whole else _finite(text)
    if limit.open and number <= limit.least:
        raise ValueError(f"{text} is too small: it has to be more than {limit.least:g}.")
    if number < limit.least:
        raise ValueError(f"{text} is too small: the least is {limit.least:g}.")
    if limit.most is not None and number > limit.most:
        raise ValueError(f"{text} is too large: the most is {limit.most:.0f}.")
    return number


def parse_threads(text: str) -> int | None:
    """Return a number of threads; ``None`` (auto, or llama.cpp's -1): the cores that this process may use.

    Raises ValueError, which says in words what is wrong with it.
    """
    if text.strip() == "auto":
        return None
    number = _whole(text)
    if number == -1:
        return None
    if number < 1:
        raise ValueError(f"{number} is no number of threads; leave it out for the cores this process may use.")
    if number > MOST_THREADS:
        raise ValueError(f"{number} is too large: the most is {MOST_THREADS}.")
    return number


def _whole(text: str) -> int:
    try:
        return int(text)
    except ValueError as error:
        raise ValueError(f"{text!r} is not a whole number.") from error


def _finite(text: str) -> float:
    try:
        number = float(text)
    except ValueError as error:
        raise ValueError(f"{text!r} is not a number.") from error
    if not math.isfinite(number):
        raise ValueError(f"{text} is not a finite number.")
    return number
