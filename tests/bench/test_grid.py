"""Lists and ranges, as llama-bench reads them."""

import pytest

from decodescope.bench.grid import pairs, whole_numbers, words


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("512", (512,)),
        ("1,2,4", (1, 2, 4)),
        (" 4, 2 ", (4, 2)),
        ("1-4", (1, 2, 3, 4)),
        ("0-4096+1024", (0, 1024, 2048, 3072, 4096)),
        ("1-10+4", (1, 5, 9)),
        ("1-64*2", (1, 2, 4, 8, 16, 32, 64)),
        ("8,1-3", (8, 1, 2, 3)),
        ("7-7", (7,)),
        ("0", (0,)),
    ],
)
def test_numbers(text: str, numbers: tuple[int, ...]) -> None:
    assert whole_numbers(text) == numbers


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "no whole number"),
        ("1,,2", "no whole number"),
        ("x", "no whole number"),
        ("1.5", "no whole number"),
        ("1-4/2", "no whole number"),
        ("٣", "no whole number"),
        ("4-1", "ends before it begins"),
        ("1-4+0", "does not go on"),
        ("0-4*2", "does not go on"),
        ("3-9*1", "does not go on"),
        ("1-1000000000", "too long"),
        ("-1", "not between 0"),
        ("99999999999", "not between 0"),
    ],
)
def test_no_numbers(text: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        whole_numbers(text)


def test_a_least_number() -> None:
    assert whole_numbers("-1,0", least=-1) == (-1, 0)
    with pytest.raises(ValueError, match="not between 1"):
        whole_numbers("0", least=1)


def test_words() -> None:
    assert words("f16, q8_0", {"f16": 1, "q8_0": 2}) == ("f16", "q8_0")
    with pytest.raises(ValueError, match="'q9' is not one of f16, q8_0"):
        words("q9", ["f16", "q8_0"])


def test_pairs() -> None:
    assert pairs(["512,128", "8,0"]) == ((512, 128), (8, 0))
    for text in ("512", "1,2,3", "a,b"):
        with pytest.raises(ValueError, match=r"no pair|no whole number"):
            pairs([text])
