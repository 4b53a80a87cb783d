"""The limits of settings, and the words for what is outside."""

import re

import pytest

from decodescope.backends.limits import LIMITS, parse, parse_threads
from decodescope.backends.requests import EngineSettings, Request, Sampling


@pytest.mark.parametrize(
    ("name", "text", "number"),
    [
        ("temp", "0", 0.0),
        ("temp", "2.5", 2.5),
        ("top_k", "0", 0),
        ("top_p", "1", 1.0),
        ("repeat_last_n", "-1", -1),
        ("repeat_penalty", "0.01", 0.01),
        ("seed", "4294967295", 4294967295),
        ("max_tokens", "-1", -1),
        ("context", "0", 0),
    ],
)
def test_what_is_within(name: str, text: str, number: float) -> None:
    parsed = parse(name, text)
    assert parsed == number
    assert isinstance(parsed, int) is LIMITS[name].whole


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("temp", "-0.1", "-0.1 is too small: the least is 0."),
        ("temp", "nan", "nan is not a finite number."),
        ("temp", "inf", "inf is not a finite number."),
        ("temp", "warm", "'warm' is not a number."),
        ("temp", "", "'' is not a number."),
        ("top_k", "1.5", "'1.5' is not a whole number."),
        ("top_p", "1.01", "1.01 is too large: the most is 1."),
        ("repeat_penalty", "0", "0 is too small: it has to be more than 0."),
        ("seed", "4294967296", "4294967296 is too large: the most is 4294967295."),
        ("max_tokens", "-2", "-2 is too small: the least is -1."),
    ],
)
def test_what_is_outside_is_said(name: str, text: str, words: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(words)}$"):
        parse(name, text)


def test_threads() -> None:
    assert parse_threads("3") == 3
    assert parse_threads("-1") is None
    with pytest.raises(ValueError, match="0 is no number of threads"):
        parse_threads("0")
    with pytest.raises(ValueError, match="'many' is not a whole number"):
        parse_threads("many")


def test_every_limit_is_of_a_setting_and_lets_its_default_pass() -> None:
    for name in LIMITS:
        of = next(kind for kind in (Sampling(), Request(), EngineSettings()) if hasattr(kind, name))
        assert parse(name, str(getattr(of, name))) == getattr(of, name)
