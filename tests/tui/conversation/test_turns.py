import numpy as np
import pytest

from decodescope.tui.conversation.fragment import Fragment
from decodescope.tui.conversation.turns import Speaker, Turn

LOOKS = list(range(256))


def mark(turn: Turn, characters: int, token: int, marks: int) -> None:
    turn.mark([Fragment(token, "x" * characters, marks)])


def answer() -> Turn:
    turn = Turn(Speaker.MODEL)
    for token, (characters, marks) in enumerate([(2, 4), (3, 0), (1, 2), (4, 2), (2, 0)], start=1):
        mark(turn, characters, token, marks)
    return turn


def runs(turn: Turn, start: int, end: int) -> list[tuple[int, int]]:
    return list(turn.runs(start, end, LOOKS))


def test_runs_join_tokens_of_one_look() -> None:
    assert runs(answer(), 0, 12) == [(2, 4), (5, 0), (10, 2), (12, 0)]


def test_another_lens_joins_others() -> None:
    alike = [mark & 4 for mark in range(256)]
    assert list(answer().runs(0, 12, alike)) == [(2, 4), (12, 0)]


def test_runs_of_a_part() -> None:
    assert runs(answer(), 3, 7) == [(5, 0), (7, 2)]
    assert runs(answer(), 6, 8) == [(8, 2)]


def test_runs_beyond_the_tokens_are_ordinary() -> None:
    assert runs(Turn(Speaker.MODEL), 0, 3) == [(3, 0)]


@pytest.mark.parametrize(("offset", "token"), [(0, 1), (1, 1), (2, 2), (9, 4), (11, 5), (12, 5), (99, 5)])
def test_tokens_by_character(offset: int, token: int) -> None:
    assert answer().token_at(offset) == token


def test_characters_by_token() -> None:
    turn = Turn(Speaker.MODEL)
    # Tokens 3 and 4 held the first bytes of what token 5 completed; the text of token 6 came in two pieces.
    for characters, token in [(2, 1), (1, 2), (1, 5), (3, 6), (2, 6), (4, 7)]:
        mark(turn, characters, token, 0)
    spans = {1: (0, 2), 2: (2, 3), 3: (3, 4), 4: (3, 4), 5: (3, 4), 6: (4, 9), 7: (9, 13), 8: (13, 13)}
    assert {token: turn.span_of(token) for token in range(1, 9)} == spans
    assert Turn(Speaker.MODEL).span_of(1) == (0, 0)
    assert Turn(Speaker.MODEL).token_at(0) is None


def test_new_marks() -> None:
    turn = answer()
    turn.mark_again(np.array([3, 1, 0, 0], dtype=np.uint8))
    assert runs(turn, 0, 12) == [(2, 3), (5, 1), (12, 0)]


def test_tokens_can_be_added_after_new_marks() -> None:
    turn = answer()
    turn.mark_again(np.zeros(5, dtype=np.uint8))
    mark(turn, 1, 6, 1)
    assert runs(turn, 2, 13) == [(12, 0), (13, 1)]


def test_split_where_a_token_begins() -> None:
    turn = Turn(Speaker.MODEL)
    # Token 3 held the first byte of what token 4 completed.
    for characters, token, tint in [(2, 1, 0), (3, 2, 1), (1, 4, 2), (4, 5, 2)]:
        mark(turn, characters, token, tint)
    rest = turn.split(turn.span_of(3)[0])
    assert runs(turn, 0, 5) == [(2, 0), (5, 1)]
    assert runs(rest, 0, 5) == [(5, 2)]
    assert [turn.span_of(token) for token in (1, 2, 3)] == [(0, 2), (2, 5), (5, 5)]
    assert [rest.span_of(token) for token in (3, 4, 5)] == [(0, 1), (0, 1), (1, 5)]
    assert (rest.first_token, rest.speaker) == (4, Speaker.MODEL)


def test_many_at_once_are_the_same_as_one_by_one() -> None:
    fragments = [Fragment(token, "x" * token, token % 3) for token in range(1, 9)]
    one, other = Turn(Speaker.MODEL), Turn(Speaker.MODEL)
    one.mark(fragments[:3])
    one.mark(fragments[3:])
    for fragment in fragments:
        other.mark([fragment])
    assert runs(one, 0, 36) == runs(other, 0, 36)
    assert [one.span_of(token) for token in range(1, 10)] == [other.span_of(token) for token in range(1, 10)]
