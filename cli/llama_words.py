"""What llama.cpp's environment variables say, in the words of the flags.

llama.cpp takes more there than the flags do: several words for on and off, and numbers below the least one for
"no limit" or "off".
"""

_FLASH_ATTENTION = {
    **dict.fromkeys(("on", "enabled", "true", "1"), "on"),
    **dict.fromkeys(("off", "disabled", "false", "0"), "off"),
    **dict.fromkeys(("auto", "-1"), "auto"),
}


def switch(value: str) -> str:
    """Return ``true`` or ``false`` for llama.cpp's words for them, and anything else as it is."""
    return {"enabled": "true", "disabled": "false"}.get(value, value)


def flash_attention(value: str) -> str:
    """Return ``on``, ``off`` or ``auto`` for llama.cpp's words for them, and anything else as it is."""
    return _FLASH_ATTENTION.get(value, value)


def threads(value: str) -> str:
    """Return -1, llama.cpp's own choice, for all whole numbers below 1."""
    return _lowest(value, least=1, instead="-1")


def unlimited(value: str) -> str:
    """Return -1, all there is, for all negative whole numbers."""
    return _lowest(value, least=-1, instead="-1")


def not_negative(value: str) -> str:
    """Return 0 for all negative numbers."""
    number = _number(value, float)
    return "0" if number is not None and number < 0 else value


def whole_not_negative(value: str) -> str:
    """Return 0 for all negative whole numbers."""
    return _lowest(value, least=0, instead="0")


def probability(value: str) -> str:
    """Return 1, which is off, for all numbers above it."""
    number = _number(value, float)
    return "1" if number is not None and number > 1 else value


def _lowest(value: str, least: int, instead: str) -> str:
    number = _number(value, int)
    return instead if number is not None and number < least else value


def _number(value: str, kind: type[int] | type[float]) -> float | None:
    """Return the number; ``None`` for anything else, which the flag then refuses in its own words."""
    try:
        return kind(value)
    except ValueError:
        return None
