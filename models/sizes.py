"""Bytes in words."""

_UNITS = ("B", "KiB", "MiB", "GiB", "TiB")


def size(count: int) -> str:
    """Return a number of bytes in binary units, with two significant digits at least: ``92 MiB``, ``4.4 GiB``."""
    value, unit = _scaled(count)
    return _in_unit(value, unit, 1 if value < 9.95 or unit >= 3 else 0)


def told_apart(first: int, second: int) -> tuple[str, str]:
    """Return two different sizes as texts of one unit that tell them apart: ``46.0 MiB`` and ``92.1 MiB``."""
    unit = _scaled(min(first, second))[1]
    while unit:
        texts = tuple(_in_unit(count / 1024**unit, unit, 1) for count in (first, second))
        if texts[0] != texts[1]:
            return texts[0], texts[1]
        unit -= 1
    return f"{first:,} bytes", f"{second:,} bytes"


def _scaled(count: int) -> tuple[float, int]:
    value, unit = float(count), 0
    while value >= 1023.5 and unit < len(_UNITS) - 1:
        value, unit = value / 1024, unit + 1
    return value, unit


def _in_unit(value: float, unit: int, digits: int) -> str:
    return f"{value:,.{digits if unit else 0}f} {_UNITS[unit]}"
