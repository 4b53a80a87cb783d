"""What may have been meant: one way of telling for everything that has a name."""

import pytest

from decodescope.models.suggestions import did_you_mean, nearest

COMMANDS = ("bench", "compare", "config", "doctor", "export", "models", "replay", "run", "serve")


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("rnu", ["run"]), ("urn", ["run"]), ("runn", ["run"]), ("RUN", ["run"]), ("modles", ["models"]),
        ("bnech", ["bench"]), ("hello", []), ("fun", []), ("", []), ("x" * 10_000, []),
    ],
)  # fmt: skip
def test_commands(word: str, meant: list[str]) -> None:
    assert nearest(word, COMMANDS, most=1, alike=0.75) == meant


def test_the_likeliest_comes_first_and_no_more_than_asked_for() -> None:
    assert nearest("top_k", ["top-p", "top-k", "stop"], most=2) == ["top-k"]
    assert sorted(nearest("top-q", ["top-p", "top-k", "stop"], most=2)) == ["top-k", "top-p"]
    assert nearest("q8_0", ["Q8_0", "q8_0", "q4_0"], most=2) == ["Q8_0", "q8_0"]


def test_abbreviations() -> None:
    names = ["temp", "top-k", "threads", "threads-batch"]
    assert nearest("temperature", names, abbreviated=True) == ["temp"]
    assert nearest("thr", names, abbreviated=True) == ["threads", "threads-batch"]
    assert nearest("temperature", names) == nearest("t", names, abbreviated=True) == []


def test_the_question() -> None:
    assert did_you_mean([]) == ""
    assert did_you_mean(["a"]) == "Did you mean a?"
    assert did_you_mean(["a", "b"]) == "Did you mean a or b?"
    assert did_you_mean(["a", "b", "c"]) == "Did you mean a, b or c?"
