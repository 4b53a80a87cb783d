"""Bytes in words."""


def size(count: int) -> str:
    """Return a number of bytes in binary units, as in ``91.6 MiB``."""
    value = float(count)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if value < 1024:
            return f"{value:,.0f} {unit}" if unit == "B" or value >= 99.95 else f"{value:.1f} {unit}"
        value /= 1024
    return f"{value:,.1f} TiB"
