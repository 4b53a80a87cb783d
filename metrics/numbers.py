"""Figures as people read them, one format for each kind; a missing one is a dash, never a zero."""

from collections.abc import Callable

from ..models.sizes import size as _size

MISSING = "–"


def milliseconds(ns: float | None) -> str:
    """Return a latency: ``6.9 ms``, ``182 ms``, ``12.4 s`` from ten seconds on."""
    if ns is None:
        return MISSING
    return f"{bare_milliseconds(ns)} ms" if ns < 9_999_500_000 else f"{ns / 1e9:,.1f} s"


def bare_milliseconds(ns: float | None) -> str:
    """Return the same where the unit stands elsewhere, always in milliseconds: ``6.9``, ``12,400``."""
    if ns is None:
        return MISSING
    return f"{ns / 1e6:.1f}" if ns < 99_950_000 else f"{ns / 1e6:,.0f}"


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
    return MISSING if per_second is None else f"{bare_rate(per_second)} tok/s"


def characters_rate(per_second: float | None) -> str:
    """Return characters per second: ``512 char/s``."""
    return MISSING if per_second is None else f"{bare_rate(per_second)} char/s"


def bare_rate(per_second: float | None) -> str:
    """Return a rate whose unit stands elsewhere: ``9.8``, ``1,204``."""
    if per_second is None:
        return MISSING
    return f"{per_second:.1f}" if per_second < 99.95 else f"{per_second:,.0f}"


def times(factor: float | None) -> str:
    """Return how many times as much something is, roughly: ``8.3×``, ``17×``."""
    if factor is None:
        return MISSING
    return f"{factor:.1f}×" if factor < 9.95 else f"{factor:,.0f}×"


def ratio(value: float | None) -> str:
    """Return one measured figure over another, near enough to 1 for hundredths to matter: ``1.21×``, ``12.3×``."""
    return MISSING if value is None else f"{_bare_ratio(value)}×"


def interval(low: float | None, high: float | None) -> str:
    """Return where a ratio lies: ``1.18 to 1.25``."""
    return MISSING if low is None or high is None else f"{_bare_ratio(low)} to {_bare_ratio(high)}"


def _bare_ratio(value: float) -> str:
    if 0 < value < 0.0995:
        return f"{value:.2g}" if value >= 0.0001 else "< 0.0001"
    if value < 9.995:
        return f"{value:.2f}"
    return f"{value:.1f}" if value < 99.95 else f"{value:,.0f}"


def spread(
    median: float | None, least: float | None, most: float | None, bare: Callable[[float | None], str] = bare_rate
) -> str:
    """Return a figure over several rounds, each as ``bare`` has it: ``145 (143 to 148)``; without one, a dash."""
    if median is None or least is None or most is None:
        return MISSING
    ends = (bare(least), bare(most))
    return bare(median) if ends[0] == ends[1] else f"{bare(median)} ({ends[0]} to {ends[1]})"


def size(count: int | None) -> str:
    """Return a number of bytes: ``92 MiB``, ``4.4 GiB``."""
    return MISSING if count is None else _size(count)


def count(number: int | None) -> str:
    """Return a number of things with thousands apart."""
    return MISSING if number is None else f"{number:,}"


def counted(number: int, thing: str) -> str:
    """Return a number with what is counted: ``1 token``, ``1,204 tokens``."""
    return f"{number:,} {thing}{'' if number == 1 else 's'}"


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


def divergence(nats: float | None, uncertainty: float | None = None) -> str:
    """Return a KL divergence: ``0.0123 ± 0.0004``; ``llama-perplexity``'s six decimals below a thousandth."""
    if nats is None:
        return MISSING
    digits = 4 if nats >= 0.001 else 6
    # A divergence is never negative; rounding errors of equal distributions are.
    return _with_uncertainty(max(nats, 0.0), uncertainty, digits)


def agreement(fraction: float | None, uncertainty: float | None = None) -> str:
    """Return how often two models agree: ``98.43 ± 0.11 %``."""
    if fraction is None:
        return MISSING
    return f"{_with_uncertainty(fraction * 100, None if uncertainty is None else uncertainty * 100, 2)} %"


def perplexity(value: float | None, uncertainty: float | None = None) -> str:
    """Return a perplexity: ``12.34 ± 0.21``."""
    return MISSING if value is None else _with_uncertainty(value, uncertainty, 2)


def _with_uncertainty(value: float, uncertainty: float | None, digits: int) -> str:
    text = f"{value:,.{digits}f}"
    return text if uncertainty is None else f"{text} ± {uncertainty:,.{digits}f}"


def whole_percent(fraction: float | None) -> str:
    """Return a share that is known roughly: ``82%``."""
    return MISSING if fraction is None else f"{fraction:.0%}"


def bandwidth(bytes_per_second: float) -> str:
    """Return what a memory delivers: ``21.4 GB/s``."""
    return f"{bytes_per_second / 1e9:,.1f} GB/s"


def entropy(bits: float | None) -> str:
    """Return an entropy: ``2.3 bits``."""
    return MISSING if bits is None else f"{bare_entropy(bits)} bits"


def bare_entropy(bits: float | None) -> str:
    """Return the same where the unit stands elsewhere: ``2.3``."""
    return MISSING if bits is None else f"{bits:.1f}"


def sampling_facts(temp: float, seed: int) -> list[str]:
    """Return what decides whether an answer comes out the same again."""
    if temp <= 0:
        return ["temp 0"]
    return [f"temp {temp:g}", "a new seed each time" if seed < 0 else f"seed {seed}"]


def nats(value: float | None) -> str:
    """Return a divergence: ``0.0312``, ``12.35``, ``<0.0001``."""
    if value is None:
        return MISSING
    if 0 < value < 0.00005:
        return "<0.0001"
    return f"{value:.4f}" if value < 9.99995 else f"{value:.2f}"
