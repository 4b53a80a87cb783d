from decodescope.tui.conversation.turns import THINKING, Speaker, Turn


def answer() -> Turn:
    turn = Turn(Speaker.MODEL)
    for token, (characters, tint, thinking) in enumerate(
        [(2, 0, True), (3, 0, False), (1, 2, False), (4, 2, False), (2, 0, False)], start=1
    ):
        turn.mark(characters, token, tint, thinking)
    return turn


def test_runs_join_tokens_of_one_style() -> None:
    assert list(answer().runs(0, 12)) == [(2, THINKING), (5, 0), (10, 2), (12, 0)]


def test_runs_of_a_part() -> None:
    assert list(answer().runs(3, 7)) == [(5, 0), (7, 2)]
    assert list(answer().runs(6, 8)) == [(8, 2)]


def test_runs_beyond_the_tokens_are_ordinary() -> None:
    assert list(Turn(Speaker.MODEL).runs(0, 3)) == [(3, 0)]


def test_thinking_by_character() -> None:
    turn = answer()
    assert [turn.is_thinking(offset) for offset in (0, 1, 2, 11, 12)] == [True, True, False, False, False]
    assert not Turn(Speaker.MODEL).is_thinking(0)


def test_new_tints_keep_the_thinking() -> None:
    turn = answer()
    turn.retint([3, 1, 0, 0])
    assert list(turn.runs(0, 12)) == [(2, 3 | THINKING), (5, 1), (12, 0)]


def test_tokens_can_be_added_after_new_tints() -> None:
    turn = answer()
    turn.retint([0] * 5)
    turn.mark(1, 6, 1, False)
    assert list(turn.runs(2, 13)) == [(12, 0), (13, 1)]
