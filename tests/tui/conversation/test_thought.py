"""Reasoning without its tags, however they are cut."""

import random

import pytest

from decodescope.tui.conversation.fragment import Fragment
from decodescope.tui.conversation.thought import ThoughtText


def shown(pieces: list[str]) -> str:
    thought = ThoughtText()
    parts = [part for index, piece in enumerate(pieces, 1) for part in thought.feed(Fragment(index, piece, 0, True))]
    return "".join(part.text for part in [*parts, *thought.close()])


CASES = [
    ("<think>\nhm, well\n</think>", "hm, well"),
    ("hm, well\n</think>\n", "hm, well"),  # the template has opened the block
    ("<think>\nnever closed", "never closed"),
    ("<think>\n\n</think>", ""),
    ("<think>", ""),
    ("", ""),
    ("\n\n", ""),
    ("<thinking>a < b, [c] and </p>\n\nso</thinking>", "a < b, [c] and </p>\n\nso"),
    ("[THINK]x[/THINK]", "x"),
    ("<thi", "<thi"),
    ("ends with <", "ends with <"),
    ("<think>a</think> b", "a</think> b"),  # not at the end: text like any other
    ("[b]bold[/b] </thin", "[b]bold[/b] </thin"),
]


@pytest.mark.parametrize(("text", "expected"), CASES)
def test_whole(text: str, expected: str) -> None:
    assert shown([text]) == expected


@pytest.mark.parametrize(("text", "expected"), CASES)
def test_in_single_characters(text: str, expected: str) -> None:
    assert shown(list(text)) == expected


@pytest.mark.parametrize("seed", range(20))
def test_cut_anywhere(seed: int) -> None:
    chance = random.Random(seed)
    for text, expected in CASES:
        pieces, rest = [], text
        while rest:
            size = chance.randint(1, 9)
            pieces.append(rest[:size])
            rest = rest[size:]
        assert shown(pieces) == expected


def test_text_stays_with_the_token_that_wrote_it() -> None:
    thought = ThoughtText()
    parts = []
    for index, piece in enumerate(["<think", ">\nso", " a <", "b", "</", "think>"], start=1):
        parts += thought.feed(Fragment(index, piece, index, True))
    parts += thought.close()
    assert [(part.index, part.text, part.marks) for part in parts] == [
        (2, "so", 2),
        (3, " a ", 3),
        (3, "<", 3),
        (4, "b", 4),
    ]


def test_text_is_held_back_only_while_it_may_be_a_tag() -> None:
    thought = ThoughtText()
    thought.feed(Fragment(1, "<think>\n", 0, True))
    for piece in ["one", " two", " three"]:
        assert "".join(part.text for part in thought.feed(Fragment(2, piece, 0, True))) == piece
