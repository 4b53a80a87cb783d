"""Types of flag values; an error says which numbers or words are valid."""

import math
from typing import Any

import click

from ..backends.limits import LIMITS, MOST_WHOLE, parse, parse_threads
from ..models.suggestions import did_you_mean, nearest


class FiniteRange(click.FloatRange):
    """A number within a range; "nan" is in none, although no comparison says so."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """See ``click.FloatRange``."""
        number = super().convert(value, param, ctx)
        if not math.isfinite(number):
            self.fail(f"{value} is not a finite number.", param, ctx)
        return number


class WholeRange(click.IntRange):
    """A whole number within a range, refused in words that say which numbers are taken."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """See ``click.IntRange``."""
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter:
            self.fail(f"{value!r} is not a whole number from {self.min} to {self.max}.", param, ctx)


class Limited(click.FloatRange):
    """A number within the limits of a setting, refused in the words that all share."""

    def __init__(self, setting: str) -> None:
        limit = LIMITS[setting]
        super().__init__(min=limit.least, max=limit.most, min_open=limit.open)
        self._setting = setting

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """See ``click.FloatRange``."""
        try:
            return parse(self._setting, str(value))
        except ValueError as error:
            self.fail(str(error), param, ctx)


class Word(click.Choice[str]):
    """One of a few words; an error suggests the one that may have been meant."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """See ``click.Choice``."""
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter as error:
            meant = did_you_mean(nearest(str(value), self.choices))
            self.fail(" ".join(part for part in (error.message, meant) if part), param, ctx)


def threads(value: str) -> int | None:
    """Return a number of threads; ``None``: as many as this process has cores. Raises click.BadParameter."""
    try:
        return parse_threads(value)
    except ValueError as error:
        raise click.BadParameter(str(error)) from error


def gpu_layers(value: str) -> int:
    """Return a number of layers; -1: as many as fit. Raises click.BadParameter."""
    number = -1 if value in ("all", "auto") else whole_number(value)
    if not -1 <= number <= MOST_WHOLE:
        raise click.BadParameter(f"{number} is no number of layers; -1 or all: as many as fit.")
    return number


def whole_number(value: str) -> int:
    """Return a whole number. Raises click.BadParameter."""
    try:
        return int(value)
    except ValueError as error:
        raise click.BadParameter(f"{value!r} is not a whole number.") from error
