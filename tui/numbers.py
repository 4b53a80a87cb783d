"""Figures as people read them; a missing one is a dash, never a zero."""

MISSING = "–"


def milliseconds(ns: float | None) -> str:
    """Return a latency: ``6.9 ms``, ``182 ms``, ``12.4 s`` from ten seconds on."""
    if ns is None:
        return MISSING
    ms = ns / 1e6
    if ms < 99.95:
        return f"{ms:.1f} ms"
    return f"{ms:,.0f} ms" if ms < 9_999.5 else f"{ms / 1000:,.1f} s"


def seconds(ns: float | None) -> str:
    """Return a span of time: ``1.2 s``, ``2:05`` from a hundred seconds on, ``1:02:05`` from an hour on."""
    if ns is None:
        return MISSING
    if ns < 99_950_000_000:
        return f"{ns / 1e9:.1f} s"
    minutes, rest = divmod(round(ns / 1e9), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def rate(per_second: float | None) -> str:
    """Return tokens per second: ``9.8 tok/s``, ``1,204 tok/s``."""
    if per_second is None:
        return MISSING
    return f"{per_second:.1f} tok/s" if per_second < 99.95 else f"{per_second:,.0f} tok/s"


def times(factor: float | None) -> str:
    """Return a factor: ``8.3×``, ``120×``."""
    if factor is None:
        return MISSING
    return f"{factor:.1f}×" if factor < 99.95 else f"{factor:,.0f}×"


def count(number: int | None) -> str:
    """Return a number of things with thousands apart."""
    return MISSING if number is None else f"{number:,}"


def sampling_facts(temp: float, seed: int) -> list[str]:
    """Return what decides whether an answer comes out the same again."""
    if temp <= 0:
        return ["temp 0"]
    return [f"temp {temp:g}", "a new seed each time" if seed < 0 else f"seed {seed}"]


def short_count(number: int) -> str:
    """Return a large number of things as people say it: ``135 M``, ``1.7 B``."""
    if number < 1_000_000:
        return f"{number:,}"
    if number < 999_500_000:
        value, unit = number / 1e6, "M"
    else:
        value, unit = number / 1e9, "B"
    return f"{value:.1f} {unit}" if value < 9.95 else f"{value:,.0f} {unit}"


def percent(fraction: float | None) -> str:
    """Return a share: ``12.3 %``, ``0.04 %``, ``< 0.01 %``."""
    if fraction is None:
        return MISSING
    hundredths = fraction * 100
    if 0 < hundredths < 0.01:
        return "< 0.01 %"
    return f"{hundredths:.2f} %" if 0 < hundredths < 0.095 else f"{hundredths:.1f} %"


def nats(value: float | None) -> str:
    """Return a divergence: ``0.0312``, ``12.35``, ``<0.0001``."""
    if value is None:
        return MISSING
    if 0 < value < 0.00005:
        return "<0.0001"
    return f"{value:.4f}" if value < 9.99995 else f"{value:.2f}"
